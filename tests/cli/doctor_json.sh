# The findings as JSON, without a driver, and with a file that is not a database in place of the database.
export HALOTUNE_LIBCUDA=/nonexistent/libcuda.so HALOTUNE_LIBNVML=/nonexistent/libnvml.so XDG_CACHE_HOME="$TMPDIR/doctor"
export HALOTUNE_DB="$TMPDIR/doctor.db"
yes 'no database' | head -c 9000 >"$HALOTUNE_DB"
halotune doctor --json | jq -c '.gpus, (.checks[] | select(.name != "starter") | [.name, .state, (.advice | length > 0)])'
# exit 0
