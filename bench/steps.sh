#!/bin/sh
# steps.sh: tune each row of bench/steps.txt on this machine's GPU, for each of its numbers of time steps, and write how
# the fastest of them compare with published rates and with the targets: RESULTS/NAME-GPU.json and .md. Results of
# `tune` that are there already are not measured again, so the same command continues after an interruption. Exit code
# 1: a row has no winner. Needs the program jq. The environment:
#   WORK=build/steps        what tune printed, a file for each row and number of steps, and the database
#   BUDGET=10s              for each of them
#   DEVICE=0                the GPU
#   NAME=steps              steps or wide: the table, the results and the default of WORK have this name
#   TABLE=bench/steps.txt   other rows
#   HINTS=FILE              searches also begin with the winners of this database
#   RESULTS=bench/results   another folder for the table
#   TEMPLATES=NAME,...      only these templates
#   BESIDE=COMMAND          runs on the GPU after the rows, such as another code; what it prints stands below the table
set -eu
cd "$(dirname "$0")/.."
. bench/gpu_file.sh
. bench/stencil_file.sh
program=${HALOTUNE:-build/halotune}
name=${NAME:-steps}
table=${TABLE:-bench/$name.txt}
results=${RESULTS:-bench/results}
work=${WORK:-build/$name}
stopped=
mkdir -p "$work" "$results"
trap 'stopped=1' INT TERM

tune() { # stencil dtype grid steps
  log=$work/$1-$2-$(echo "$3" | tr , x)-$4
  [ ! -e "$log.json" ] || return 0
  "$program" tune "$(stencil_file "$work" "$1")" --dtype "$2" --grid "$3" --steps "$4" --budget "${BUDGET:-10s}" \
     --device "${DEVICE:-0}" ${TEMPLATES:+--template "$TEMPLATES"} ${HINTS:+--hints "$HINTS"} --db "$work/steps.db" --json >"$log.out" 2>"$log.err" </dev/null &&
    jq -e '(.devices? // [.])[0].tasks[0].complete' "$log.out" >/dev/null && mv "$log.out" "$log.json" ||
    echo "$1 $2 $3, $4 steps: no winner: $(tail -n 1 "$log.err")" >&2
}

sed 's/#.*//' "$table" | awk NF >"$work/rows"
while read -r stencil dtype grid steps _; do
  "$program" show "$(stencil_file "$work" "$stencil")" --json | jq --arg name "$stencil" '. + {name: $name}' >"$work/$stencil.show"
  for count in $(echo "$steps" | tr , ' '); do
    [ -n "$stopped" ] || tune "$stencil" "$dtype" "$grid" "$count"
  done
done <"$work/rows"

if [ -n "${BESIDE:-}" ] && [ -z "$stopped" ] && [ ! -e "$work/beside" ]; then
  device=${DEVICE:-0}
  case ${CUDA_VISIBLE_DEVICES:-}:$device in
    :* | *:*[!0-9]*) ;;
    *) device=$(echo "$CUDA_VISIBLE_DEVICES" | cut -d , -f $((device + 1))) ;; # numbers count the visible GPUs
  esac
  CUDA_VISIBLE_DEVICES=$device sh -c "$BESIDE" >"$work/beside.out" </dev/null && mv "$work/beside.out" "$work/beside" || echo "$BESIDE failed" >&2
fi

ls "$work"/*-*.json >/dev/null 2>&1 || { echo "there is no winner of any row" >&2 && exit 1; }
cat "$work"/*.show | jq -s . >"$work/stencils"
cat "$work"/*-*.json | jq -s '[.[] | (.devices? // [.])[] | .device as $gpu | .tasks[] | select(.winner) | . + {gpu: $gpu}]' >"$work/winners"
gpu=$(jq -r '.[0].gpu' "$work/winners")
file=$results/$name-$(gpu_file "$gpu")
jq -Rn --arg name "$name" --arg gpu "$gpu" --arg date "$(date -u +%F)" --slurpfile winners "$work/winners" --slurpfile stencils "$work/stencils" \
  --rawfile beside "$(ls "$work/beside" 2>/dev/null || echo /dev/null)" \
  -f bench/steps.jq "$work/rows" >"$file.json"
jq -L bench -r -f bench/steps_markdown.jq "$file.json" >"$file.md"
jq -r '"\(.gpu): \(.reached) of \(.targets) targets reached, \([.rows[] | select(.rate == null)] | length) rows without a winner"' \
  "$file.json" >&2
[ -z "$stopped" ] || echo "ended early; the same command goes on" >&2
[ -z "$stopped" ] && jq -e '.rows | all(.rate)' "$file.json" >/dev/null
