#!/bin/sh
# slurm.sh: jobs of contrib/slurm in a Slurm of their own on this host, with emulated GPUs. $MESSAGES is the program of
# messages.c. Prints TAP.
set -u
LIMIT_S=${LIMIT_S:-300}
. "$(dirname "$0")/../fake_gpu.sh"
. tests/fleet/launch.sh
. tests/fleet/cluster.sh
unset HALOTUNE_MPI
messages=$(readlink -f "${MESSAGES:?}")
if ! reason=$(can_cluster); then
  echo "ok 1 - Slurm # SKIP $reason"
  echo "1..1"
  exit 0
fi
trap 'cluster_stop; rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
check "a Slurm with four nodes starts on this host" cluster_start

# --- the transport
export HALOTUNE_MPI
for kind in openmpi:pmix mpich:pmi2; do
  interface=${kind#*:} kind=${kind%:*}
  reason=$(can_launch $kind) || { number=$((number + 1)); echo "ok $number - srun --mpi=$interface # SKIP $reason"; continue; }
  HALOTUNE_MPI=$PWD/build/mpi/$kind/libhalotune-mpi.so
  check "srun --mpi=$interface: messages between four nodes" timeout $LIMIT_S srun --mpi=$interface -N4 -n4 "$messages" echo
done
unset HALOTUNE_MPI
one_line() { # words command...
  words=$1
  shift
  ! "$@" >"$work/out" 2>&1 && cat "$work/out" && [ "$(grep -c '^halotune: ' "$work/out")" = 1 ] && grep -q "^halotune: .*$words" "$work/out"
}
check "srun without an interface for MPI: one line" one_line 'without an interface for MPI' timeout $LIMIT_S srun -N4 -n4 "$messages" echo

# --- jobs of contrib/slurm
export HALOTUNE="$program" MPI=pmi2
job="star7 --grid 16,16,16 --dtype f32 --template-dir $templates --template small --strategy exhaustive --budget none --hang-timeout 60s"
query() { sqlite3 "$1" "$2" | tr '|' ' '; } # DB sql
space=32 # variants of the template small
# Submit a job of tune.sbatch, and print its number.
submit() { # name option... -- argument...
  log=$work/$1.log
  shift
  options=
  while [ "$1" != -- ]; do options="$options $1"; shift; done
  shift
  # shellcheck disable=SC2086
  sbatch --parsable --output="$log" $options contrib/slurm/tune.sbatch "$@"
}
# shellcheck disable=SC2086
completes() { # job log
  await_end "$1"
  tail -n 5 "$2"
  job_is "$1" COMPLETED
}

# shellcheck disable=SC2086
id=$(submit one --nodes=1 --ntasks=1 -- $job --db "$work/one.db")
check "a job with one GPU" completes "$id" "$work/one.log"
check "stores each variant, and a winner" [ "$(query "$work/one.db" 'select (select count(*) from measurement), (select count(*) from best where is_current)')" = "$space 1" ]

# shellcheck disable=SC2086
id=$(HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:300" submit many --nodes=2 --ntasks-per-node=2 --gpus-per-task=h200:1 -- $job --db "$work/many.db" --workers 1 --in-flight 6)
check "a job on two nodes with two GPUs each" completes "$id" "$work/many.log"
check "has four GPUs, and one database" grep -q '^4 GPUs took part' "$work/many.log"
check "with each variant once" [ "$(query "$work/many.db" 'select count(*), count(distinct variant_id) from measurement')" = "$space $space" ]

# The time limit is a SIGUSR1 for the script two minutes before it (--signal=B:USR1@120). Here it comes at once.
# shellcheck disable=SC2086
id=$(HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" submit cut --nodes=1 --ntasks=1 -- $job --db "$work/cut.db")
some_are_stored() { query "$work/cut.db" 'select count(*) >= 4 from measurement' 2>/dev/null | grep -qx 1; }
await some_are_stored
scancel --signal=USR1 --batch "$id"
was_requeued() { scontrol show job "$id" | grep -q ' Restarts=1'; }
check "at its time limit a job goes back into the queue" await was_requeued
check "and the same command goes on, to its end" completes "$id" "$work/cut.log"
check "no row is lost, and none is there twice" [ "$(query "$work/cut.db" 'select count(*), count(distinct variant_id) from measurement')" = "$space $space" ]

# A job that is cancelled, and one that has been in the queue often enough.
was_ended() { # job states log
  await_end "$1" && job_is "$1" "$2" && tail -n 5 "$3" && scontrol show job "$1" | grep -q ' Restarts=0' && grep -q 'to go on:' "$3"
}
for case in cancelled:20 often:0; do
  how=${case%:*} restarts=${case#*:}
  # shellcheck disable=SC2086
  id=$(RESTARTS=$restarts HALOTUNE_FAKE_FAULT="cuModuleLoadData=slow:200" submit $how --nodes=1 --ntasks=1 -- $job --db "$work/cut_$how.db" --fresh)
  some_are_stored() { query "$work/cut_$how.db" 'select count(*) >= 2 from measurement' 2>/dev/null | grep -qx 1; }
  await some_are_stored
  if [ $how = cancelled ]; then scancel "$id"; else scancel --signal=USR1 --batch "$id"; fi
  check "a job that is cut short ($how): its search ends in order, and it stays ended" was_ended "$id" "$ENDED" "$work/$how.log"
done

# The commands of docs/fleet.md, as they are printed, on a login node without a driver. What is small is the site: its
# installation and its sources have one template, with four variants, and its plan has four tasks.
unset HALOTUNE MPI
export HOME="$work/home" HALOTUNE_LIBCUDA="$work/no-driver" HALOTUNE_LIBNVML="$work/no-driver"
mkdir "$HOME" "$work/halotune" && ln -s "$PWD"/* "$work/halotune"
awk '/^## /{part = $0} /^```/ {inside = !inside && part == "## Many hosts"; next} inside' docs/fleet.md | sed 's/  *#.*//' >"$work/commands"
check "docs/fleet.md takes ten commands to a merged database" [ "$(wc -l <"$work/commands")" = 10 ]
make_templates_few() {
  folder=$HOME/halotune/share/halotune/templates
  rm "$folder"/*.cu "$folder"/*.yaml "$work/halotune/templates" && cp "$templates/small.cu" "$folder" &&
    sed 's/values: \[1, 2\]/values: [1]/' "$templates/small.yaml" >"$folder/small.yaml"
}
make_tasks_few() {
  sed -i -nE 's/^budget: .*/budget: 2h/; s/(star7.*grid: ).*/\1[16, 16, 16]}/; s/(heat2d.*grid: ).*/\1[64, 64]}/; /^[a-z]|star7|heat2d/p' "$HOME/all.yml" &&
    [ "$(grep -c 'stencil:' "$HOME/all.yml")" = 4 ]
}
no_job_runs() { [ -z "$(squeue -h --me)" ]; }
back=$PWD
if reason=$(can_launch openmpi); then
  cd "$work" || exit 1
  while read -r command <&3; do
    check "$command" eval "$command"
    cp "$work/log" "$work/told"
    case $command in
    "make install"*) check "the site has few templates" make_templates_few ;;
    *--plan*--resume) check "the site's jobs are in the queue" test -s "$work/told" ;;
    *--plan*) check "the site has few tasks" make_tasks_few ;;
    squeue*) check "its jobs end" await no_job_runs ;;
    *query*) check "the answer was measured there" grep -q "^measured .*, on NVIDIA H100 80GB HBM3, 16x16x16," "$work/told" ;;
    sinfo*) for model in h200 h100 a100; do check "Slurm has $model" grep -q "^gpu:$model:4" "$work/told"; done ;;
    esac
  done 3<"$work/commands"
  cd "$back" || exit 1
  check "on each model four GPUs take part" [ "$(grep -l '4 GPUs run 4 tasks side by side' "$FOLDER"/*.log | wc -l)" = 3 ]
  check "the merged database has the winners of all tasks for each model" \
    [ "$(query "$FOLDER/merged.db" 'select group_concat(n) from (select name, count(*) n from (select distinct d.name, p.id from best join problem p on p.id = problem_id join device d on d.id = p.device_id where is_current) group by name)')" = "4,4,4" ]
else
  number=$((number + 1))
  echo "ok $number - the commands of docs/fleet.md # SKIP $reason"
fi
finish
