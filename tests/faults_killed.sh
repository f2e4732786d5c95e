#!/bin/sh
# faults_killed.sh: `halotune tune` is killed with SIGKILL in its set-up, its search and its finals, and run again.
# Stored results must still be there and unchanged, only the rest is measured, and no process of the killed run is left.
# By default it takes 15 moments; FULL=1 takes 50, MOMENTS=N takes N. Prints TAP.
set -u
. "$(dirname "$0")/faults_parts.sh"
parts='set-up search finals'
space=32

# The GPU's events are late, so that search and finals last long enough to be killed.
slowly() { HALOTUNE_FAKE_FAULT=cuEventSynchronize=slow:1.5 HALOTUNE_FAKE_STATE=$work/state become_tune "$@"; } # DB option...
rows_of() { query "file:$1?mode=ro" "select count(*) from measurement" 2>/dev/null || echo 0; } # DB

# Wait until a run reaches a moment. In the set-up and in the finals this is a share of the time that they took before. In
# the search it is a number of stored rows, which does not depend on the speed of the machine. Fails if the run ends first.
await_moment() { # PART MOMENT PROCESS DB
  case $1 in set-up) least=0 delay_s=$2 ;; search) least=$2 delay_s=0 ;; finals) least=$space delay_s=$2 ;; esac
  while [ "$(rows_of "$4")" -lt "$least" ]; do
    kill -0 "$3" 2>/dev/null || return 1
    sleep 0.03 # each look starts a process
  done
  sleep "$delay_s"
}

# Kill a run at a moment, and run it again. Prints "PART MOMENT ROWS STATE WRONG...": what the kill left, and the errors
# in it or in the result of the second run.
one() { # PART MOMENT
  wrong=''
  (slowly "$work/killed.db") >"$work/out" 2>&1 &
  tuner=$!
  await_moment "$1" "$2" $tuner "$work/killed.db" || wrong="$wrong too-late"
  kill -9 $tuner 2>/dev/null
  wait $tuner 2>/dev/null
  processes_end "$work/state" || wrong="$wrong processes-left"
  # A copy is checked, because the database must not change before the second run opens it.
  rows=0 state=none stored=
  if [ -e "$work/killed.db" ]; then
    for file in "$work/killed.db" "$work/killed.db-wal"; do [ ! -e "$file" ] || cp "$file" "$work/copy${file#"$work/killed"}"; done
    is_sound "$work/copy.db" || wrong="$wrong damaged"
    rows=$(rows_of "$work/copy.db")
    state=$(query "$work/copy.db" "select state from run" 2>/dev/null)
    before="select * from measurement where id in (select id from measurement order by id limit $rows)"
    stored=$(query "$work/copy.db" "$before" 2>/dev/null)
  fi
  tune "$work/killed.db" >"$work/again" 2>&1 || wrong="$wrong rerun:$?"
  is_sound "$work/killed.db" || wrong="$wrong damaged-by-rerun"
  [ "$rows" = 0 ] || [ "$(query "$work/killed.db" "$before")" = "$stored" ] || wrong="$wrong changed"
  after=$(query "$work/killed.db" "select count(*), count(distinct variant_id), (select count(*) from best where is_current),
    (select count(*) from run where state = 'complete') > 0 from measurement")
  [ "$after" = "$space $space 1 1" ] || wrong="$wrong has:$(echo "$after" | tr ' ' ,)"
  echo "$1 $2 $rows ${state:-none} $wrong"
}

if [ $# = 2 ]; then
  one "$1" "$2"
  exit
fi
[ $# = 0 ] || { echo "not ok 1 - a moment is two words, not: $*"; exit 2; }

# The present duration of each part on this machine.
started_ms=$(($(date +%s%N) / 1000000))
(slowly "$work/whole.db" --json) >"$work/out" 2>"$work/err"
result "a slow run that nobody kills" $? "$work/err"
whole_ms=$(($(date +%s%N) / 1000000 - started_ms))
jq -r ".tasks[0] | \"search \(.search_s)\", \"finals \(.final_s)\", \"set-up \($whole_ms/1000 - .search_s - .final_s)\"" "$work/out" >"$work/lengths"
[ "$(grep -c . "$work/lengths")" = 3 ]
result "the duration of each part" $? "$work/out"
[ "$failed" = 0 ] || { finish; exit 1; } # there are no moments without durations

moments=${MOMENTS:-${FULL:+50}}
moments=${moments:-15}
# Choose the moments: in the first half of set-up and finals, and in the search before its last ten rows. Each of these
# ranges is cut into equal shares, and a moment is random within its share.
awk -v moments="$moments" -v space=$space 'BEGIN {srand(20261121)}
  {name[NR] = $1; whole[NR] = $1 == "search" ? 2*(space - 10) : $2}
  END {
    share = moments / NR
    for (i = 0; i < moments; i++) {
      part = i % NR + 1
      at = whole[part] / 2 * (int(i / NR) + rand()) / (share > int(share) ? int(share) + 1 : share)
      printf name[part] == "search" ? "%s %d\n" : "%s %.3f\n", name[part], name[part] == "search" ? at + 1 : at
    }
  }' "$work/lengths" >"$work/moments"
[ "$(grep -c . "$work/moments")" = "$moments" ]
result "moments to kill at" $? "$work/lengths"
[ "$failed" = 0 ] || { finish; exit 1; } # xargs would start this script without a moment
xargs -r -P "$(($(nproc) * 2))" -L 1 "$0" <"$work/moments" >"$work/results"
sort "$work/results" >"$work/killed"

wrong=$(awk 'NF > 4' "$work/killed" | grep -c .)
[ "$(grep -c . "$work/killed")" = "$moments" ] && [ "$wrong" = 0 ]
result "killed at $moments moments: nothing lost, nothing twice, no process left" $? "$work/killed"
# In which part each kill happened: a run without rows, with some rows, with all rows but no end.
where() { awk -v part="$1" -v space=$space '
  {is = $3 == 0 ? "set-up" : $3 < space ? "search" : $4 == "running" ? "finals" : "end"}
  is == part {rows = rows " " $3}
  END {print rows}' "$work/killed"; }
for part in $parts; do
  [ "$(where "$part" | wc -w)" -gt 0 ]
  result "moments in the $part left these rows:$(where "$part")" $? "$work/killed"
done

# A process that would not notice the end of the program, because it hangs in a call of the driver.
(HALOTUNE_FAKE_FAULT='cuLaunchKernel#50=hang' HALOTUNE_FAKE_STATE=$work/stuck.state HALOTUNE_FAKE_LOG=$work/stuck.log become_tune "$work/stuck.db") >"$work/out" 2>&1 &
tuner=$!
is_at_work() {
  at_work=$(processes_of "$work/stuck.state" | wc -l)
  [ "$at_work" -ge 4 ] && grep -q '^fault' "$work/stuck.log"
}
await is_at_work
kill -9 $tuner
wait $tuner 2>/dev/null
[ "$at_work" -ge 4 ] && processes_end "$work/stuck.state" # the program, two that start others, and the GPU's
result "killed while its worker hangs in a call of the driver: none of $at_work processes is left" $? "$work/out"
finish
