#!/bin/sh
# check_gpu.sh: tests that need this machine's GPU. Each wrapper and a slice of all variants must be right, and a field
# of more than 2^31 elements as well (it takes 70 GB of the GPU's and of the machine's memory; LARGE=0 skips it).
# Defects that are put into templates must be found. JOBS (4) run at the same time, on the GPUs that DEVICES numbers ('0
# 1 2 3'; else on the first). SAMPLE (24) is the slice of a stencil. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
jobs=${JOBS:-4}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/todo" "$work/done"
if ! command -v jq >/dev/null; then
  echo "not ok 1 - no jq, which reads what stencils there are: install it"
  echo "1..1"
  exit 1
fi

# Each check is a file with its command, and later its result.
add() { # name command...
  name=$1
  shift
  echo "$*" >"$work/todo/$name"
}

add wrappers "$program" selftest --gpu --wrappers
for stencil in $("$program" list stencils --json | jq -r '.[].name'); do
  add "variants_of_$stencil" "$program" selftest --gpu "$stencil" --sample "${SAMPLE:-24}"
done
[ "${LARGE:-1}" = 0 ] ||
  add more_than_2_to_31_elements "$program" selftest --gpu heat2d --dtype f32 --grid 50000,44000 --sample 8
offset=0
while [ "$offset" -lt "$jobs" ]; do
  add "defects_in_templates_$offset" env VERIFY="'selftest --gpu --fail-fast'" HALOTUNE="$program" SLICE="$jobs" OFFSET="$offset" tests/mutations.sh
  offset=$((offset + 1))
done

ls "$work/todo" | WORK=$work xargs -P "$jobs" --process-slot-var=SLOT -I NAME \
  sh -c 'if tests/on_device.sh sh "$WORK/todo/NAME" >"$WORK/done/NAME" 2>&1; then echo "ok NAME"; else echo "not ok NAME"; fi' |
  {
    number=0 failed=0
    while read -r line; do
      number=$((number + 1))
      name=${line##* }
      echo "${line% *} $number - $name: $(tail -n 1 "$work/done/$name")"
      case $line in ok*) continue ;; esac
      failed=$((failed + 1))
      grep -vE '^ok ' "$work/done/$name" | tail -n 40 | sed 's/^/# /'
    done
    echo "1..$number"
    [ "$failed" = 0 ]
  }
