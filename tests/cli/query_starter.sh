# The documents of the starter database answer for both GPUs with what was measured on them, and make a database of less than 8 MB.
db=$TMPDIR/query_starter.db
halotune db import --trust --yes --shipped --db "$db" db/starter/*.json >/dev/null 2>&1
halotune db check --db "$db" | sed "s|$TMPDIR/||"
for gpu in h100 h200; do
  halotune query star7 --grid 512,512,512 --device "$gpu" --db "$db" --json | jq -c '[.match, .device, .measured_on, .measured_grid]'
  halotune query advect1d --grid 67108864 --steps 16 --device "$gpu" --db "$db" --json | jq -c '[.match, .steps, .measured_on]'
done
[ "$(wc -c <"$db")" -lt 8000000 ] && [ "$(cat db/starter/*.json | wc -c)" -lt 8000000 ] && echo small
# slow
# exit 0
