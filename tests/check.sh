#!/bin/sh
# check.sh: what `make check` runs, step by step. Each step's output is kept in build/check/STEP.log and shown if the step
# fails; a step that counts tests ends with "N passed, N failed", any other counts as one. The last line is their sum.
set -u
make=${MAKE:-make}
jobs=$(nproc)
mkdir -p build/check
passed=0 failed=0

step() { # name command...
  name=$1 log=build/check/$1.log
  shift
  start=$(date +%s)
  "$@" >"$log" 2>&1
  status=$?
  ok=$(sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  not_ok=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  if [ $((ok + not_ok)) = 0 ] && [ $status = 0 ]; then ok=1; fi
  if [ $status != 0 ] && [ "$not_ok" = 0 ]; then not_ok=1; fi
  passed=$((passed + ok)) failed=$((failed + not_ok))
  printf '%-9s %5d passed %3d failed %4d s\n' "$name" "$ok" "$not_ok" $(($(date +%s) - start))
  [ "$not_ok" = 0 ] || tail -n 60 "$log"
}

run_make() { $make --no-print-directory -j"$jobs" "$@"; }

# A command that uses what other steps leave of the processors: begun here, and a step of its own, `await NAME`, later.
begin() { # name command...
  name=$1
  shift
  { nice -n 19 "$@" >"build/check/$name.out" 2>&1; echo $? >"build/check/$name.status"; } &
}
await() { # name
  wait
  cat "build/check/$1.out"
  return "$(cat "build/check/$1.status")"
}
builds_static() { run_make STATIC=1 CFLAGS=-O0 all && ldd build/halotune && ! ldd build/halotune | grep -E 'yaml|jansson|xxhash|sqlite'; }

step gcc run_make CC=gcc WERROR=1 tests
step clang run_make CC=clang WERROR=1 CFLAGS=-O0 tests  # for its warnings
step static builds_static
step all run_make all
step unit run_make unit
# Many of the next steps wait more than they compute, or use one processor.
begin templates $make --no-print-directory -j"$jobs" templates SLICE=3
begin tidy $make --no-print-directory -j"$jobs" tidy SLICE=3
begin fuzz $make --no-print-directory -j"$jobs" fuzz FUZZ_SECONDS=10 FUZZ_INPUT_SECONDS=100  # all others come first
step cli run_make cli
step docs run_make docs
step library run_make library-tests
step examples run_make examples
step report run_make report
step mutations run_make mutations SLICE=6
step variants run_make variants
step tune run_make tune-tests
step faults run_make faults
step selftest run_make selftest
step protocol run_make protocol
step asan run_make asan
step templates await templates
step tidy await tidy
step fuzz await fuzz

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
