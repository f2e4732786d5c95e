halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query no_such --db "$TMPDIR/query.db" --device sm_90
# exit 4
