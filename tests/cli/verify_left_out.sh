# A variant whose march is longer than the grids of verify is left out, and a message names the option for a larger grid.
bench/stencil.sh box2d_r4 >"$TMPDIR/box.yaml"
set -- "$TMPDIR/box.yaml" --dtype f64 --template tensor_box --set turns=256 --sample 1
halotune verify "$@" 2>"$TMPDIR/err" | tail -n 1
grep larger "$TMPDIR/err"
halotune verify "$@" --json 2>/dev/null | jq -c '[.passed, .left_out]'
# No message if the user chose the grid.
halotune verify "$@" --grid 64,40 2>&1 >/dev/null | grep larger || echo no message
# exit 0
