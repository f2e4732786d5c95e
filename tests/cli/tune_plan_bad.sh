# Files that are not plans are refused with line, column and remedy. A pipe that a plan names is not waited for.
for file in tests/data/bad/plans/*.yaml; do
  halotune tune --plan "$file" --resume --dry-run
  [ $? = 5 ] || echo "$file was taken"
done
mkfifo "$TMPDIR/pipe.yaml"
printf 'plan: 1\ntasks:\n  - {stencil: ./pipe.yaml, dtype: f32, grid: [64]}\n' >"$TMPDIR/pipe"
(cd "$TMPDIR" && timeout 60 halotune tune --plan pipe --resume --dry-run --backend host)
halotune tune --plan tests/data/bad --resume
# exit 5
