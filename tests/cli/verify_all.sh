# Every asymmetric stencil to which a template applies, in each element type. A template for scans gets the scans.
halotune verify --all --template scan_segments --sample 1 2>/dev/null
halotune verify --all --template scan_segments --sample 1 --dtype f32 --json | jq -c '[[.stencils[] | [.stencil, .dtype, .passed]], .passed, .failed]'
halotune verify --all --template direct --set block_x=2 --sample 1
halotune verify --all --template direct --sample 1 --grid 8,8,8
# A message says how to verify one of these stencils alone, where a variant needs a larger grid than those of --all.
halotune new template lengthy --template-dir "$TMPDIR" >/dev/null
echo '  - {keep: dims == 2 && points_in_y > 200, otherwise: the grid is small}' >"$TMPDIR/rule"
sed -i "/^rules:/r $TMPDIR/rule" "$TMPDIR/lengthy.yaml"
halotune verify --all --template-dir "$TMPDIR" --template lengthy --dtype f64 --sample 1 2>&1 | grep -E "all stencils|larger"
halotune verify skew_2d --template direct
halotune verify star7 --all
halotune verify
# exit 2
