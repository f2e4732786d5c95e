#!/bin/sh
# kill.sh: tune on the emulation is killed at random moments: itself, or one of its children. What was stored stays whole, the next run
# finishes, and nothing is left running. SEED (1) and ROUNDS (2) say when and how often; SECONDS_LONG goes on for so long. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/parts.sh"
export ASAN_OPTIONS=allocator_may_return_null=1
seed=${SEED:-1} rounds=${ROUNDS:-2}
echo "# SEED=$seed"
become_tune() { exec "$halotune" tune heat2d --backend host --dtype f32 --grid 16,8 --template direct --max-variants 2 --db "$work/k.db"; }
children_of() { # PID: it and all below it
  echo "$1"
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do children_of "$child"; done
}
end=$(($(date +%s) + ${SECONDS_LONG:-0})) round=0
while [ "$round" -lt "$rounds" ] || [ "$(date +%s)" -lt "$end" ]; do
  round=$((round + 1))
  rm -rf "$work/k.db"* "$work/cache"
  (become_tune) >"$work/out" 2>&1 &
  tuner=$!
  sleep "$(awk -v seed="$seed$round" 'BEGIN {srand(seed); printf "%.2f", rand() * 2}')"
  # The first victim is the tuner itself, then any process of the tree. They are ours: the list begins at our child.
  family=$(children_of $tuner)
  victim=$(echo "$family" | awk -v seed="$seed$round" -v odd=$((round % 2)) '{line[NR] = $1} END {srand(seed); print odd ? line[1] : line[1 + int(rand() * NR)]}')
  kill -9 "$victim" 2>/dev/null
  wait $tuner
  ended=$?
  wrong=
  [ ! -e "$work/k.db" ] || "$halotune" db check --db "$work/k.db" >"$work/said" 2>&1 || wrong="$wrong damaged"
  (become_tune) >"$work/said" 2>&1 || wrong="$wrong rerun:$?"
  "$halotune" db check --db "$work/k.db" >/dev/null 2>&1 || wrong="$wrong damaged-by-rerun"
  [ -z "$(find "$work/cache" -name 'compile-*')" ] || wrong="$wrong leftovers"
  for member in $family; do
    waited=0 # processes that lose their parent end by themselves; the limit guards against hanging
    while [ -e "/proc/$member/exe" ] && readlink "/proc/$member/exe" >/dev/null && [ $waited -lt 600 ]; do sleep 0.1; waited=$((waited + 1)); done
    [ $waited -lt 600 ] || wrong="$wrong still-running"
  done
  [ -z "$wrong" ]
  result "round $round, seed $seed: process $victim of $(echo "$family" | wc -l) killed, tune ended with $ended:${wrong:- all is whole}" $?
done
finish
