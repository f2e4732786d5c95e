# A bad row follows good ones. Nothing of the document is imported, also if only the row's meaning is wrong, and no
# database is created.
HALOTUNE_DB=$TMPDIR/bad.db
export HALOTUNE_DB
sed 's/"outcome":"compile_failed"/"outcome":"lucky"/' tests/data/db/copy.json >"$TMPDIR/meaning.json"
sed 's/"variant_id":2,"rank"/"variant_id":7,"rank"/' tests/data/db/copy.json >"$TMPDIR/reference.json"
cd "$TMPDIR" || exit 9
halotune db import meaning.json
echo "$?"
halotune db import --trust --yes "$OLDPWD/tests/data/db/copy.json" reference.json
echo "$?"
[ -e bad.db ] || echo "no database was made"
halotune db import --trust --yes "$OLDPWD/tests/data/db/copy.json" >/dev/null 2>&1
halotune db import --trust --yes meaning.json
halotune db info | grep rows
printf 'SQLite format 3' >cut.db
halotune db merge cut.db
echo "$?"
halotune db merge missing.db
# exit 4
