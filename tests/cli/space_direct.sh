# How many variants there are, and how many each rule excludes. Times go to stderr. The other spelling of the option
# gives the same output.
halotune space heat2d --template direct --grid 96,96 2>"$TMPDIR/times" | tee "$TMPDIR/one"
halotune space heat2d --templates direct --grid 96,96 2>"$TMPDIR/times" | cmp - "$TMPDIR/one"
# exit 0
