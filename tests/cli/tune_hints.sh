# The starter database is an ordinary file of hints; a file whose texts are too long is named.
cp build/starter.db "$TMPDIR/hints.db"
halotune tune heat2d --backend host --grid 20,20 --max-variants 2 --db "$TMPDIR/own.db" --hints "$TMPDIR/hints.db" 2>&1 | grep -o '2 tried\|.*cannot be read.*'
sqlite3 "$TMPDIR/hints.db" "update run set started = printf('%300c', '1')"
halotune tune heat2d --backend host --grid 20,20 --max-variants 2 --db "$TMPDIR/own.db" --hints "$TMPDIR/hints.db" 2>&1 | sed "s|$TMPDIR|FOLDER|"
# slow
# exit 0
