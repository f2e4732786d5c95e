# A run that goes on stays, and so do rows that its tune may use. The test holds the lock that a tune holds.
HALOTUNE_DB=$TMPDIR/beside.db XDG_CACHE_HOME=$TMPDIR/cache
export HALOTUNE_DB XDG_CACHE_HOME
halotune tune heat2d --backend host --dtype f32 --grid 16,8 --template flat --max-variants 2 --no-hints >"$TMPDIR/tune.out" 2>&1
sqlite3 "$HALOTUNE_DB" "delete from best; delete from finalist; update run set state = 'running', ended = null, outcomes = null"
lock=$(find "$TMPDIR/cache" -name '*.lock' -path '*/tune/*')
flock -s "$lock" halotune db forget --stencil heat2d --yes
sqlite3 "$HALOTUNE_DB" "insert into run select 2, problem_id, text_id, 'complete', reason, '2016-01-01T00:00:00.000Z', '2016-01-01T00:01:00.000Z',
  command, host, version, driver, cuda, nvrtc, seed, strategy, budget_s, space, bytes, empty_ms, copy_ms, memcpy_ms, warnings, '{}', origin_id,
  objective, power_limit_w, idle_w from run"
flock -s "$lock" halotune db forget --stencil heat2d --yes
halotune db check | sed "s|$TMPDIR|FOLDER|"
# The lock ended with its process: the tune was killed.
halotune db forget --stencil heat2d --yes
sqlite3 "$HALOTUNE_DB" "select count(*) from variant"
# slow
# exit 0
