# A query says that a winner was imported and is not trusted, and prints the commands that show and take it. After these commands the winner is
# the answer. No text of a document becomes part of a command, and of its file's name only plain characters do.
mkdir "$TMPDIR/advice" "$TMPDIR/advice/a 'b"
sed "s/\"host\":\"[^\"]*\"/\"host\":\"x'; touch pwned #'\"/" tests/data/tuned.json >"$TMPDIR/advice/ot'her.json"
jq -c '.tables.problem |= map(if .id == 3 then .nx -= 1 else .ny -= 1 end)' tests/data/tuned.json >"$TMPDIR/advice/trusted.json" # other grids, same launches
cd "$TMPDIR/advice" || exit 9
HALOTUNE_DB="$TMPDIR/advice/a 'b/untrusted.db"
export HALOTUNE_DB
halotune db import --trust --yes trusted.json >/dev/null 2>&1
grep -c pwned "ot'her.json"
halotune db import "ot'her.json" 2>&1 | sed "s|$TMPDIR/advice|FOLDER|g"
rm "ot'her.json"
told() { sed "s|$TMPDIR/advice|FOLDER|g" | grep -E '^(match|halotune|and|  halotune)'; }
halotune query star7 --db "$HALOTUNE_DB" --device 'NVIDIA H200' 2>&1 | tee said | told
echo "-- of an architecture"
halotune query star7 --db "$HALOTUNE_DB" --device sm_90 --grid 128,128,128 2>&1 | told
echo "-- of another mode, there is none"
halotune query star7 --db "$HALOTUNE_DB" --device 'NVIDIA H200' --launch graph 2>&1 | told
echo "-- trusted, by the commands as they stand"
sed -n 's/^  \(halotune.*\)/\1 --yes/p' said >commands
. ./commands 2>&1 | grep -v "^  " | sed -E "s|$TMPDIR/advice|FOLDER|g; s/document [0-9a-f]{64}/document HASH/" # which depends on SQLite
ls
echo "-- what is not used is told once, also where the database is the one of \$HALOTUNE_DB"
mkfifo "$HALOTUNE_DB.untrusted/fifo.db"
halotune query star7 --device 'NVIDIA H200' --grid 100,100,100 2>&1 >/dev/null | told
rm "$HALOTUNE_DB.untrusted/fifo.db"
halotune query star7 --db "$HALOTUNE_DB" --device 'NVIDIA H200' | grep match
# exit 0
