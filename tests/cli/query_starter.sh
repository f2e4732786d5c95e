# The starter database, which make imports from its documents, is sound, answers for both GPUs with what was measured on them, and is
# smaller than 8 MB.
db=$TMPDIR/query_starter.db
cp build/starter.db "$db"
halotune db check --db "$db" | sed "s|$TMPDIR/||"
for gpu in h100 h200; do
  halotune query star7 --grid 512,512,512 --device "$gpu" --db "$db" --json | jq -c '[.match, .device, .measured_on, .measured_grid]'
  halotune query advect1d --grid 67108864 --steps 16 --device "$gpu" --db "$db" --json | jq -c '[.match, .steps, .measured_on]'
done
[ "$(wc -c <"$db")" -lt 8000000 ] && [ "$(cat db/starter/*.json | wc -c)" -lt 8000000 ] && echo small
# slow
# exit 0
