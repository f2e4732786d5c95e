#!/bin/sh
# fuzz.sh PROGRAM: runs a libFuzzer program for FUZZ_SECONDS, with every stencil file of the repository as a seed.
# Inputs that it finds are kept in build/fuzz/NAME for the next run. The last line says how much was tried. An input
# that fails, or takes longer than FUZZ_INPUT_SECONDS (10), is named.
set -u
program=$1
name=$(basename "$program")
work=build/fuzz/$name
log=$work/log
mkdir -p "$work/corpus"

# Seeds: stencils, malformed stencils, documents of databases, and inputs that failed before.
find kernels examples/solvers tests/data/*.yaml tests/data/bad tests/data/db tests/fuzz/corpus -type f ! -name '*.expected' 2>/dev/null | paste -s -d, >"$work/seeds"
set -- -seed_inputs=@"$work/seeds" -artifact_prefix="$work/" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=65536 \
  -timeout="${FUZZ_INPUT_SECONDS:-10}" -print_final_stats=1
[ -e "tests/fuzz/$name.dict" ] && set -- "$@" -dict="tests/fuzz/$name.dict"

start=$(date +%s)
UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 "$program" "$@" "$work/corpus" >"$log" 2>&1
status=$?
seconds=$(($(date +%s) - start))
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
if [ $status != 0 ]; then
  grep -E 'ERROR|SUMMARY|runtime error' "$log" | head -n 20
  file=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  echo "$name failed (exit status $status) on ${file:-an unknown input}; all of its words are in $log"
  exit 1
fi
if [ "${executions:-0}" = 0 ]; then
  echo "$name tried nothing; all of its words are in $log"
  exit 1
fi
echo "$name: $executions executions in $seconds seconds"
