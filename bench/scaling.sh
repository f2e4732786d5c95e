#!/bin/sh
# scaling.sh: how examples/04_mpi_heat3d.c scales over the GPUs of this host. Prints a table in Markdown.
#   weak    each GPU has a grid of $WEAK points; more GPUs make it longer in z
#   strong  $STRONG points in all
# Before that, `halotune tune` looks for reproducible winners of the grids for $TUNE each (0: not at all). GPUS=2 compares one
# and two GPUs. $MPIRUN starts ranks: its next argument is their number. The program is $HEAT3D, or is built with $MPICC.
# Efficiency is the rate of a GPU over that of one GPU alone. A rate counts the points that a step computes.
set -eu
cd "$(dirname "$0")/.."
gpus=${GPUS:-2} weak=${WEAK:-512,512,512} strong=${STRONG:-1024,1024,1024} steps=${STEPS:-400} tune=${TUNE:-60s}
halotune=${HALOTUNE:-build/halotune} cuda=${CUDA_HOME:-/usr/local/cuda} mpirun=${MPIRUN:-mpirun -n}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${HEAT3D:-}" ]; then
  HEAT3D=$work/heat3d
  "${MPICC:-mpicc}" -O2 examples/04_mpi_heat3d.c -o "$HEAT3D" -Iinclude -isystem "$cuda/include" -Lbuild/lib -lhalotune -Wl,-rpath,"$PWD/build/lib" -lcuda
fi

longer() { echo "$1" | awk -F , -v times="$2" '{print $1 "," $2 "," times*$3}'; } # GRID TIMES: longer in z
# Tune for a grid: launches of one step, and of the number that is the fastest.
tuned() { # stencil grid
  [ "$tune" != 0 ] || return 0
  "$halotune" tune "$1" --grid "$2" --dtype f32 --reproducible --budget "$tune" >&2
  "$halotune" tune "$1" --grid "$2" --dtype f32 --reproducible --budget "$tune" --steps 1 >&2
}
rate_of_one=
row() { # what equation grid ranks option...
  what=$1 equation=$2 grid=$3 ranks=$4
  shift 4
  # shellcheck disable=SC2086
  $mpirun "$ranks" "$HEAT3D" --equation "$equation" --grid "$grid" --steps "$steps" "$@" >"$work/out"
  rate=$(sed -n 's|.* \([^ ]*\) points/s a GPU$|\1|p' "$work/out")
  ms=$(sed -n 's|^\([^ ]*\) ms a step,.*|\1|p' "$work/out")
  block=$(sed -n 's|.*, \([0-9]*\) steps* between exchanges.*|\1|p' "$work/out")
  through=$(sed -n 's|.* between exchanges through the \(.*\)|\1|p' "$work/out")
  if [ -z "$rate" ] || [ -z "$ms" ]; then
    cat "$work/out" >&2
    exit 1
  fi
  [ "$ranks" != 1 ] || rate_of_one=$rate
  echo "| $what | $equation | $(echo "$grid" | tr , x) | $ranks | $block | $([ "$ranks" = 1 ] && echo - || echo "$through") | $ms | $(awk -v r="$rate" -v n="$ranks" 'BEGIN {printf "%.1f", r*n*1e-9}') | $(awk -v r="$rate" -v one="$rate_of_one" 'BEGIN {printf "%.3f", r/one}') |"
}
rows() { # what equation option...
  what=$1 equation=$2
  shift 2
  ranks=1
  while [ $ranks -le "$gpus" ]; do
    case $what in weak) grid=$(longer "$weak" $ranks) ;; *) grid=$strong ;; esac
    row "$what" "$equation" "$grid" $ranks "$@"
    ranks=$((2 * ranks))
  done
}

tuned star7 "$weak"
tuned star7 "$strong"
tuned wave25 "$weak"
echo "| scaling | equation | grid | GPUs | steps a block | through | ms a step | 1e9 points/s | efficiency |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
rows weak heat
rows weak heat --fused 1
rows strong heat
rows weak wave
