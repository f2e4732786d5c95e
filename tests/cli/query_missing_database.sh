# A missing $HALOTUNE_DB is reported, and the database that comes with Halotune answers. Other ways to name a database
# are not affected.
mkdir -p "$TMPDIR/missing/prefix/bin" "$TMPDIR/missing/prefix/share/halotune"
cp "$(readlink -f "$(command -v halotune)")" "$TMPDIR/missing/prefix/bin/halotune"
halotune db import --trust --yes --db "$TMPDIR/missing/prefix/share/halotune/starter.db" tests/data/tuned.json >/dev/null 2>&1
try() { "$TMPDIR/missing/prefix/bin/halotune" query "$@" --device sm_90 2>&1 | sed "s|$TMPDIR/missing/||" | grep -E '^(halotune|match)'; }
export HALOTUNE_DB="$TMPDIR/missing/tpyo.db" XDG_DATA_HOME="$TMPDIR/missing/nowhere"
try star7
try no_such
echo '--db'
try star7 --db "$TMPDIR/missing/prefix/share/halotune/starter.db"
try star7 --db "$TMPDIR/missing/none.db"
echo 'no variable, or an empty one'
(unset HALOTUNE_DB; try star7)
HALOTUNE_DB='' try star7
echo 'a database'
cp "$TMPDIR/missing/prefix/share/halotune/starter.db" "$HALOTUNE_DB"
try star7
# exit 0
