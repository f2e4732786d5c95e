# On a terminal, tune says what it does before the search, and how much time is left from then on.
TERM=xterm script -qec "stty cols 120; halotune tune copy --grid 4096 --dtype f32 --backend host --template direct --max-variants 1 --budget 60s --db $TMPDIR/a.db" /dev/null </dev/null |
  tr '\r' '\n' | sed -n 's/.*copy f32 4096: //p' | sed 's/, [0-9]* of .* tried, .*, [0-9]* s left$/, ... s left/' | grep -v finalist | uniq
# exit 0
