# Fields that only some files have: formulas and a tolerance. Values of coefficients are shown if there are no weights.
printf 'name: decay\ndims: 2\ninputs: [u]\noutputs: [v]\ncoefficients: {a: 0.1, b: -2*pi/nx}\nupdate: v = a*u[0,0]*u[0,0] + exp(b*u[0,0])\nboundary: skip\ndtypes: [f64]\ngrids: [[8, 4]]\ntolerance: 50\nexact: {u: y*x - 0.1/(nx-1), v: a*sin(pi*y)}\n' >"$TMPDIR/decay.yaml"
cd "$TMPDIR" && halotune show ./decay.yaml && halotune show ./decay.yaml --json | jq -c '[.exact, .tolerance, .coefficients]'
# exit 0
