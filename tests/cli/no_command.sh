# Without a command, the program prints its help.
halotune >"$TMPDIR/bare"
code=$?
halotune --help | cmp - "$TMPDIR/bare" && exit $code
# exit 0
