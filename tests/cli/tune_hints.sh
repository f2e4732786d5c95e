# The starter database is an ordinary file of hints; a file whose texts are too long is named. One that takes more time than there is gives no hints.
cp build/starter.db "$TMPDIR/hints.db"
halotune tune heat2d --backend host --grid 20,20 --max-variants 2 --db "$TMPDIR/own.db" --hints "$TMPDIR/hints.db" 2>&1 | grep -o '2 tried\|.*cannot be read.*'
halotune tune heat2d --backend host --grid 20,20 --budget 8s --deadline 8s --db "$TMPDIR/own.db" --hints "$TMPDIR/hints.db" 2>&1 | sed -n "s|$TMPDIR|FOLDER|; /no hints/p"
sqlite3 "$TMPDIR/hints.db" "update run set started = printf('%300c', '1')"
halotune tune heat2d --backend host --grid 20,20 --max-variants 2 --db "$TMPDIR/own.db" --hints "$TMPDIR/hints.db" 2>&1 | sed "s|$TMPDIR|FOLDER|"
# slow
# exit 0
