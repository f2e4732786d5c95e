# The text before the template, as in templates/example.cuh.
halotune generate star7 --prelude | cmp - templates/example.cuh && halotune generate star7 --template direct -o "$TMPDIR/a.cu" && halotune generate star7 --template direct | cmp - "$TMPDIR/a.cu"
# exit 0
