# A task for each number of time steps of a launch; what cannot be; and a winner of two steps beside that of one.
HALOTUNE_DB=$TMPDIR/steps.db
export HALOTUNE_DB
halotune tune heat2d --grid 48,32 --steps 1..3 --backend host --dry-run 2>/dev/null
halotune tune copy --steps 2 --backend host --dry-run
halotune tune heat2d --steps 3..2 --backend host --dry-run
for steps in 1 2; do
  halotune tune heat2d --grid 48,32 --steps $steps --set block_x=64 --template direct,fused_tile --backend host --max-variants 1 --budget none \
    --no-hints --json 2>/dev/null | jq -c '.tasks[] | [.steps, .tried, .winner.template]'
done
halotune db info --json | jq -c '.problems[] | [.steps, .best.template, .best.parameters.steps]'
halotune query heat2d --grid 48,32 --device 'host emulation of sm_90' --json | jq -c '[.match, .template]'
halotune tune heat2d --steps 0 --backend host --dry-run
# exit 2
