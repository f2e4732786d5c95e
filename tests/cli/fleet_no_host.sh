# A task that was cut short, in a document without the names of hosts, and with one.
halotune db import --trust --yes --db "$TMPDIR/tuned.db" tests/data/tuned.json >/dev/null 2>&1
sqlite3 "$TMPDIR/tuned.db" "update run set state = 'partial', reason = 'Ctrl-C', host = '' where id = 1"
halotune fleet status "$TMPDIR/tuned.db" | sed -n '/partial: /s/sign of life [^ ]*/sign of life DATE/p'
sqlite3 "$TMPDIR/tuned.db" "update run set host = 'node1' where id = 1"
halotune fleet status "$TMPDIR/tuned.db" | sed -n '/partial: /s/sign of life [^ ]*/sign of life DATE/p'
# A text of a database begins no line.
sqlite3 "$TMPDIR/tuned.db" "update run set host = 'a' || char(10) || 'b', reason = 'c' || char(10) || 'd', ended = 'e' || char(10) || 'f' where id = 1"
halotune fleet status "$TMPDIR/tuned.db" | sed -n '/partial: /p'
# exit 0
