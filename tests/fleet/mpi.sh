#!/bin/sh
# mpi.sh: the transport between real ranks, and searches of four ranks on emulated GPUs, with Open MPI and with MPICH,
# each of which is skipped where its packages are missing. KINDS=openmpi is one of them. $MESSAGES is the program of
# messages.c. Prints TAP.
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
refuses() { # exit code, words that the one line contains; a command follows
  code=$1 words=$2
  shift 2
  "$@" >"$work/log" 2>&1
  got=$?
  echo "exit code $got" >>"$work/log"
  [ $got = "$code" ] && [ "$(lines)" = 1 ] && grep -q "^halotune: .*$words" "$work/log"
}

# A plug-in whose MPI waits for ever for another rank in the call that $WAITS names.
cat >"$work/waits.c" <<EOF
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "include/halotune.h"
#include "tuner/fleet/mpi/plugin.h"
static int place;
static bool is_named(const char *call) { return strcmp(getenv("WAITS"), call) == 0; }
static void stop_if(const char *call) { while (is_named(call)) pause(); }
static int begin(struct fleet_mpi_world *out) {
  stop_if("begin");
  *out = (struct fleet_mpi_world){.rank = atoi(getenv("PMI_RANK")), .size = 2, .host = "here"};
  return 0;
}
static int gather(const void *own, void *all, size_t count, void **request) {
  for (int i = 0; i < 2; i++) memcpy((char *)all + (size_t)i * count, own, count);
  *request = is_named("gather") ? NULL : &place;
  return 0;
}
static int split(int colour, int *rank, int *size) { stop_if("split"); *rank = atoi(getenv("PMI_RANK")); *size = 2; return colour; }
static int look(int *from, size_t *count) { *from = -1; *count = 0; return 0; }
static int hear(int *from, struct fleet_mpi_sign *sign) { (void)sign; *from = -1; return 0; }
static int barrier(bool is_of_job, void **request) {
  static int never;
  *request = is_of_job && (is_named("barrier") || is_named("abort")) ? &never : &place;
  return 0;
}
static int has_ended(void *request, bool *out) { *out = request == &place; return 0; }
static void end_all(int exit_code) { stop_if("abort"); _exit(exit_code); }
static void finish(void) { stop_if("finish"); }
const struct fleet_mpi_plugin halotune_mpi_plugin = {.version = FLEET_MPI_VERSION, .kind = "test", .halotune = HALOTUNE_VERSION,
  .begin = begin, .gather = gather, .split = split, .look = look, .hear = hear, .barrier = barrier, .has_ended = has_ended,
  .abort = end_all, .finish = finish};
EOF
${CC:-gcc} -shared -fPIC -I. -o "$work/waits.so" "$work/waits.c" || exit 1
# Exit codes: 1 where no team was formed; else what `messages orphan` and `messages end` close the link with.
while read -r call rank code mode words; do
  refuses "$code" "$words" env WAITS="$call" PMI_RANK="$rank" PMI_SIZE=2 MPI_LOCALRANKID=0 HALOTUNE_MPI="$work/waits.so" HALOTUNE_MPI_TIMEOUT=0.2 timeout 60 "$messages" "$mode"
  result_log "rank $rank of an MPI that waits for ever to $call: one line, after the limit" $?
done <<EOF
begin 0 1 end MPI has not begun after 0.2 s
gather 0 1 end some of the 2 ranks have said nothing for 0.2 s
split 0 1 end MPI has not formed teams of the 2 ranks after 0.2 s
barrier 0 0 end rank 0 on here: not all ranks have come to the end of the job in 0.2 s
barrier 1 1 end rank 1 on here: no leader of a team has said anything for 0.2 s
abort 1 1 end rank 1 on here: no leader of a team has said anything for 0.2 s
finish 1 0 end rank 1 on here: MPI has not ended after 0.2 s
EOF

query() { sqlite3 "$1" "$2" | tr '|' ' '; } # DB sql
space=32 # variants of the template small
# A search of several ranks.
ranks() { # kind ranks DB option...
  how="launch $1 $2" db=$3
  shift 3
  start_tune "$how" "$db" --workers 1 "$@"
}

