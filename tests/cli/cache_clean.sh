# What compile keeps, cache counts and removes.
export XDG_CACHE_HOME="$TMPDIR/cache-to-clean"
halotune compile copy --template direct --set vector=2 >/dev/null 2>&1
halotune cache show | sed "s/ [0-9]* of/ N of/; s|in $TMPDIR/|in |"
halotune cache clean | sed "s/ [0-9]* bytes/ N bytes/; s|from $TMPDIR/|from |"
halotune cache clean | sed "s|from $TMPDIR/|from |"
# exit 0
