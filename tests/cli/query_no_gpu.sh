halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
HALOTUNE_LIBCUDA=/nonexistent/libcuda.so halotune query star7 --db "$TMPDIR/query.db" 2>&1 | sed 's/([^)]*)/(...)/'
# exit 0