# What makes the second rank differ: `second NAME=VALUE command...`, and a word more of its command.
printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ $rank != 1 ] || export "$1"\nshift\nexec "$@"\n' >"$work/second"
printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ $rank != 1 ] || set -- "$@" --fresh\nexec "$@"\n' >"$work/fresh"
printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ $rank != 1 ] || unset HOME XDG_DATA_HOME\nexec "$@"\n' >"$work/homeless"
printf '#!/bin/sh\nrank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}\n[ $rank != 1 ] || export HALOTUNE_MPI=/nowhere/x.so MPI_LOCALRANKID=0 OMPI_COMM_WORLD_LOCAL_RANK=0\nexec "$@"\n' >"$work/lacks"
chmod +x "$work/second" "$work/fresh" "$work/homeless" "$work/lacks"
mkdir "$work/mine" "$work/other"
sed 's/^name: .*/name: mine/' kernels/star7.yaml >"$work/mine/mine.yaml"
sed 's/^name: .*/name: mine/; s/0\.[0-9]*/0.25/' kernels/star7.yaml >"$work/other/mine.yaml"
echo '#include <time.h>
time_t time(time_t *out) { struct timespec now; clock_gettime(CLOCK_REALTIME, &now); now.tv_sec += 3600; if (out) *out = now.tv_sec; return now.tv_sec; }' >"$work/late.c"
${CC:-gcc} -shared -fPIC -o "$work/late.so" "$work/late.c" || exit 1
# A plan of two tasks of one source, for two ranks.
printf 'plan: 1\ntasks:\n  - {stencil: star7, dtype: f32, grid: [16, 16, 16]}\n  - {stencil: star7, dtype: f32, grid: [14, 16, 16]}\n' >"$work/side.yaml"

