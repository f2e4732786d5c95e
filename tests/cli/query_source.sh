halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid 640,512,512 --source | sed -n '1,9p'
# exit 0
