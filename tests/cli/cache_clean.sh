# `cache` counts and removes what compile and verify have stored.
export XDG_CACHE_HOME="$TMPDIR/cache-to-clean"
halotune compile copy --template direct --set vector=2 >/dev/null 2>&1
halotune verify copy --template direct --set vector=2 >/dev/null 2>&1
: >"$XDG_CACHE_HOME/halotune/host/00112233445566778899aabbccddeeff.so.abcdef"
: >"$XDG_CACHE_HOME/halotune/host/notes"
kept=$(halotune cache show --json | jq '.host.files')
[ "$kept" -ge 3 ] || echo "an object, its runner and a leftover are $kept files"
halotune cache show | sed "s/ [0-9]* of/ N of/; s/[0-9]* host/N host/; s|in $TMPDIR/|in |"
# a process that uses the host's cache has locked it like this
(flock -s 9; halotune cache clean | sed "s/ [0-9]* bytes/ N bytes/; s/[0-9]* host/N host/; s|$TMPDIR/||") 9>"$XDG_CACHE_HOME/halotune/host/.lock"
halotune cache clean | sed "s/ [0-9]* bytes/ N bytes/; s/[0-9]* host/N host/; s|from $TMPDIR/|from |"
halotune cache clean | sed "s|from $TMPDIR/|from |"
ls "$XDG_CACHE_HOME/halotune/host"
halotune cache show --json | jq -c 'map_values(.folder |= ltrimstr($ENV.TMPDIR))'
halotune cache clean --json | jq -c 'map_values(.folder |= ltrimstr($ENV.TMPDIR))'
# exit 0
