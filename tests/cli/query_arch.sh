halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device sm_90 --json | jq 'del(.age_s)'
# Bandwidth and share of the roof are those of the problem itself, or null; the bytes are always its own.
for grid in 512,512,512 256,512,512; do
  halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid $grid --json | jq -c '[.match, .bandwidth_gbs, .roof_share, .unknown_bytes, .known_bytes]'
  halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --grid $grid --header | grep '^ \*   measured'
done
# exit 0
