printf "name: a\ndims: 1\ninputs: [u]\noutputs: [v]\nboundary: skip\ndtypes: [f32]\ngrids: [[8]]\nupdate: v = u[0] + * 2\n" >"$TMPDIR/bad.yaml"; cd "$TMPDIR" && halotune show ./bad.yaml
# exit 5
