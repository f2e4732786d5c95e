# Two processes share a plan and a database: neither begins what the other has begun. The status tells what runs. After a kill the same
# command runs what is missing. As soon as the first process runs its task, it waits for its compiler, and takes no processor time from
# the second.
HALOTUNE_DB=$TMPDIR/site.db
export HALOTUNE_DB
plan=$TMPDIR/site.yaml
halotune tune copy --dtype all --grid 64 --plan "$plan" >/dev/null
resume() { halotune tune --plan "$plan" --resume --backend host --template direct "$@" 2>&1; }
counts() { halotune fleet status --json 2>/dev/null | jq -c '.gpus[0].counts'; }
cat >"$TMPDIR/compiler" <<'C'
#!/bin/sh
while [ -e "${0%/*}/wait" ]; do sleep 1; done
exec g++ "$@"
C
chmod +x "$TMPDIR/compiler"
(HALOTUNE_CXX=$TMPDIR/compiler exec halotune tune --plan "$plan" --resume --backend host --template direct --budget 1h >"$TMPDIR/first" 2>&1) &
first=$!
tries=0
until counts | grep -q '"running":1' || [ "$tries" = 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
touch "$TMPDIR/wait"
counts
# A free lock does not show that nobody tunes: processes with another cache folder, and those of a copy, leave locks
# of their own. The run that is going on, and its row in the copy, stay open, and the copy can be merged.
runs() { sqlite3 "$1" "select state || ' ' || reason from run order by id"; }
begin_nothing() { XDG_CACHE_HOME=$TMPDIR/other halotune tune copy --backend host --grid 32 --template direct --deadline 1 --db "$1" >/dev/null 2>&1; }
sqlite3 "$HALOTUNE_DB" ".backup '$TMPDIR/copy.db'"
for db in "$HALOTUNE_DB" "$TMPDIR/copy.db"; do
  begin_nothing "$db"
  begin_nothing "$db"
  runs "$db"
done
merge() { halotune db merge --db "$TMPDIR/copy.db" --trust --yes "$HALOTUNE_DB" >/dev/null 2>&1; }
tries=0
until merge || [ "$tries" = 60 ]; do # the first process may still store what it had compiled before
  sleep 1
  rm -f "$TMPDIR"/copy.db*
  sqlite3 "$HALOTUNE_DB" ".backup '$TMPDIR/copy.db'"
  tries=$((tries + 1))
done
[ "$tries" = 60 ] || echo merged
resume --max-variants 2 | grep 'plan\|another'
counts
resume --reproducible --max-variants 2 | grep -c another # its tasks are others
halotune fleet status --plan "$plan" --reproducible | grep site.yaml | sed "s|$TMPDIR|FOLDER|"
halotune fleet status --plan "$plan" --cache cold | grep site.yaml | sed "s|$TMPDIR|FOLDER|"
kill -KILL "$first"
wait "$first" 2>/dev/null
XDG_CACHE_HOME=$TMPDIR/empty halotune fleet status >/dev/null
find "$TMPDIR/empty" -name '*.lock' 2>/dev/null | wc -l # who looks makes no lock
counts
resume --max-variants 2 | sed -n "s|$TMPDIR|FOLDER|g; /tasks* /p"
counts
runs "$HALOTUNE_DB" # the run that was killed has no end, which nobody but its process could write
halotune fleet status --cache cold 2>&1
# slow
# exit 2
