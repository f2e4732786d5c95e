#!/bin/sh
# tap.sh PROGRAM...: runs test programs that print TAP, JOBS (1) at a time, shows failures and skipped tests, and counts. The
# last line is "N passed, N failed".
set -u
[ $# -gt 0 ] || { echo "there is no such test" && echo "0 passed, 1 failed" && exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Write each program's output and exit status to files, and print the program's name when it is done.
export CMOCKA_MESSAGE_OUTPUT=TAP
printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I PROGRAM \
  sh -c 'log=$(mktemp -p "$0"); PROGRAM >"$log" 2>&1; echo "$log $? PROGRAM"' "$work" >"$work/done"

passed=0 failed=0
while read -r log status program; do
  ok=$(grep -c '^ok' "$log")
  not_ok=$(grep -c '^not ok' "$log")
  # A program that died or ran no test has failed, whatever it printed before.
  if [ "$not_ok" = 0 ] && { [ "$status" != 0 ] || [ "$ok" = 0 ]; }; then not_ok=1; fi
  grep '^ok .* # SKIP ' "$log"
  passed=$((passed + ok)) failed=$((failed + not_ok))
  if [ "$not_ok" != 0 ]; then
    echo "--- $program (exit status $status)"
    grep -v '^ok' "$log"
  fi
done <"$work/done"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
