# A database is made from documents, shown and checked. Its size depends on SQLite. A date of another machine's clock that lies in the future
# is reported.
HALOTUNE_DB=$TMPDIR/info/own.db
export HALOTUNE_DB
halotune db info 2>&1 | sed "s|$TMPDIR|TMP|"
halotune db import --trust --yes tests/data/db/copy.json
halotune db info | sed "s|$TMPDIR|TMP|; s/[0-9]* bytes/N bytes/"
halotune db info --json | sed "s|$TMPDIR|TMP|; s/\"bytes\": [0-9]*/\"bytes\": N/"
halotune db check | sed "s|$TMPDIR|TMP|"
ls "$TMPDIR/info"
mkdir -m 700 "$HALOTUNE_DB.untrusted"
(umask 077; touch "$HALOTUNE_DB.untrusted/two
lines.db") # a name may have a line end
halotune db info | grep untrusted | sed "s|$TMPDIR|TMP|"
rm -r "$HALOTUNE_DB.untrusted"
sqlite3 "$HALOTUNE_DB" "update best set date = '9999-01-01T00:00:00.000Z'"
halotune db check 2>&1 | sed "s|$TMPDIR|TMP|"
halotune db check >/dev/null 2>&1
# exit 6
