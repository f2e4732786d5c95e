# If no cache can be written, compiled variants go to a temporary folder, which is removed at the end.
mkdir "$TMPDIR/empty"
export TMPDIR="$TMPDIR/empty"
XDG_CACHE_HOME=/proc halotune verify copy --template direct --set vector=2 2>&1 | grep 'not kept'
env -u HOME -u XDG_CACHE_HOME halotune verify copy --template direct --set vector=2 2>&1 | grep 'not kept'
env -u HOME -u XDG_CACHE_HOME halotune verify copy --template direct --set vector=2 >/dev/null 2>&1
code=$?
ls "$TMPDIR"
exit $code
# slow
# exit 0
