# Factors share their parts. Written out completely, they would fill the memory.
{
  printf 'name: shared\ndims: 1\ninputs: [u]\noutputs: [v]\ncoefficients: {c: 0.5}\nboundary: skip\ndtypes: [f32]\ngrids: [[64]]\nupdate: |\n  t0 = c*u[0] + u[1]\n'
  for i in $(seq 1 60); do echo "  t$i = c*t$((i - 1)) + t$((i - 1))"; done
  echo '  v = t60'
} >"$TMPDIR/shared.yaml"
halotune show "$TMPDIR/shared.yaml" | grep -A 1 weights
# exit 0
