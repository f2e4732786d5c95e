# A machine without any of the parts. Each part is reported with advice, which is not a failure. Parts that may be
# installed are left out.
export HALOTUNE_LIBCUDA=/nonexistent/libcuda.so HALOTUNE_LIBNVML=/nonexistent/libnvml.so HALOTUNE_NVRTC=/nonexistent/libnvrtc.so
export HALOTUNE_CXX=/nonexistent/g++ XDG_CACHE_HOME=/proc/cache HALOTUNE_DB="$TMPDIR/no/halotune.db"
halotune doctor | grep -v 'stencils\|templates\|starter\|install Halotune\|make install' | sed "s/SQLite *[0-9.]*/SQLite N/; s|$TMPDIR/||"
# Files without a table, in place of the user's database and of the installed one
mkdir -p "$TMPDIR/prefix/bin" "$TMPDIR/prefix/share/halotune" && cp "$(command -v halotune)" "$TMPDIR/prefix/bin"
: >"$TMPDIR/halotune.db" && : >"$TMPDIR/prefix/share/halotune/starter.db"
HALOTUNE_DB="$TMPDIR/halotune.db" "$TMPDIR/prefix/bin/halotune" doctor | grep -A 1 'database  \|starter' | sed "s|$TMPDIR/||"
# exit 0
