# What the user's own database lacks comes from the one that comes with Halotune. If both lack it, the failure is the first.
mkdir -p "$TMPDIR/explain/bin" "$TMPDIR/explain/share/halotune"
cp "$(readlink -f "$(command -v halotune)")" "$TMPDIR/explain/bin/halotune"
explain() { "$TMPDIR/explain/bin/halotune" explain "$@" 2>&1 | sed "s|$TMPDIR/||g" | grep -E '^(halotune|star7|copy|won)'; }
halotune db import --trust --yes --db "$TMPDIR/explain/share/halotune/starter.db" tests/data/tuned.json >/dev/null 2>&1
halotune db import --trust --yes --db "$TMPDIR/explain/own.db" tests/data/db/copy.json >/dev/null 2>&1
HALOTUNE_DB=$TMPDIR/explain/own.db
export HALOTUNE_DB
explain copy
explain star7 --device h200
explain heat2d
explain star7 --device h100
echo '-- a named database stands alone'
explain star7 --db "$HALOTUNE_DB"
# exit 0
