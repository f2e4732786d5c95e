# SIGTERM and the deadline end a compiler that never ends by itself: `tune` and `verify` end as usual.
cat >"$TMPDIR/compiler" <<'C'
#!/bin/sh
touch "${0%/*}/begun"
exec sleep 100000
C
chmod +x "$TMPDIR/compiler"
HALOTUNE_CXX=$TMPDIR/compiler
XDG_CACHE_HOME=$TMPDIR/cache
HALOTUNE_DB=$TMPDIR/stopped.db
export HALOTUNE_CXX XDG_CACHE_HOME HALOTUNE_DB
stop() { # command: it gets SIGTERM once the compiler runs
  rm -f "$TMPDIR/begun"
  "$@" >"$TMPDIR/out" 2>"$TMPDIR/err" &
  until [ -e "$TMPDIR/begun" ] || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
  kill -TERM $!
  wait $!
  echo "exit $?"
}
stop env halotune verify copy --template direct --sample 3 --workers 1
cut -d, -f1-4 "$TMPDIR/out"
grep -o 'halotune: stopped;' "$TMPDIR/err"
stop env halotune tune copy --dtype f32 --grid 64 --backend host --template direct
grep -o 'no winner: .*' "$TMPDIR/out"
for seconds in 4 8 16 32 64; do # a busy machine may have too little time left to begin the task
  rm -f "$TMPDIR/begun"
  halotune tune copy --dtype f32 --grid 64 --backend host --template direct --budget 1s --deadline ${seconds}s >"$TMPDIR/out" 2>/dev/null
  [ ! -e "$TMPDIR/begun" ] || break
done
grep -o 'no winner: .*' "$TMPDIR/out"
sqlite3 "$HALOTUNE_DB" 'select count(*) from measurement'
# exit 0
