# For an emulated device no figure looks like one of a GPU, in text, JSON and the header.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/query.db" --device 'emulation of sm_90' --grid 64,64,64 | sed 's/^measured .* on emu/measured    DATE, on emu/'
halotune query star7 --db "$TMPDIR/query.db" --device 'emulation of sm_90' --grid 80,64,64 | sed 's/^measured .* on emu/measured    DATE, on emu/'
halotune query star7 --db "$TMPDIR/query.db" --device 'emulation of sm_90' --grid 80,64,64 --dtype f64
halotune query star7 --db "$TMPDIR/query.db" --device 'emulation of sm_90' --grid 64,64,64 --json | jq -c '[.device, .emulated, .match, .bandwidth_gbs, .roof_share]'
halotune query star7 --db "$TMPDIR/query.db" --device 'NVIDIA H200' --json | jq -c '[.device, .emulated, .match, .bandwidth_gbs, .roof_share]'
halotune query star7 --db "$TMPDIR/query.db" --device 'emulation of sm_90' --grid 64,64,64 --header | sed -n '3,8p'
# exit 0
