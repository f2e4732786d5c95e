# One item is printed without a plural ending.
halotune tune star7 --dry-run --budget 20s 2>&1
halotune tune star7 copy --dry-run 2>&1
halotune verify copy --template direct --set vector=1 --dtype f32 2>/dev/null | tail -n 1
printf '%s\n' 'name: one' 'dims: 1' 'inputs: [u]' 'outputs: [v]' 'update: v = u[0]' 'boundary: [skip, skip]' >"$TMPDIR/one.yaml"
halotune show "$TMPDIR/one.yaml" 2>&1 | sed "s|$TMPDIR|FOLDER|"
XDG_CACHE_HOME=$TMPDIR/one_cache
export XDG_CACHE_HOME
halotune compile copy --template direct --set vector=1 --arch sm_90 >/dev/null 2>&1
halotune cache show | sed "s|$TMPDIR|FOLDER|; s/[0-9]* of/BYTES of/"
halotune cache clean | sed "s|$TMPDIR|FOLDER|; s/[0-9]* byte/BYTES byte/"
# exit 0
