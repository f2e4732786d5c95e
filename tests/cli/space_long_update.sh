# Steps of a long update are unrolled code, so that rules allow fewer of them.
halotune space examples/solvers/shallow_water.yaml --template fused_tile --long 2>"$TMPDIR/times" | grep -E '^  steps|too long'
# exit 0
