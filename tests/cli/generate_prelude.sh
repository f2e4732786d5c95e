# What stands before a template, as templates/example.cuh has it.
halotune generate star7 --prelude | cmp - templates/example.cuh && halotune generate star7 --template direct -o "$TMPDIR/a.cu" && halotune generate star7 --template direct | cmp - "$TMPDIR/a.cu"
# exit 0
