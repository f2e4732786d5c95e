# How many variants there are, and what each rule leaves out; times go to stderr.
halotune space heat2d --template direct --grid 96,96 2>/dev/null
# exit 0
