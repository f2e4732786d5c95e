#!/bin/sh
# check_gpu.sh: what can be shown on this machine's GPU alone: a slice of all variants and each wrapper is right; a field of more than
# 2^31 elements is, too (70 GB of the GPU's memory and of the machine's; LARGE=0 leaves it out); and defects put into templates are
# found. Speaks TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
number=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

check() { # name command...
  name=$1
  shift
  number=$((number + 1))
  if "$@" >"$log" 2>&1; then
    echo "ok $number - $name: $(tail -n 1 "$log")"
  else
    failed=$((failed + 1))
    echo "not ok $number - $name"
    tail -n 40 "$log" | sed 's/^/# /'
  fi
}

check "a slice of all variants, and the wrappers" "$program" selftest --gpu --sample "${SAMPLE:-24}"
[ "${LARGE:-1}" = 0 ] ||
  check "more than 2^31 elements" "$program" selftest --gpu heat2d --dtype f32 --grid 50000,44000 --sample 8
check "defects in templates" env VERIFY='selftest --gpu --fail-fast' HALOTUNE="$program" tests/mutations.sh
echo "1..$number"
[ "$failed" = 0 ]
