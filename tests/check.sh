#!/bin/sh
# check.sh: runs the steps of `make check`. $CHECK_LOGS/STEP.log (build/check by default) holds the output of each step
# and is printed if the step fails. A step that counts its tests ends with "N passed, N failed"; any other step counts
# as one test. The line of a step has its duration and the processor time of all its processes; the two differ where
# steps run at the same time. The last line is the sum. STEP=NAME runs one step, CASE=NAME one case of that step.
set -u
make=${MAKE:-make} only=${STEP:-}
jobs=$(nproc)
steps="gcc clang static unit cli hostile docs library install bindings examples report mutations variants tune faults selftest protocol asan templates tidy fuzz"
with_cases="unit cli docs mutations variants protocol templates"
passed=0 failed=0 steps_run=0 cpu_s=0

refuse() { # why
  echo "check: $1" >&2
  exit 2
}
is_in() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac } # word list
[ -z "$only" ] || is_in "$only" "$steps" || refuse "there is no step $only; the steps are: $steps"
[ -z "${CASE:-}" ] || is_in "${only:-none}" "$with_cases" || refuse "CASE needs one of these steps in STEP: $with_cases"
logs=${CHECK_LOGS:-build/check}
mkdir -p "$logs"

is_wanted() { [ -z "$only" ] || [ "$only" = "$1" ]; } # step

# Run a command in a subshell, and write the processor time of its processes into a file.
timed() ( # file command...
  file=$1
  shift
  "$@"
  status=$?
  times >"$file"
  exit $status
)
# The seconds in such a file: user and system time of the shell, and of its processes.
cpu_seconds() { # file
  sed 's/[ms]/ /g' "$1" | awk '{sum += 60*($1 + $3) + $2 + $4} END {printf "%.0f", sum}'
}

step() { # name command...
  is_wanted "$1" || return 0
  name=$1 log=$logs/$1.log
  shift
  start=$(date +%s)
  if [ "$1" = await ]; then "$@" >"$log" 2>&1; else timed "$logs/$name.times" "$@" >"$log" 2>&1; fi
  status=$?
  step_cpu_s=$(cpu_seconds "$logs/$name.times") cpu_s=$((cpu_s + step_cpu_s))
  ok=$(sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  not_ok=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  if [ $((ok + not_ok)) = 0 ] && [ $status = 0 ]; then ok=1; fi
  if [ $status != 0 ] && [ "$not_ok" = 0 ]; then not_ok=1; fi
  passed=$((passed + ok)) failed=$((failed + not_ok)) steps_run=$((steps_run + 1))
  printf '%-9s %5d passed %3d failed %4d s %5d s of processor\n' "$name" "$ok" "$not_ok" $(($(date +%s) - start)) "$step_cpu_s"
  [ "$not_ok" = 0 ] || tail -n 60 "$log"
}

run_make() { $make --no-print-directory -j"$jobs" "$@"; }

# Start a command in the background. `step NAME await NAME` collects its result later.
begin() { # name command...
  is_wanted "$1" || return 0
  name=$1
  shift
  timed "$logs/$name.times" "$@" >"$logs/$name.out" 2>&1 &
  echo $! >"$logs/$name.pid"
}
await() { # name
  wait "$(cat "$logs/$1.pid")"
  ended=$?
  cat "$logs/$1.out"
  return $ended
}
# Start a background step with low priority, which uses only processor time that the other steps leave.
begin_nice() { # name targets and variables of make...
  name=$1
  shift
  begin "$name" nice -n 19 $make --no-print-directory -j"$jobs" "$@"
}
builds_static() { run_make STATIC=1 all && ldd build/halotune && ! ldd build/halotune | grep -E 'yaml|jansson|xxhash|sodium|sqlite' && run_make all; }

# Two compilations: gcc's, which most steps use, and clang's with sanitizers, which shows clang's warnings and is used
# by asan and fuzz.
step gcc run_make CC=gcc WERROR=1 all fake-cuda library
step clang run_make asan-build CC=clang
step static builds_static
# asan runs most unit tests. STEP=unit runs all of them with gcc.
if [ -z "$only" ]; then step unit run_make unit LEFT=1; else step unit run_make unit; fi
# Most steps below use one processor, or wait more than they compute, so some of them run at the same time.
begin_nice templates templates SLICE=26
begin_nice tidy tidy SLICE=32
# An input needs milliseconds of processor time, but other steps can keep it waiting for minutes.
begin_nice fuzz fuzz COMPARISONS= FUZZ_SECONDS=5 FUZZ_INPUT_SECONDS=1800
step cli run_make cli
step hostile run_make hostile
step docs run_make docs
step library run_make library-tests
step install run_make install-tests
step bindings run_make bindings-tests
step examples run_make examples
begin faults run_make faults # its hangs sleep for minutes
begin report run_make report
step mutations run_make mutations SLICE=24
step variants run_make variants
step report await report
step tune run_make tune-tests
step selftest run_make selftest
step protocol run_make protocol
step asan run_make asan CC=clang SLICE=13
step faults await faults
step templates await templates
step tidy await tidy
step fuzz await fuzz

echo "all steps: $cpu_s s of processor"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$steps_run" -gt 0 ]
