#!/bin/sh
# kills.sh: random ranks of MPI jobs are killed at random moments of a search on emulated GPUs, the leader among them.
# A killed rank ends its job, and the same command goes on. No row may be lost or changed, and none may be there twice.
# 8 ranks are killed, or KILLS=40; SEED=NUMBER chooses others; KIND=mpich takes MPICH. Prints TAP.
set -u
. "$(dirname "$0")/../fake_gpu.sh"
. tests/fleet/launch.sh
unset HALOTUNE_MPI
kills=${KILLS:-8} seed=${SEED:-1} kind=${KIND:-openmpi} team=4 space=32
if ! reason=$(can_launch "$kind"); then
  echo "ok 1 - kills # SKIP $reason"
  echo "1..1"
  exit 0
fi
query() { sqlite3 "file:$1?mode=ro" "$2" 2>/dev/null | tr '|' ' '; } # DB sql
rows_of() { rows=$(query "$1" 'select count(*) from measurement'); echo "${rows:-0}"; } # DB
# One row a kill: of which rank, and after how many further rows.
awk -v seed="$seed" -v kills="$kills" -v team=$team 'BEGIN {srand(seed); for (i = 0; i < kills; i++) print int(rand() * team), 1 + int(rand() * 8)}' >"$work/kills"
begin_job() { # DB
  MARK=$work/mark HALOTUNE_FAKE_DEVICES=$team HALOTUNE_FAKE_FAULT=cuModuleLoadData=slow:100 start_tune "launch $kind $team" "$1" --workers 1 --in-flight 2 >"$work/log" 2>&1 &
  job=$!
}
has_rows() { [ "$(rows_of "$1")" -ge "$2" ] || ! kill -0 "$job" 2>/dev/null; } # DB COUNT
no_rank_is_left() { ! grep -qsF "MARK=$work/mark" /proc/[0-9]*/environ; }
# What a kill left must be there after the next one.
first_rows() { sqlite3 -quote "file:$1?mode=ro" "select * from measurement order by id limit $2"; } # DB COUNT
is_kept() { [ "$kept" = 0 ] || first_rows "$1" "$kept" | cmp -s "$work/before" -; } # DB
# The search of a database has come to its end.
ends_well() { # DB
  [ "$(query "$1" "select count(*), count(distinct variant_id), (select count(*) from run where state = 'complete'), (select count(*) from run where state = 'running'), (select count(*) from best where is_current) from measurement")" = "$space $space 1 0 1" ]
}

killed=0 databases=1 leaders=0 kept=0 wrong=
db=$work/1.db
while read -r rank more <&3; do
  while :; do
    begin_job "$db"
    await has_rows "$db" $(($(rows_of "$db") + more))
    process=$(process_of_rank "$rank" "MARK=$work/mark")
    [ -n "$process" ] && kill -KILL "$process" 2>/dev/null && break
    # The search came to its end before its rank could be killed: a new one begins.
    wait $job || wrong="$wrong $db:exit"
    ends_well "$db" || wrong="$wrong $db:$(query "$db" 'select count(*), count(distinct variant_id) from measurement')"
    is_kept "$db" || wrong="$wrong $db:changed"
    databases=$((databases + 1))
    db=$work/$databases.db kept=0
  done
  wait $job
  await no_rank_is_left
  killed=$((killed + 1))
  [ "$rank" != 0 ] || leaders=$((leaders + 1))
  [ "$(query "$db" 'pragma integrity_check')" = ok ] || wrong="$wrong kill$killed:damaged"
  is_kept "$db" || wrong="$wrong kill$killed:changed"
  kept=$(rows_of "$db")
  first_rows "$db" "$kept" >"$work/before"
  [ "$(query "$db" 'select count(*) = count(distinct variant_id) from measurement')" = 1 ] || wrong="$wrong kill$killed:twice"
done 3<"$work/kills"
begin_job "$db"
wait $job || wrong="$wrong last:exit"
ends_well "$db" || wrong="$wrong last:$(query "$db" 'select count(*), count(distinct variant_id) from measurement')"
is_kept "$db" || wrong="$wrong last:changed"
echo "$wrong" >>"$work/log"
[ "$killed" = "$kills" ] && [ -z "$wrong" ]
result "$killed ranks of $kind were killed, $leaders of them leaders, in the searches of $databases databases: no row is lost or changed, none is there twice" $? "$work/log"
finish
