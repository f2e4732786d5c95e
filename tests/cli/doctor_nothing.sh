# A machine that has nothing: each piece is told, with what to do, and that is no failure. What may be installed is left out.
export HALOTUNE_LIBCUDA=/nonexistent/libcuda.so HALOTUNE_LIBNVML=/nonexistent/libnvml.so HALOTUNE_NVRTC=/nonexistent/libnvrtc.so
export HALOTUNE_CXX=/nonexistent/g++ XDG_CACHE_HOME=/proc/cache HALOTUNE_DB="$TMPDIR/no/halotune.db"
halotune doctor | grep -v 'stencils\|templates\|starter\|install Halotune\|make install' | sed "s/SQLite *[0-9.]*/SQLite N/; s|$TMPDIR/||"
# exit 0
