halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device sm_75 --dtype f64
# exit 0
