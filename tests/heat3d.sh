#!/bin/sh
# heat3d.sh: examples/04_mpi_heat3d.c with Open MPI and MPICH on the driver of tests/fake_cuda, where each rank has a GPU
# of its own: results have the bits of a run on one GPU. FULL=1 tries all decompositions. Prints TAP. Needs build/lib.
set -u
. "$(dirname "$0")/fake_gpu.sh"
. tests/fleet/launch.sh
unset HALOTUNE_FAKE_SKIP
export HALOTUNE_FAKE_DEVICES=8 HALOTUNE_DB="$work/tuned.db"
fake=$(dirname "$library") cuda=${CUDA_HOME:-/usr/local/cuda}
export LD_LIBRARY_PATH="$PWD/build/lib:$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
example=examples/04_mpi_heat3d.c
strict="-std=c99 -O1 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -isystem $cuda/include -Lbuild/lib -lhalotune"

# A file that holds the reproducible winners of both stencils: single steps, and launches of two.
winner() { # stencil grid option...
  stencil=$1 grid=$2
  shift 2
  # shellcheck disable=SC2086
  "$program" tune "$stencil" --grid "$grid" --dtype f32 --reproducible --db "$HALOTUNE_DB" --max-variants 1 $patient "$@"
}
winners() {
  for problem in "star7 21,18,17" "wave25 21,18,37"; do
    # shellcheck disable=SC2086
    winner $problem --steps 1 --template-dir "$templates" --template small || return 1
    # shellcheck disable=SC2086
    winner $problem --steps 2 --template fused_tile --set tile_x=8,tile_y=4,tile_z=4,block_x=64 || return 1
  done
}
# shellcheck disable=SC2086
build() { "mpicc.$1" "$2" -o "$3" $strict -L"$fake" -lfakecuda; } # kind source program
# shellcheck disable=SC2086
links() { "mpicc.$1" "$example" -o "$work/linked" $strict -L"$cuda/lib64/stubs" -lcuda && ! ldd "$work/linked" | grep 'libcudart\|libnvrtc'; }

heat="--grid 23,22,21" wave="--equation wave --grid 21,18,37"
# A run of 5 steps that has the bits of one GPU: in blocks of 2, 2 and 1 if 2 steps are fused.
same() { # ranks fused option...
  ranks=$1 fused=$2
  shift 2
  launch "$kind" "$ranks" "$heat3d" --fused "$fused" --steps 5 --repeat 0 --check "$@" >"$work/out" 2>&1
  status=$?
  cat "$work/out"
  [ $status = 0 ] && grep -q '^all bits are those of one GPU$' "$work/out" && grep -q ", $fused steps* between" "$work/out"
}
differs() { # ranks fused option...
  same "$@"
  [ $status = 1 ] && grep -q 'values differ from those of one GPU$' "$work/out"
}
# One line, from one rank, and an exit code.
refused() { # code words ranks option...
  code=$1 words=$2 ranks=$3
  shift 3
  launch "$kind" "$ranks" "$heat3d" "$@" >"$work/out" 2>&1
  status=$?
  cat "$work/out"
  [ $status = "$code" ] && [ "$(grep -c '^mpi_heat3d: ' "$work/out")" = 1 ] && grep -q "^mpi_heat3d: .*$words" "$work/out"
}
# A rank that ends in the middle ends the job.
# shellcheck disable=SC2086
dies() { # fault
  timeout "$LIMIT_S" mpirun.openmpi --oversubscribe -n 1 "$heat3d" $heat --steps 9 : -n 1 env HALOTUNE_FAKE_FAULT="$1" "$heat3d" $heat --steps 9 >"$work/out" 2>&1
  status=$?
  cat "$work/out"
  [ $status != 0 ] && [ $status != 124 ] && ! grep -q 'a step, ' "$work/out"
}
with() ( # VARIABLE=VALUE command...
  export "${1?}"
  shift
  "$@"
)
product() { echo "$1" | tr ',' ' ' | { read -r x y z && echo $((x * y * z)); }; } # X,Y,Z

if ! command -v mpicc.openmpi >/dev/null || ! launcher_of openmpi >/dev/null; then
  number=1
  echo "ok 1 - 04_mpi_heat3d # SKIP there is no Open MPI: make deps-fleet installs it"
  finish
  exit
fi
kind=openmpi heat3d=$work/heat3d
check "reproducible winners" winners
check "it is built" build openmpi "$example" "$heat3d"
check "it links the driver, not the CUDA runtime" links openmpi

# --- decompositions
# shellcheck disable=SC2086
for parts in 1,1,1 1,1,2 2,1,1 1,2,2 ${FULL:+1,2,1 1,1,4 1,4,1 4,1,1 2,1,2 2,2,1}; do
  for together in 1 2; do
    [ "$parts-$together" = 1,1,1-2 ] || check "heat, $parts ranks, $together steps a block" same "$(product "$parts")" $together $heat --ranks "$parts"
  done
done
# shellcheck disable=SC2086
for parts in 2,2,2 ${FULL:+1,1,8 1,8,1 8,1,1 1,2,4 1,4,2 2,1,4 2,4,1 4,1,2 4,2,1}; do
  for together in ${FULL:+1} 2; do
    check "heat, $parts ranks, $together steps a block" same 8 $together --grid 43,41,45 --ranks "$parts"
  done
