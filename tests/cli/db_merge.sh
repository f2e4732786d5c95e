# The databases of two machines are merged. Merging again changes nothing.
HALOTUNE_DB=$TMPDIR/merged.db
export HALOTUNE_DB
cp tests/data/db/copy.json tests/data/db/copy_newer.json "$TMPDIR"
cd "$TMPDIR" || exit 9
halotune db import --trust --yes copy.json 2>/dev/null
halotune db import --trust --yes --db second.db copy_newer.json 2>/dev/null
merge() { halotune db merge --trust --yes "$@" | sed -E 's/document [0-9a-f]{64}/document HASH/'; } # of a database, whose dates differ
merge second.db
merge second.db
merge second.db merged.db
halotune db merge merged.db # without trust, and under another name: it is not kept as a copy either
ln -s merged.db link.db
halotune db merge --yes link.db
ls
halotune db info | grep best:
halotune db check | sed "s|$TMPDIR|TMP|"
# exit 0
