# A user's template does not compile. The output has the line and the reason, and the exit code is 1.
mkdir "$TMPDIR/broken"
sed "s/^name: direct/name: broken/" templates/direct.yaml >"$TMPDIR/broken/broken.yaml"
echo "extern \"C\" __global__ void KERNEL(KERNEL_PARAMETERS) { nothing(); }" >"$TMPDIR/broken/broken.cu"
halotune compile star7 --template broken --template-dir "$TMPDIR/broken" --set vector=2 --no-cache 2>/dev/null |
  sed "s/.*: error:/error:/"
halotune compile star7 --template broken --template-dir "$TMPDIR/broken" --sample 2 --no-cache --json |
  jq -c "[.outcomes.ok, .outcomes.compile_failed, (.variants | map(.outcome))]"
halotune compile star7 --template broken --template-dir "$TMPDIR/broken" --set vector=2 --no-cache >/dev/null 2>&1
# exit 1
