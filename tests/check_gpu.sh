#!/bin/sh
# check_gpu.sh [list]: tests that need this machine's GPU. Each wrapper and a slice of all variants must be right, and a
# field of more than 2^31 elements as well. Its single steps take 70 GB of the GPU's memory and 90 GB of the machine's
# (the reference's doubles), and several steps would take 125 GB of that. LARGE=0 skips it.
# Defects that are put into templates must be found. gpu_queue.sh runs the checks, and says what JOBS and DEVICES do.
# `list` prints the checks for it. SAMPLE (24) is the slice of a stencil. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
if ! command -v jq >/dev/null; then
  echo "not ok 1 - no jq, which reads what stencils there are: install it"
  echo "1..1"
  exit 1
fi

add() { # name command...
  name=$1
  shift
  printf '%s\t%s\n' "$name" "$*"
}
list() {
  add wrappers "$program" selftest --gpu --wrappers
  for stencil in $("$program" list stencils --json | jq -r '.[].name'); do
    add "variants_of_$stencil" "$program" selftest --gpu "$stencil" --sample "${SAMPLE:-24}"
  done
  [ "${LARGE:-1}" = 0 ] || add more_than_2_to_31_elements "$program" selftest --gpu heat2d --dtype f32 --grid 50000,44000 --sample 8 --single-steps
  # A check has at most 12 defects, so that one that is cut short loses little.
  awk -v only="${TEMPLATE:-}" '!/^#/ && (only == "" || $1 == only) {count[$1]++} END {
    for (template in count) for (first = 1; first <= count[template]; first += 12) print template, first, first + 11
  }' tests/data/mutations.txt | sort | while read -r template first last; do
    add "defects_in_${template}_$first" env VERIFY="'selftest --gpu --fail-fast'" HALOTUNE="$program" TEMPLATE="$template" ROW="${ROW:-$first-$last}" tests/mutations.sh
  done
}
if [ "${1:-}" = list ]; then list; else list | tests/gpu_queue.sh; fi
