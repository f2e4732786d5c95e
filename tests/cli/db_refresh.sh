# Winners of other versions of templates, which generated other code, stay stale. A template with an error is named.
HALOTUNE_DB=$TMPDIR/refresh.db
HALOTUNE_TEMPLATE_PATH=templates
export HALOTUNE_DB HALOTUNE_TEMPLATE_PATH
halotune db refresh 2>&1 | sed "s|$TMPDIR|FOLDER|"
halotune db import --trust --yes tests/data/tuned.json >/dev/null 2>&1
halotune db refresh --dry-run
halotune db refresh
mkdir "$TMPDIR/templates"
{ cat templates/zmarch.yaml && echo 'wrong: 1'; } >"$TMPDIR/templates/zmarch.yaml"
cp templates/zmarch.cu "$TMPDIR/templates"
HALOTUNE_TEMPLATE_PATH=$TMPDIR/templates halotune db refresh
halotune db forget --stencil star7 --yes
halotune db refresh
halotune db refresh --yes
# exit 2
