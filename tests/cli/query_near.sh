halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid 640,512,500 | sed 's/^measured .* on/measured    DATE, on/'
# exit 0
