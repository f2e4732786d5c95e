#!/bin/sh
# tap.sh PROGRAM...: run test programs that speak TAP, show what failed, count. The last line is "N passed, N failed".
set -u
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
for program in "$@"; do
  CMOCKA_MESSAGE_OUTPUT=TAP "$program" >"$log" 2>&1
  status=$?
  ok=$(grep -c '^ok' "$log")
  not_ok=$(grep -c '^not ok' "$log")
  # A program that died or ran nothing has failed, whatever it printed before.
  if [ "$not_ok" = 0 ] && { [ "$status" != 0 ] || [ "$ok" = 0 ]; }; then not_ok=1; fi
  passed=$((passed + ok)) failed=$((failed + not_ok))
  if [ "$not_ok" != 0 ]; then
    echo "--- $program (exit status $status)"
    grep -v '^ok' "$log"
  fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
