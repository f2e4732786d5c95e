# Descriptors that are closed at the start are not used for files and sockets of the program.
halotune list gpus >&- 2>"$TMPDIR/err"; echo "exit $?"
cat "$TMPDIR/err"
halotune list gpus <&- | head -n 1
halotune tune copy --grid 64 --dtype f32 --backend host --max-variants 1 --budget 1s --db "$TMPDIR/a.db" --json <&- >&- 2>&-; echo "exit $?"
halotune db check --db "$TMPDIR/a.db" | sed "s|$TMPDIR/||"
# exit 0
