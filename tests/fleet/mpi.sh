#!/bin/sh
# mpi.sh: the transport between real ranks, and searches of four ranks on emulated GPUs, with Open MPI and with MPICH,
# each of which is skipped where its packages are missing. $MESSAGES is the program of messages.c. Prints TAP.
set -u
LIMIT_S=${LIMIT_S:-300}
. "$(dirname "$0")/../fake_gpu.sh"
messages=$(readlink -f "${MESSAGES:?}")
plugins=$(readlink -f build/mpi)
unset HALOTUNE_MPI
. tests/fleet/launch.sh

result_log() { result "$1" "$2" "$work/log"; } # name status

# The lines of ours, without those that launchers add.
lines() { grep -c '^halotune: ' "$work/log"; }
refuses() { # words that the one line contains; a command follows
  words=$1
  shift
  ! "$@" >"$work/log" 2>&1 && [ "$(lines)" = 1 ] && grep -q "^halotune: .*$words" "$work/log"
}

# A plug-in whose MPI waits for a rank that never starts.
cat >"$work/waits.c" <<EOF
#include <unistd.h>
#include "include/halotune.h"
#include "tuner/fleet/mpi/plugin.h"
static int begin(struct fleet_mpi_world *out) { for (out->rank = 0;; pause()); }
const struct fleet_mpi_plugin halotune_mpi_plugin = {.version = FLEET_MPI_VERSION, .kind = "test", .halotune = HALOTUNE_VERSION, .begin = begin};
EOF
${CC:-gcc} -shared -fPIC -I. -o "$work/waits.so" "$work/waits.c" >"$work/log" 2>&1 &&
  refuses "MPI has not begun after 0.2 s" env PMI_RANK=0 PMI_SIZE=2 HALOTUNE_MPI="$work/waits.so" timeout 60 "$messages" begin
result_log "a rank that does not start: one line, after the limit" $?

query() { sqlite3 "$1" "$2" | tr '|' ' '; } # DB sql
space=32 # variants of the template small
# A search of several ranks.
ranks() { # kind ranks DB option...
  how="launch $1 $2" db=$3
  shift 3
  start_tune "$how" "$db" --workers 1 "$@"
}

