# A file behind -- whose name looks like an option. The command line in the database names the same file.
cp kernels/heat2d.yaml "$TMPDIR/--fresh.yaml" && root=$PWD && cd "$TMPDIR" || exit
halotune tune --backend host --dtype f32 --grid 40,30 --template "$root/templates/direct.yaml" --max-variants 2 --budget none --db=-t.db -- --fresh.yaml >/dev/null 2>&1
command=$(sqlite3 ./-t.db 'select command from run')
echo "$command" | sed "s|$root|ROOT|"
$command 2>&1 | tail -n 1
sqlite3 ./-t.db 'select count(*) from run'
halotune query --db=-t.db --device sm_90 --grid 99,99 -- --fresh.yaml | grep ^tune
# exit 0
