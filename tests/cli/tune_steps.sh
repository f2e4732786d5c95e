# Each number of time steps of a launch is a task. Numbers that are impossible are refused. A query returns a winner of two steps beside that of
# one step if --steps allows it.
HALOTUNE_DB=$TMPDIR/steps.db
export HALOTUNE_DB
halotune tune heat2d --grid 48,32 --steps 1..3 --backend host --dry-run 2>/dev/null
halotune tune copy --steps 2 --backend host --dry-run
halotune tune heat2d --steps 3..2 --backend host --dry-run
halotune tune heat2d --steps 1099511627776 --backend host --dry-run
halotune tune heat2d --grid 48,32 --steps 4096 --backend host --budget 1s --no-hints --json 2>/dev/null | jq -r '.tasks[].reason'
for steps in 1 2; do
  halotune tune heat2d --grid 48,32 --steps $steps --set block_x=64 --template direct,fused_tile --backend host --max-variants 1 --budget none \
    --no-hints --json 2>/dev/null | jq -c '.tasks[] | [.steps, .tried, .winner.template, .winner.second_grid]'
done
halotune db info --json | jq -c '.problems[] | [.steps, .best.template, .best.parameters.steps]'
halotune query heat2d --grid 48,32 --device 'host emulation of sm_90' --json | jq -c '[.match, .template]'
# What a query may answer is bounded by --steps; the least time a step wins. Times of the emulation differ, so they are set.
sqlite3 "$HALOTUNE_DB" 'update best set time_ms = 0.003, low_ms = 0.003, high_ms = 0.003 where steps = 1; update best set time_ms = 0.004, low_ms = 0.004, high_ms = 0.004 where steps = 2'
for steps in 1 2 any; do
  halotune query heat2d --grid 48,32 --steps $steps --device 'host emulation of sm_90' --json | jq -c '[.match, .template, .steps, .time_ms]'
done
halotune query heat2d --grid 48,32 --steps any --device 'host emulation of sm_90' | grep '^steps'
halotune query heat2d --grid 48,32 --steps any --device 'host emulation of sm_90' --source | grep 'steps'
# As if a GPU had measured it, a query for single steps tells of launches that are faster.
halotune db export | sed 's/"is_emulation":1/"is_emulation":0/' >"$TMPDIR/steps.json"
halotune db import "$TMPDIR/steps.json" --trust --yes --db "$TMPDIR/gpu.db" >/dev/null 2>&1
for steps in 1 any; do
  halotune query heat2d --grid 48,32 --steps $steps --device 'host emulation of sm_90' --db "$TMPDIR/gpu.db" | grep -E "^(template|bandwidth|steps|faster)" |
    sed 's/, [0-9.]* of the fastest/, a share of the fastest/' # the copy was really measured
done
# On another grid both times are predicted: a query does not advise several steps if the times may be equal.
sqlite3 "$TMPDIR/gpu.db" 'update best set time_ms = 3, low_ms = 3, high_ms = 3 where steps = 1; update best set time_ms = 5, low_ms = 5, high_ms = 5 where steps = 2'
faster() { halotune query heat2d --grid 64,32 --device 'host emulation of sm_90' --db "$TMPDIR/gpu.db" | grep -E "^(match|faster)"; }
faster
sqlite3 "$TMPDIR/gpu.db" 'update best set time_ms = 1, low_ms = 1, high_ms = 1 where steps = 2'
faster
# A pipeline, whose stages hold their sums in registers.
halotune tune heat2d --grid 48,32 --steps 4 --template pipeline_rows --backend host --max-variants 1 --budget none --no-hints --json 2>/dev/null |
  jq -c '.tasks[] | [.steps, .tried, .winner.template, .winner.second_grid]'
halotune db check | tail -n 1 | sed 's/^.*: //'
halotune query heat2d --grid 48,32 --steps 0 --device 'host emulation of sm_90'
halotune tune heat2d --steps 0 --backend host --dry-run
# slow
# exit 2
