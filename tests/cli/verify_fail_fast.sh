# The first wrong variant ends the test. A right template is tested to its end.
mkdir "$TMPDIR/mirrored"
cp templates/direct.yaml "$TMPDIR/mirrored"
sed 's/p.x, p.y, p.z}/p.x, p.y, g.z0 + g.z1 - 1 - p.z}/' templates/direct.cu >"$TMPDIR/mirrored/direct.cu"
for options in "--template-dir $TMPDIR/mirrored" "--template-dir $TMPDIR/mirrored --fail-fast" --fail-fast; do
  halotune verify star25 --template direct --set vector=1 --sample 3 --grid 20,17,13 $options --json | jq -c "[.failed, [.variants[].outcome]]"
done
halotune verify --all --template-dir "$TMPDIR/mirrored" --template direct --sample 1 --fail-fast --json | jq -c "[.failed, (.stencils | length)]"
# slow
# exit 0