for kind in openmpi mpich; do
  if ! reason=$(can_launch $kind); then
    number=$((number + 1))
    echo "ok $number - $kind # SKIP $reason"
    continue
  fi
  other=mpich
  [ $kind = openmpi ] || other=openmpi
  export HALOTUNE_MPI="$plugins/$kind/libhalotune-mpi.so"

  launch $kind 4 "$messages" echo >"$work/log" 2>&1
  result_log "$kind: messages of 1 B to 16 MiB in both directions arrive whole and in order" $?
  launch $kind 3 "$messages" gather >"$work/log" 2>&1
  result_log "$kind: every rank gets the records of all" $?
  launch $kind 5 "$messages" teams >"$work/log" 2>&1
  result_log "$kind: two teams, of which one is done earlier" $?
  launch $kind 3 "$messages" idle >"$work/log" 2>&1 && [ "$(grep -c ' of 3 on ' "$work/log")" = 3 ] &&
    awk -F ': ' '/while idle/ {split($NF, share, " "); if (share[1] >= 10) bad = 1} END {exit bad}' "$work/log"
  result_log "$kind: a rank that waits takes less than a tenth of a core" $?
  launch $kind 4 "$messages" lost >"$work/log" 2>&1
  [ $? = 7 ] && ! grep -q '^rank .*:' "$work/log"
  result_log "$kind: two teams, of which one loses a rank that hangs: the job ends with the leader's exit code" $?
  launch $kind 2 "$messages" orphan >"$work/log" 2>&1
  [ $? = 5 ] && ! grep -q '^rank .*:' "$work/log"
  result_log "$kind: a leader that hangs: the job ends with the member's exit code" $?
  ! launch $kind 3 "$messages" die >"$work/log" 2>&1 && ! grep -q '^rank .*:' "$work/log"
  result_log "$kind: a rank that dies ends the job, with an exit code" $?
  ! launch $kind 3 "$messages" fail >"$work/log" 2>&1
  result_log "$kind: a rank that fails ends the job, with an exit code" $?
  refuses "there is no file /nowhere/x.so" launch $kind 3 env HALOTUNE_MPI=/nowhere/x.so "$messages" echo
  result_log "$kind: no plug-in: one line from one rank" $?

  # --- searches
  unset HALOTUNE_MPI
  db=$work/$kind.db
  HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:300" HALOTUNE_FAKE_DEVICES=4 ranks $kind 4 "$db" --in-flight 6 --json >"$work/out" 2>"$work/log" &&
    jq -e '[.tasks[].gpus[].results] | length == 4 and .[0] < add' "$work/out" >/dev/null &&
    [ "$(query "$db" 'select (select count(*) from measurement), (select count(*) from best where is_current)')" = "$space 1" ]
  result_log "$kind: four ranks share a task, and one stores the results" $?
  HALOTUNE_FAKE_DEVICES=4 ranks $kind 4 "$db" >"$work/log" 2>&1 && grep -q "$space tried ($space of them by earlier runs)" "$work/log"
  result_log "$kind: the same command goes on" $?
  HALOTUNE_FAKE_DEVICES=2 refuses 'ranks 0 and 2 use the same GPU' ranks $kind 4 "$work/two.db"
  result_log "$kind: two ranks on one GPU" $?
  HALOTUNE_FAKE_DEVICES=2 ranks $kind 4 "$work/two.db" --members 4 >"$work/log" 2>&1 && grep -q '^4 GPUs took part' "$work/log"
  result_log "$kind: which --members allows" $?
  HALOTUNE_LIBCUDA=/nowhere refuses 'rank 0 on .* (and 2 more of 3 ranks): no CUDA driver' ranks $kind 3 "$work/none.db"
  result_log "$kind: hosts without a driver" $?
  refuses "no stencil 'nonsense'" launch $kind 3 "$program" tune nonsense
  result_log "$kind: a stencil that there is none of" $?
  refuses 'leave out --device all' launch $kind 3 "$program" tune star7 --device all
  result_log "$kind: --device all" $?
  # The second rank's host has no driver, and another model of GPU in the next test.
  printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ $rank != 1 ] || export "$1"\nshift\nexec "$@"\n' >"$work/second"
  chmod +x "$work/second"
  HALOTUNE_FAKE_DEVICES=3 refuses 'rank 1 on [^ ]*: no CUDA driver' start_tune "launch $kind 3 $work/second HALOTUNE_LIBCUDA=/nowhere" "$work/none.db"
  result_log "$kind: one host without a driver" $?
  HALOTUNE_FAKE_DEVICES=3 start_tune "launch $kind 3 $work/second HALOTUNE_FAKE_NAME=Other" "$work/mixed_$kind.db" --workers 1 >"$work/log" 2>&1 &&
    [ "$(query "$work/mixed_$kind.db" 'select count(*), count(distinct p.device_id) from best b join problem p on p.id = b.problem_id where b.is_current')" = "2 2" ]
  result_log "$kind: ranks of two models give one database with winners for each" $?
  # A rank is killed: the job ends, and the same command goes on.
  db=$work/killed_$kind.db
  HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" HALOTUNE_FAKE_DEVICES=3 HALOTUNE_FAKE_STATE="$work/killed_$kind.state" ranks $kind 3 "$db" >"$work/log" 2>&1 &
  job=$!
  some_are_stored() { query "$db" 'select count(*) >= 4 from measurement' 2>/dev/null | grep -qx 1; }
  await some_are_stored
  victims=$(grep -lsE "(OMPI_COMM_WORLD_RANK|PMI_RANK)=2" /proc/[0-9]*/environ | xargs grep -lsF "$work/killed_$kind.state" | sed 's|/proc/\([0-9]*\)/.*|\1|')
  # Workers inherit the environment of the rank, and are its children.
  rank=
  for victim in $victims; do
    parent=$(sed -n 's/^PPid:\t//p' "/proc/$victim/status" 2>/dev/null)
    case " $(echo $victims) " in *" $parent "*) ;; *) [ -z "$parent" ] || rank=$victim ;; esac
  done
  stored=$(query "$db" 'select count(*) from measurement')
  kill -KILL "$rank" 2>/dev/null
  ! wait $job && [ "$(query "$db" 'select count(*) from measurement')" -ge "$stored" ]
  result_log "$kind: a rank that is killed ends the job, and nothing that was stored is lost" $?
  HALOTUNE_FAKE_DEVICES=3 ranks $kind 3 "$db" >"$work/log" 2>&1 &&
    [ "$(query "$db" 'select count(*), count(distinct variant_id) from measurement where outcome != "running"')" = "$space $space" ]
  result_log "$kind: and the same command goes on: no row is lost, and none is there twice" $?
  export HALOTUNE_MPI="$plugins/$kind/libhalotune-mpi.so"

  # A plug-in of another version, and a library that is no plug-in.
  for version in 'const int halotune_mpi_plugin[16] = {999};:belongs to another Halotune' 'int x;:is no plug-in of Halotune'; do
    echo "${version%%:*}" | ${CC:-gcc} -shared -fPIC -x c -o "$work/other.so" - >"$work/log" 2>&1 &&
      refuses "${version#*:}" launch $kind 3 env HALOTUNE_MPI="$work/other.so" "$messages" echo
    result_log "$kind: a file that ${version#*:}" $?
  done

  if [ -e "$plugins/$other/libhalotune-mpi.so" ]; then
    refuses "launcher and plug-in belong to different MPIs" launch $kind 3 env HALOTUNE_MPI="$plugins/$other/libhalotune-mpi.so" "$messages" echo
    result_log "$kind: its launcher with the plug-in of $other" $?
  fi
done

finish
