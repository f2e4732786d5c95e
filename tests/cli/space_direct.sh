# How many variants there are, and what each rule leaves out; times go to stderr. The other spelling of the option gives the same.
halotune space heat2d --template direct --grid 96,96 2>"$TMPDIR/times" | tee "$TMPDIR/one"
halotune space heat2d --templates direct --grid 96,96 2>"$TMPDIR/times" | cmp - "$TMPDIR/one"
# exit 0
