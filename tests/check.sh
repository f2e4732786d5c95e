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

# A command that is begun here, beside other steps, and a step of its own, `await NAME`, later.
begin() { # name command...
  name=$1
  shift
  { "$@" >"build/check/$name.out" 2>&1; echo $? >"build/check/$name.status"; } &
  echo $! >"build/check/$name.pid"
}
await() { # name
  wait "$(cat "build/check/$1.pid")"
  cat "build/check/$1.out"
  return "$(cat "build/check/$1.status")"
}
# One that waits for nothing uses what others leave of the processors.
begin_nice() { # name targets and variables of make...
  name=$1
  shift
  begin "$name" nice -n 19 $make --no-print-directory -j"$jobs" "$@"
}
builds_static() { run_make STATIC=1 CFLAGS=-O0 all && ldd build/halotune && ! ldd build/halotune | grep -E 'yaml|jansson|xxhash|sqlite'; }

step gcc run_make CC=gcc WERROR=1 tests
step clang run_make CC=clang WERROR=1 CFLAGS=-O0 tests  # for its warnings
step static builds_static
step all run_make all fake-cuda
step unit run_make unit
# Most of the next steps use one processor, or wait more than they compute: some of them go side by side. Not so `tune`, whose times are
# doubted and taken again where the machine is busy.
begin_nice templates templates SLICE=6
begin_nice tidy tidy SLICE=4
begin_nice fuzz fuzz FUZZ_SECONDS=5 FUZZ_INPUT_SECONDS=100  # all others come first
step cli run_make cli
step docs run_make docs
step library run_make library-tests
step examples run_make examples
begin report run_make report
step mutations run_make mutations SLICE=6
step variants run_make variants
step report await report
step tune run_make tune-tests
begin faults run_make faults
step selftest run_make selftest
step protocol run_make protocol
step faults await faults
step asan run_make asan
step templates await templates
step tidy await tidy
step fuzz await fuzz

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
