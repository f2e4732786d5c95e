#!/bin/sh
# gpu_ranks.sh [OPTION...]: two ranks of MPI on this machine's first GPU. As a team they share a task of `halotune tune`,
# which gets the options. Then examples/04_mpi_heat3d.c has the bits of one rank, on the grid $GRID and with its sides
# swapped. $MPI is openmpi or mpich. The exit code is 0 if all is right.
set -eu
cd "$(dirname "$0")/.."
. tests/fleet/launch.sh
kind=${MPI:-openmpi} grid=${GRID:-256,240,224} cuda=${CUDA_HOME:-/usr/local/cuda} program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
reason=$(can_launch "$kind") || { echo "$reason"; exit 1; }
export HALOTUNE_DB="$work/tuned.db"
"mpicc.$kind" -O2 -Iinclude -isystem "$cuda/include" examples/04_mpi_heat3d.c -o "$work/heat3d" -Lbuild/lib -lhalotune -Wl,-rpath,"$PWD/build/lib" \
  -L"$cuda/lib64/stubs" -lcuda

# Show what a command prints, and fail as it does.
shown() {
  code=0
  "$@" >"$work/out" 2>&1 || code=$?
  cat "$work/out"
  return $code
}

shown launch "$kind" 2 "$program" tune star7 --grid "$grid" --dtype f32 --reproducible --steps 1 --device 0 --members 2 --budget 20s "$@"
grep -q '^2 GPUs took part' "$work/out"
turned=$(echo "$grid" | awk -F , '{print $3 "," $2 "," $1}')
for options in "--grid $grid" "--grid $turned --ranks 1,2,1" "--grid $grid --equation wave"; do
  # shellcheck disable=SC2086
  CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0} shown launch "$kind" 2 "$work/heat3d" $options --steps 20 --repeat 0 --share-gpus --check
  grep -qx 'all bits are those of one GPU' "$work/out"
done
