# Files that are not plans are refused with line, column and remedy. A pipe that a plan names is not waited for. The stencils of a plan take little memory.
for file in tests/data/bad/plans/*.yaml; do
  halotune tune --plan "$file" --resume --dry-run
  [ $? = 5 ] || echo "$file was taken"
done
mkfifo "$TMPDIR/pipe.yaml"
printf 'plan: 1\ntasks:\n  - {stencil: ./pipe.yaml, dtype: f32, grid: [64]}\n' >"$TMPDIR/pipe"
(cd "$TMPDIR" && timeout 60 halotune tune --plan pipe --resume --dry-run --backend host)
# Three files of almost 1 MB.
printf 'plan: 1\ntasks:\n' >"$TMPDIR/large"
for name in a b c; do
  { sed "s/^name: .*/name: $name/" kernels/star7.yaml && printf '# %900000s\n' x; } >"$TMPDIR/$name.yaml"
  echo "  - {stencil: ./$name.yaml, dtype: f32, grid: [16, 16, 16]}" >>"$TMPDIR/large"
done
(cd "$TMPDIR" && halotune tune --plan large --resume --dry-run --backend host)
halotune tune --plan tests/data/bad --resume
# exit 5