for kind in ${KINDS:-openmpi mpich}; do
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
  # Ranks that are stopped: each wait for them has an end.
  HALOTUNE_MPI_TIMEOUT=2 refuses 1 "some of the 3 ranks have said nothing for 2 s" launch $kind 3 "$messages" absent
  result_log "$kind: a rank that stops before teams are formed: one line, after the limit" $?
  HALOTUNE_MPI_TIMEOUT=2 launch $kind 4 "$messages" asleep >"$work/log" 2>&1
  [ $? = 7 ] && grep -q '^halotune: rank 0 on .*: rank 1, which leads another team, has said nothing for 2 s' "$work/log"
  result_log "$kind: two teams, of which one's leader stops: the other leader says so, and the job ends with its exit code" $?
  ! launch $kind 3 "$messages" die >"$work/log" 2>&1 && ! grep -q '^rank .*:' "$work/log"
  result_log "$kind: a rank that dies ends the job, with an exit code" $?
  ! launch $kind 3 "$messages" fail >"$work/log" 2>&1
  result_log "$kind: a rank that fails ends the job, with an exit code" $?
  refuses 4 "there is no file /nowhere/x.so" launch $kind 3 env HALOTUNE_MPI=/nowhere/x.so "$program" tune star7 --db "$work/none.db"
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
  HALOTUNE_FAKE_DEVICES=2 refuses 2 'ranks 0 and 2 use the same GPU' ranks $kind 4 "$work/two.db"
  result_log "$kind: two ranks on one GPU" $?
  HALOTUNE_FAKE_DEVICES=2 ranks $kind 4 "$work/two.db" --members 4 >"$work/log" 2>&1 && grep -q '^4 GPUs took part' "$work/log"
  result_log "$kind: which --members allows" $?
  HALOTUNE_LIBCUDA=/nowhere refuses 3 'rank 0 on .* (and 2 more of 3 ranks): no CUDA driver' ranks $kind 3 "$work/none.db"
  result_log "$kind: hosts without a driver" $?
  refuses 4 "no stencil 'nonsense'" launch $kind 3 "$program" tune nonsense
  result_log "$kind: a stencil that there is none of" $?
  refuses 2 'leave out --device all' launch $kind 3 "$program" tune star7 --device all
  result_log "$kind: --device all" $?
  refuses 4 "there is no file /nowhere/x.so" launch $kind 3 "$work/lacks" "$program" tune star7 --db "$work/none.db"
  result_log "$kind: no plug-in on the host of the second rank: one line from that rank, and the job ends" $?
  # The second rank differs: first its host has no driver, and then another model of GPU.
  HALOTUNE_FAKE_DEVICES=3 refuses 3 'rank 1 on [^ ]*: no CUDA driver' start_tune "launch $kind 3 $work/second HALOTUNE_LIBCUDA=/nowhere" "$work/none.db"
  result_log "$kind: one host without a driver" $?
  HALOTUNE_FAKE_DEVICES=3 start_tune "launch $kind 3 $work/second HALOTUNE_FAKE_NAME=Other" "$work/mixed_$kind.db" --workers 1 >"$work/log" 2>&1 &&
    [ "$(query "$work/mixed_$kind.db" 'select count(*), count(distinct p.device_id) from best b join problem p on p.id = b.problem_id where b.is_current')" = "2 2" ]
  result_log "$kind: ranks of two models give one database with winners for each" $?
  export HALOTUNE_FAKE_DEVICES=3
  mine="--grid 16,16,16 --template-dir $templates --template small --strategy random --max-variants 2 $patient --db $work/mine_$kind.db"
  # shellcheck disable=SC2086
  { HALOTUNE_PATH=$work/mine refuses 4 "rank 1 on [^ ]*: no stencil 'mine'" launch $kind 3 "$work/second" HALOTUNE_PATH=/nowhere "$program" tune mine $mine
    result_log "$kind: a stencil that one rank does not find" $?
    HALOTUNE_PATH=$work/mine refuses 2 'rank 1 on [^ ]* has other stencils than rank 0' launch $kind 3 "$work/second" HALOTUNE_PATH="$work/other" "$program" tune mine $mine
    result_log "$kind: a stencil that is another one on one rank" $?
    HALOTUNE_PATH=$work/mine refuses 2 'another command than rank 0' launch $kind 3 "$work/fresh" "$program" tune mine $mine
    result_log "$kind: a rank with another command" $?
    HALOTUNE_DB=$work/a.db HALOTUNE_PATH=$work/mine refuses 2 "rank 1 on [^ ]* would store into $work/b.db" launch $kind 3 "$work/second" HALOTUNE_DB="$work/b.db" "$program" tune mine ${mine% --db *}
    result_log "$kind: a rank with another database" $?
    HALOTUNE_PATH=$work/mine refuses 1 'rank 1 on [^ ]*: there is no default path for the database' launch $kind 3 "$work/homeless" "$program" tune mine ${mine% --db *}
    result_log "$kind: a rank without \$HOME" $?
    HALOTUNE_PATH=$work/mine launch $kind 3 "$work/second" LD_PRELOAD="$work/late.so" "$program" tune mine $mine >"$work/log" 2>&1 &&
      [ "$(grep -c '^halotune: the clock of rank 1 on .* is [56][0-9] minutes ahead of that of rank 0' "$work/log")" = 1 ]
    result_log "$kind: a rank whose clock is an hour ahead: one line, and it goes on" $?; }
  launch $kind 2 "$program" tune --plan "$work/side.yaml" --resume --template-dir "$templates" --template small --strategy exhaustive --budget none \
    --hang-timeout 60s --db "$work/side_$kind.db" --json --workers 1 >"$work/out" 2>"$work/log" &&
    jq -e '.tasks | all(.complete and .tried == '$space') and (map(.gpus | length) == [1, 1]) and (map(.gpus[0].uuid) | unique | length == 2)' "$work/out" >/dev/null
  result_log "$kind: two ranks run tasks side by side" $?
  unset HALOTUNE_FAKE_DEVICES
  # A rank is killed: the job ends, and the same command goes on.
  db=$work/killed_$kind.db
  HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" HALOTUNE_FAKE_DEVICES=3 HALOTUNE_FAKE_STATE="$work/killed_$kind.state" ranks $kind 3 "$db" >"$work/log" 2>&1 &
  job=$!
  some_are_stored() { query "$db" 'select count(*) >= 4 from measurement' 2>/dev/null | grep -qx 1; }
  await some_are_stored
  rank=$(process_of_rank 2 "$work/killed_$kind.state")
  stored=$(query "$db" 'select count(*) from measurement')
  kill -KILL "$rank" 2>/dev/null
  ! wait $job && [ "$(query "$db" 'select count(*) from measurement')" -ge "$stored" ]
  result_log "$kind: a rank that is killed ends the job, and nothing that was stored is lost" $?
  HALOTUNE_FAKE_DEVICES=3 ranks $kind 3 "$db" >"$work/log" 2>&1 &&
    [ "$(query "$db" 'select count(*), count(distinct variant_id) from measurement where outcome != "running"')" = "$space $space" ]
  result_log "$kind: and the same command goes on: no row is lost, and none is there twice" $?
  export HALOTUNE_MPI="$plugins/$kind/libhalotune-mpi.so"

  # A plug-in of another version, and a library that is no plug-in.
  for version in 'const int halotune_mpi_plugin[16] = {999};:belongs to another Halotune' 'int x;:is not a plug-in of Halotune'; do
    echo "${version%%:*}" | ${CC:-gcc} -shared -fPIC -x c -o "$work/other.so" - >"$work/log" 2>&1 &&
      refuses 1 "${version#*:}" launch $kind 3 env HALOTUNE_MPI="$work/other.so" "$messages" echo
    result_log "$kind: a file that ${version#*:}" $?
  done

  if [ -e "$plugins/$other/libhalotune-mpi.so" ]; then
    refuses 1 "launcher and plug-in belong to different MPIs" launch $kind 3 env HALOTUNE_MPI="$plugins/$other/libhalotune-mpi.so" "$messages" echo
    result_log "$kind: its launcher with the plug-in of $other" $?
  fi
done

finish
