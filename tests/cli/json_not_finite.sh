# JSON has no infinity, so such numbers are null. All other numbers are printed.
lines='dims: 1\ninputs: [u]\noutputs: [v]\nboundary: periodic\ndtypes: [f32]\ngrids: [[64]]\n'
printf "name: wide\n${lines}update: v = 1e308*u[0]\nexact: {u: 1, v: 1e308}\n" >"$TMPDIR/wide.yaml"
printf "name: root\n${lines}update: v = sqrt(u[0] - 2)\nexact: {u: 1, v: 1}\n" >"$TMPDIR/root.yaml"
printf "name: product\n${lines}update: v = 1e200*(1e200*u[0])\n" >"$TMPDIR/product.yaml"
for file in wide root; do
  halotune reference "$TMPDIR/$file.yaml" --json | jq -c '.outputs[0] | del(.hash)'
done
halotune show "$TMPDIR/product.yaml" --json | jq -c .weights
# exit 0
