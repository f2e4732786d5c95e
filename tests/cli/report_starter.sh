# A user who has tuned nothing gets a report of the database that comes with Halotune. With --db only that database is
# used.
mkdir -p "$TMPDIR/report/prefix/bin" "$TMPDIR/report/prefix/share/halotune"
cp "$(readlink -f "$(command -v halotune)")" "$TMPDIR/report/prefix/bin/halotune"
installed() { "$TMPDIR/report/prefix/bin/halotune" "$@" 2>"$TMPDIR/report/talk"; code=$?; sed "s|$TMPDIR/report/||g" "$TMPDIR/report/talk"; return $code; }
count() { installed report --json -o "$TMPDIR/report/page.json" "$@" | grep -v '^wrote'; jq -c '.problems | length' "$TMPDIR/report/page.json"; rm -f "$TMPDIR/report/page.json"; }
export HALOTUNE_DB="$TMPDIR/report/own.db"
halotune db import --trust --yes --db "$TMPDIR/report/prefix/share/halotune/starter.db" tests/data/tuned.json >/dev/null 2>&1
echo 'no file'
count
echo 'a file with no rows'
halotune db import --trust --yes --db "$HALOTUNE_DB" tests/data/db/empty.json >/dev/null 2>&1
count
echo 'a file of zero bytes'
: >"$TMPDIR/report/zero.db"
HALOTUNE_DB="$TMPDIR/report/zero.db" count
echo 'no home'
(unset HALOTUNE_DB XDG_DATA_HOME HOME; count)
echo 'own rows'
rm -f "$HALOTUNE_DB"
halotune db import --trust --yes --db "$HALOTUNE_DB" tests/data/db/copy.json >/dev/null 2>&1
count
echo '--db'
installed report --db "$TMPDIR/report/none.db"
# exit 4