done
# shellcheck disable=SC2086
for parts in 1,1,2 ${FULL:+1,1,4 2,1,1 1,2,1}; do
  check "wave, $parts ranks" same "$(product "$parts")" 1 --equation wave --grid 23,25,41 --ranks "$parts"
done
# shellcheck disable=SC2086
check "wave, 1,1,2 ranks, 2 steps a block" same 2 2 $wave --ranks 1,1,2
[ -z "${FULL:-}" ] || check "wave, 2,2,2 ranks, 2 steps a block" same 8 2 --equation wave --grid 35,36,37 --ranks 2,2,2

# --- the order of the streams: work on a lazy stream executes only when something waits for it
for lazy in 1 2 3; do
  for steps in 1 2; do
    # shellcheck disable=SC2086
    check "lazy streams $lazy, $steps steps a block" with HALOTUNE_FAKE_LAZY=$lazy same 2 $steps $heat
  done
done
# Results must differ without a wait, or without a part of the halo.
mutant() { # what LAZY ranks fused edit option...
  what=$1 lazy=$2 number_of_ranks=$3 together=$4 edit=$5
  shift 5
  sed "$edit" "$example" >"$work/mutant.c"
  # shellcheck disable=SC2086
  ! cmp -s "$work/mutant.c" "$example" && mpicc.openmpi "$work/mutant.c" -o "$work/mutant" $strict -Wno-error -L"$fake" -lfakecuda >"$work/log" 2>&1
  result "$what: it is built" $? "$work/log"
  heat3d=$work/mutant
  # shellcheck disable=SC2086
  check "$what: bits differ" with HALOTUNE_FAKE_LAZY=$lazy differs "$number_of_ranks" "$together" $heat "$@"
  heat3d=$work/heat3d
}
mutant "the interior does not wait for faces" 1 2 1 '/cuStreamWaitEvent(s->inside/d'
mutant "faces do not wait for the interior" 2 2 1 '/cuStreamWaitEvent(s->edges/d'
mutant "faces wait for too early an interior" 2 2 2 's/s->fused > 1 ? now : before/before/'
mutant "corners are not sent" 0 4 2 's/askew > s->fused/askew > 1/' --ranks 1,2,2

# --- what goes wrong
check "an option that there is not" refused 2 '--nonsense is wrong; the options are' 2 --nonsense
check "a grid without points" refused 2 '--grid is wrong' 2 --grid 0,9,9
check "a number that is missing" refused 2 '--steps is wrong' 2 --steps
check "a wrong number of ranks" refused 2 'asks for 3 ranks, and there are 2' 2 --ranks 3,1,1
check "parts that are too small" refused 2 'a part of the grid is too small' 2 --grid 9,9,5 --fused 2
check "two ranks on one GPU" with HALOTUNE_FAKE_DEVICES=1 refused 2 'two ranks have the same GPU' 2 --grid 21,18,17
# shellcheck disable=SC2086
check "two ranks on one GPU that are asked for" with HALOTUNE_FAKE_DEVICES=1 same 2 1 $heat --share-gpus
check "no GPU" with HALOTUNE_FAKE_DEVICES=0 refused 2 'no CUDA driver, or no GPU' 2 --grid 21,18,17
check "a rank that dies" dies 'cuLaunchKernel#9=kill:KILL'
check "a kernel that faults" dies 'cuLaunchKernel#9=later:ILLEGAL_ADDRESS'
says_rank() { grep -q '^mpi_heat3d: rank 1: .*CUDA' "$work/out"; }
check "it says which rank" says_rank

# --- the table of scaling
scales() {
  GPUS=2 WEAK=21,18,17 STRONG=21,18,34 STEPS=4 TUNE=0 HEAT3D=$heat3d MPIRUN="mpirun.openmpi --oversubscribe -n" HALOTUNE=$program sh bench/scaling.sh >"$work/out"
  cat "$work/out"
  [ "$(wc -l <"$work/out")" = 10 ] && [ "$(grep -cE '^[|] (weak|strong) [|] (heat|wave) [|] [0-9x]+ [|] [12] [|] [12] [|] (-|host) [|] [0-9.]+ [|] [0-9.]+ [|] [0-9.]+ [|]$' "$work/out")" = 8 ] &&
    grep -q '^| weak | heat | 21x18x34 | 2 |' "$work/out" && grep -q '^| strong | heat | 21x18x34 | 1 |.* 1.000 |$' "$work/out"
}
check "bench/scaling.sh makes its table" scales

# --- the other MPI
if launcher_of mpich >/dev/null && command -v mpicc.mpich >/dev/null; then
  kind=mpich heat3d=$work/heat3d_mpich
  check "mpich: it is built" build mpich "$example" "$heat3d"
  # shellcheck disable=SC2086
  check "mpich: heat, 1,1,2 ranks, 2 steps a block" same 2 2 $heat --ranks 1,1,2
else
  number=$((number + 1))
  echo "ok $number - mpich # SKIP there is no MPICH: make deps-fleet installs it"
fi
finish
