# A text that is longer than the buffer of stdout is folded, too: no line is wider than the terminal.
HALOTUNE_DB=$TMPDIR/long.db
export HALOTUNE_DB
TERM=xterm script -qec 'stty cols 80; halotune db import --trust bench/results/nvidia-h200.json' /dev/null </dev/null | tr -d '\r' >"$TMPDIR/lines"
awk 'length > 80' "$TMPDIR/lines"
[ "$(wc -c <"$TMPDIR/lines")" -gt 16384 ] && tail -n 1 "$TMPDIR/lines"
# exit 0
