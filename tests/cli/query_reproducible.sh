# No reproducible winner is stored. The answer is a template's default with explicit roundings.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --reproducible
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --reproducible --json | jq -c '[.reproducible, .match]'
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --reproducible --source | grep -c 'rounded_\|= fma('
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --source | grep -c 'rounded_\|= fma('
# exit 1
