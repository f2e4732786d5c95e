# A formula gives the result of one application. The result of two is compared only with a formula that uses `steps`.
printf 'name: halve\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = 0.5*u[0]\nboundary: skip\niterate: {v: u}\ndtypes: [f64]\ngrids: [[8]]\nexact: {u: x + 1, v: 0.5*(x + 1)}\n' >"$TMPDIR/halve.yaml"
for steps in 1 2; do
  halotune reference "$TMPDIR/halve.yaml" --steps $steps --json | jq -c '[.input, .outputs[0].exact_max_error]'
  halotune reference "$TMPDIR/halve.yaml" --steps $steps | sed '/^time/d'
done
sed -i 's/v: 0.5.*(x + 1)}/v: "pow(0.5, steps)*(x + 1)"}/' "$TMPDIR/halve.yaml"
halotune reference "$TMPDIR/halve.yaml" --steps 3 | sed '/^time/d'
# exit 0
