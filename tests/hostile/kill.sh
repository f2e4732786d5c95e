#!/bin/sh
# kill.sh: tune on the emulation is killed: itself or one of its children, at random moments while it compiles, and while a variant runs.
# What was stored stays whole, the next run finishes, and nothing is left running. SEED (1) and ROUNDS (2) say when and how often; SECONDS_LONG goes on for so long. Prints TAP.
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
# A process that has ended and was not waited for yet has no program any more, though kill -0 finds it.
is_running() { readlink "/proc/$1/exe" >/dev/null 2>&1; } # PID
# Wait until a process of the tree runs a variant, and print it; nothing if tune ends before.
runner_of() { # PID
  looks=6000
  while is_running "$1" && [ $looks -gt 0 ]; do
    for member in $(children_of "$1"); do
      case $(readlink "/proc/$member/exe") in *.runner) echo "$member" && return ;; esac
    done
    looks=$((looks - 1))
    sleep 0.01
  done
}
end=$(($(date +%s) + ${SECONDS_LONG:-0})) round=0 misses=0
while [ "$round" -lt "$rounds" ] || [ "$(date +%s)" -lt "$end" ]; do
  round=$((round + 1))
  kind=$((round % 4)) # 1, 2: while it compiles; 3, 0: while a variant runs that is compiled already. 1, 3: tune itself; 2, 0: a child
  rm -rf "$work/k.db"*
  case $kind in 1 | 2) rm -rf "$work/cache" ;; esac
  (become_tune) >"$work/out" 2>&1 &
  tuner=$!
  runner=
  case $kind in
    1 | 2) sleep "$(awk -v seed="$seed$round" -v misses=$misses 'BEGIN {srand(seed); printf "%.2f", rand() * 2 / 2 ^ misses}')" ;;
    *) runner=$(runner_of $tuner) ;;
  esac
  # They are ours: the list begins at our child.
  family=$(children_of $tuner)
  case $kind in
    1 | 3) victim=$tuner ;;
    2) victim=$(echo "$family" | awk -v seed="$seed$round" '{line[NR] = $1} END {srand(seed); print line[1 + int(rand() * NR)]}') ;;
    0) victim=$runner ;;
  esac
  wrong=
  case $kind in 3 | 0) [ -n "$runner" ] || wrong=" no-variant-ran" ;; esac
  # A process that ended before is not killed: the round is repeated, and kills sooner.
  { [ -n "$victim" ] && is_running "$victim" && kill -9 "$victim" 2>/dev/null; } || wrong="$wrong not-killed"
  wait $tuner
  ended=$?
  if [ -n "$wrong" ] && [ $misses -lt 8 ]; then
    misses=$((misses + 1)) round=$((round - 1))
    continue
  fi
  misses=0
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
