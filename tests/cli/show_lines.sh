# Inputs that all lie along some axes: nothing is read at each point, so there are no operations for each byte read.
printf 'name: outer\ndims: 2\ninputs: [a, b]\noutputs: [v]\nalong: {a: x, b: y}\nupdate: v = 2*a[0]*b[0] + 1\nboundary: skip\ndtypes: [f64]\ngrids: [[8, 4]]\n' >"$TMPDIR/outer.yaml"
cd "$TMPDIR" && halotune show ./outer.yaml | grep flops && halotune show ./outer.yaml --json | jq -c '[.flops_per_byte.f64, .flops_per_read_byte.f64]'
# exit 0
