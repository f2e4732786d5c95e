# One of several databases is in conflict. Those before it are added, although they are tried in one transaction with it.
cp tests/data/db/copy.json tests/data/db/copy_newer.json tests/data/tuned.json "$TMPDIR"
cd "$TMPDIR" || exit 9
for name in copy copy_newer tuned; do halotune db import --trust --yes --db $name.db $name.json >out 2>&1; done
cp copy.db other.db
sqlite3 other.db 'update measurement set at_s = at_s + 1'
# the list has the answers that those before it change
cp copy.db base.db
halotune db merge --trust --db base.db copy_newer.db other.db 2>&1 | sed -n -E 's/[0-9a-f]{64}/HASH/; /^answers/,$p'
halotune db merge --trust --yes --db all.db copy.db copy_newer.db other.db tuned.db | sed -E 's/document [0-9a-f]{64}/document HASH/'
sqlite3 all.db "select name from origin where kind = 'imported' order by id"
# what a second try does without the file in conflict
halotune db merge --trust --yes --db all.db copy.db copy_newer.db tuned.db 2>out | sed -E 's/document [0-9a-f]{64}/document HASH/'
halotune db check --db all.db
# exit 0
