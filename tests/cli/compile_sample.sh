# A sample is the same each time. The second time it comes from the cache.
export XDG_CACHE_HOME="$TMPDIR/cache"
halotune compile star7 --template direct --sample 4 --seed 7 --json >"$TMPDIR/first.json"
halotune compile star7 --template direct --sample 4 --seed 7 --json >"$TMPDIR/second.json"
jq -c "[.outcomes.ok, .cached, .compiled]" "$TMPDIR/first.json" "$TMPDIR/second.json"
for run in first second; do jq -c "[.variants[] | del(.cached)]" "$TMPDIR/$run.json" >"$TMPDIR/$run.rows"; done
cmp "$TMPDIR/first.rows" "$TMPDIR/second.rows"
# exit 0
