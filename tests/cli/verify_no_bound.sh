# Rounding errors that grow by so much in 64 steps that they have no finite bound: such variants are not compared, and are
# counted apart from those that rules leave out. Four steps are compared.
cat >"$TMPDIR/logistic.yaml" <<'END'
name: logistic
dims: 1
inputs: [u]
outputs: [v]
update: v = 3.7*u[0]*(1 - u[0]) + 0.001*(u[-1] - u[1])
boundary: periodic
iterate: {v: u}
dtypes: [f32]
grids: [[256]]
values: {u: [0.1, 0.9]}
END
verify() { halotune verify "$TMPDIR/logistic.yaml" --template fused_line --set vector=1,warps=2,points=8,steps="$1" --sample 1 2>/dev/null; }
verify 4 | sed -n '$p'
verify 64
halotune verify "$TMPDIR/logistic.yaml" --template fused_line --set vector=1,warps=2,points=8,steps=64 --sample 1 --json | jq -c '[.passed, .not_run, .left_out, .not_comparable]'
# exit 0
