# The plan of a site is written, reviewed and changed, run by the emulation until nothing is missing, and shown. Options that do not fit a plan
# are refused.
HALOTUNE_DB=$TMPDIR/site.db HALOTUNE_PATH=$PWD/kernels HALOTUNE_TEMPLATE_PATH=$PWD/templates
export HALOTUNE_DB HALOTUNE_PATH HALOTUNE_TEMPLATE_PATH
cp kernels/heat2d.yaml "$TMPDIR"
cd "$TMPDIR" || exit 9
halotune tune copy --dtype all --grid 64 --budget 2h --gpus 'H200,host emulation of sm_90' --plan site.yaml
halotune tune ./heat2d.yaml --grid 16,8 --plan more.yaml
sed -n 's/}/, budget: 3h}/; /{stencil/p' more.yaml >>site.yaml
cat site.yaml
resume() { halotune tune --plan site.yaml --resume --backend host --max-variants 2 --template direct "$@"; }
halotune tune --plan site.yaml --resume --dry-run
resume --deadline 1 >/dev/null 2>&1 # makes the database, and begins nothing
halotune fleet status --plan site.yaml
resume >first 2>&1
grep -e 'plan\|site.yaml' first | sed "s|$TMPDIR|FOLDER|"
resume 2>&1 | sed "s|$TMPDIR|FOLDER|"
resume_counts() { resume 2>&1 | sed -n "s#$TMPDIR#FOLDER#; /of 3 task/p"; }
shown() { sed -E 's/on [^ ,]*, last sign of life [^ ]*/on HOST, last sign of life DATE/'; }
halotune fleet status --plan site.yaml | shown
# A run that was killed, one that ended early, and a text that has changed since
sqlite3 site.db "update run set state = 'running', ended = null where id = 2; update run set state = 'partial', reason = 'it was cut' where id = 3;
  delete from best"
sed -i 's/, dtype: f64/, dtype: f32/; s/grid: .64./grid: [32]/' site.yaml
sed -i '0,/grid: .32./s//grid: [64]/' site.yaml
halotune fleet status --plan site.yaml | shown
halotune fleet status --json | jq -c '.gpus[] | .counts, (.tasks[] | [.stencil, .dtype, .grid, .state, .reason])'
resume_counts
halotune fleet status --plan site.yaml | shown
halotune tune copy --plan site.yaml
halotune tune --resume
halotune tune --plan site.yaml --resume copy
halotune tune --plan site.yaml --resume --dtype f32
halotune tune copy --gpus H200
halotune tune copy --budget none --plan new.yaml
halotune fleet status missing.db
halotune fleet stats
# slow
# exit 2
