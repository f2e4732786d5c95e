#!/bin/sh
# check.sh: runs the steps of `make check`. $CHECK_LOGS/STEP.log (build/check by default) holds the output of each step
# and is printed if the step fails. What a step skipped is always printed, with the reason. A step that counts its tests
# ends with "N passed, N failed"; any other step counts as one test. The line of a step has its duration and the
# processor time of all its processes; the two differ where steps run at the same time. The last line is the sum.
# STEP=NAME runs one step, CASE=NAME one case of that step.
set -u
export MAKE="${MAKE:-make}" CHECK_LOGS="${CHECK_LOGS:-build/check}"
only=${STEP:-}
jobs=$(nproc)
# One after the other: two compilations, gcc's, which most steps use, and clang's with sanitizers, which shows clang's
# warnings and is used by asan and fuzz. Together they build all that the other steps would build.
builds="gcc clang static"
# At the same time: these take one processor each, or wait more than they compute. Those that take longest begin first.
tests="tune cli fleet faults asan report unit selftest templates variants tidy hostile protocol docs mutations install library bindings fuzz examples"
with_cases="unit cli docs mutations variants protocol templates"

refuse() { # why
  echo "check: $1" >&2
  exit 2
}
is_in() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac } # word list
run_make() { $MAKE --no-print-directory -j"$jobs" "$@"; }
builds_static() { run_make STATIC=1 all && ldd build/halotune && ! ldd build/halotune | grep -E 'yaml|jansson|xxhash|sodium|sqlite' && run_make all; }

# Do the work of a step.
run_step() { # step
  case $1 in
  gcc) run_make CC=gcc WERROR=1 check-build ;;
  clang) run_make asan-build CC=clang ;;
  static) builds_static ;;
  # asan runs most unit tests. STEP=unit runs all of them with gcc.
  unit) if [ -z "$only" ]; then run_make unit LEFT=1; else run_make unit; fi ;;
  cli) if [ -z "$only" ]; then run_make cli SLOW=4; else run_make cli; fi ;;
  library) run_make library-tests ;;
  install) run_make install-tests ;;
  bindings) run_make bindings-tests ;;
  mutations) run_make mutations SLICE=24 ;;
  tune) run_make tune-tests ;;
  asan) run_make asan CC=clang SLICE=14 ;;
  templates) run_make templates SLICE=40 ;;
  tidy) run_make tidy SLICE=48 ;;
  # An input needs milliseconds of processor time, but other steps can keep it waiting for minutes.
  fuzz) run_make fuzz COMPARISONS= FUZZ_SECONDS=5 FUZZ_INPUT_SECONDS=1800 ;;
  *) run_make "$1" ;;
  esac
}

# The processor time in a file of `times`: user and system time of the shell, and of its processes.
cpu_seconds() { # file
  sed 's/[ms]/ /g' "$1" | awk '{sum += 60*($1 + $3) + $2 + $4} END {printf "%.0f", sum}'
}

# Run a step, write its result into a file, and print that file at once, so that the lines of two steps do not mix.
run_and_tell() { # step
  log=$CHECK_LOGS/$1.log start=$(date +%s)
  (
    run_step "$1"
    status=$?
    times >"$CHECK_LOGS/$1.times"
    exit $status
  ) >"$log" 2>&1
  status=$?
  ok=$(sed -n 's/^\([0-9]*\) passed, [0-9]* failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  not_ok=$(sed -n 's/^[0-9]* passed, \([0-9]*\) failed$/\1/p' "$log" | awk '{sum += $1} END {print sum + 0}')
  if [ $((ok + not_ok)) = 0 ] && [ $status = 0 ]; then ok=1; fi
  if [ $status != 0 ] && [ "$not_ok" = 0 ]; then not_ok=1; fi
  {
    printf '%-9s %5d passed %3d failed %4d s %5d s of processor\n' "$1" "$ok" "$not_ok" $(($(date +%s) - start)) "$(cpu_seconds "$CHECK_LOGS/$1.times")"
    sed -nE 's/^ok [0-9]* ?- (.*)# SKIP (.*)/          skipped: \1(\2)/p' "$log"
    [ "$not_ok" = 0 ] || tail -n 60 "$log"
  } >"$CHECK_LOGS/$1.result"
  cat "$CHECK_LOGS/$1.result"
}

if [ $# = 1 ]; then # xargs below
  run_and_tell "$1"
  exit 0
fi
steps="$builds $tests"
[ -z "$only" ] || is_in "$only" "$steps" || refuse "there is no step $only; the steps are: $steps"
[ -z "${CASE:-}" ] || is_in "${only:-none}" "$with_cases" || refuse "CASE needs one of these steps in STEP: $with_cases"
mkdir -p "$CHECK_LOGS"
steps=${only:-$steps}
for step in $steps; do rm -f "$CHECK_LOGS/$step.result"; done
for step in $builds; do ! is_in "$step" "$steps" || run_and_tell "$step"; done
# One step more than there are processors, because some wait.
for step in $tests; do ! is_in "$step" "$steps" || echo "$step"; done | xargs -r -P $((jobs + 1)) -n 1 "$0"

cpu_s=0
for step in $steps; do
  [ -s "$CHECK_LOGS/$step.result" ] || echo "$step 0 passed 1 failed: it has no result" | tee "$CHECK_LOGS/$step.result"
  [ ! -s "$CHECK_LOGS/$step.times" ] || cpu_s=$((cpu_s + $(cpu_seconds "$CHECK_LOGS/$step.times")))
done
echo "all steps: $cpu_s s of processor"
for step in $steps; do head -n 1 "$CHECK_LOGS/$step.result"; done | awk '{ok += $2; not_ok += $4} END {print ok " passed, " not_ok " failed"; exit not_ok > 0 || NR == 0}'
