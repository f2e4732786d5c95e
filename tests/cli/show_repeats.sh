# How many instructions are left where weights repeat: in a box whose weights depend on |x|, |y| and |z|, in one mirrored in z, and in one without.
bench/stencil.sh box3d_r1_even >"$TMPDIR/even.yaml"
halotune show "$TMPDIR/even.yaml" | grep flops
halotune show "$TMPDIR/even.yaml" --json | jq -c '[.instructions_per_point, .grouped_instructions_per_point]'
sed '/^   cm[mop]p:/d; s/cppo: 0.0317,/cppo: 0.0317}/; s/c\(..\)p\*/c\1m*/g' kernels/box27.yaml >"$TMPDIR/mirrored.yaml"
halotune show "$TMPDIR/mirrored.yaml" | grep flops
halotune show box27 | grep flops
# exit 0
