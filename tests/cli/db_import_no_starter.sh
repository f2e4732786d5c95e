# A starter database without a table stops no import. Answers are not compared then.
export HALOTUNE_DB="$TMPDIR/halotune.db"
mkdir -p "$TMPDIR/prefix/bin" "$TMPDIR/prefix/share/halotune" && cp "$(command -v halotune)" "$TMPDIR/prefix/bin"
: >"$TMPDIR/prefix/share/halotune/starter.db"
"$TMPDIR/prefix/bin/halotune" db import tests/data/db/copy.json --trust 2>&1 | grep 'compared\|winner' | sed "s|$TMPDIR/||"
"$TMPDIR/prefix/bin/halotune" db import tests/data/db/copy.json --trust --yes 2>&1 | grep 'compared\|added' | sed "s|$TMPDIR/||"
# exit 0
