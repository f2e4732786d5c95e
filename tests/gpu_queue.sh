#!/bin/sh
# gpu_queue.sh: runs checks on this machine's GPUs. Each line of its stdin is a check: a name, a tab, a command. JOBS (4)
# run at the same time, on the GPUs that DEVICES numbers ('0 1 2 3'; else on the first). As soon as a check ends, its
# result is printed as TAP. The result is also kept: RESULTS/NAME.ok or RESULTS/NAME.failed holds the output, and
# RESULTS/NAME.command the command. The result of another command does not count.
#
# After MINUTES it stops: no check begins, and those that run are ended without a result. The next call with the same
# RESULTS tries only what has no result yet. A check that was ended although it had the whole of a call has failed. Remove
# a file of RESULTS to try its check again. Prints what is left, and fails if a check failed or is left.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export RESULTS="${RESULTS:-$work/results}" WORK="$work" DEADLINE=
mkdir -p "$RESULTS" "$work/todo"

tab=$(printf '\t')
while IFS=$tab read -r name command; do
  echo "$name" >>"$work/all"
  echo "$command" >"$work/todo/$name"
done
# The lines of results: those of earlier calls first.
while read -r name; do
  if ! cmp -s "$work/todo/$name" "$RESULTS/$name.command"; then
    rm -f "$RESULTS/$name.ok" "$RESULTS/$name.failed"
    cp "$work/todo/$name" "$RESULTS/$name.command"
    echo "$name" >>"$work/left"
  elif [ -e "$RESULTS/$name.ok" ]; then echo "ok $name"
  elif [ -e "$RESULTS/$name.failed" ]; then echo "failed $name"
  else echo "$name" >>"$work/left"
  fi
done <"$work/all" >"$work/earlier"
touch "$work/left" "$work/first"

# A check that runs at the deadline is ended like one that hangs; it has no result.
cat >"$work/try" <<'T'
name=$1 log=$RESULTS/$1.part
is_first() { grep -qx -e "$name" "$WORK/first"; }
if [ -n "$DEADLINE" ]; then
  left=$((DEADLINE - $(date +%s)))
  [ "$left" -gt 0 ] || { is_first && left=1; } || exit 0 # a slow machine may begin the first ones late
  set -- timeout -k 10 "$left"
else
  set --
fi
"$@" tests/on_device.sh sh "$WORK/todo/$name" >"$log" 2>&1 && status=ok || status=failed
if [ $status = failed ] && [ -n "$DEADLINE" ] && [ "$(date +%s)" -ge "$DEADLINE" ]; then
  is_first || { rm "$log" && exit 0; }
  echo "it did not end within $MINUTES minutes, the time of a call" >>"$log"
fi
mv "$log" "$RESULTS/$name.$status"
echo "$status $name"
T
# The first JOBS checks have the whole time of a call.
if [ -n "${MINUTES:-}" ]; then
  seconds=$(awk -v minutes="$MINUTES" 'BEGIN {printf "%d", 60*minutes}')
  DEADLINE=$(($(date +%s) + seconds))
  [ "$seconds" = 0 ] || head -n "${JOBS:-4}" "$work/left" >"$work/first"
fi
{
  cat "$work/earlier"
  xargs -r -P "${JOBS:-4}" --process-slot-var=SLOT -n 1 sh "$work/try" <"$work/left"
} | {
  number=0 failed=0
  while read -r status name; do
    number=$((number + 1))
    result="$number - $name: $(tail -n 1 "$RESULTS/$name.$status")"
    if [ "$status" = ok ]; then echo "ok $result" && continue; fi
    failed=$((failed + 1))
    echo "not ok $result"
    grep -vE '^ok ' "$RESULTS/$name.failed" | tail -n 40 | sed 's/^/# /'
  done
  left=$(($(wc -l <"$work/all") - number))
  [ "$left" = 0 ] || echo "# left: $left; call this again"
  echo "1..$number"
  [ "$failed" = 0 ] && [ "$left" = 0 ]
}
