#!/bin/sh
# profile.sh: shows what limits the winners. It runs one launch of each winner in RESULTS/roof-GPU.json, which roof.sh
# wrote, under NVIDIA's profiler, and writes the counters that show which unit was busiest to RESULTS/profile-GPU.md.
# Clocks are not fixed. Exit code 1: a row was not profiled. It needs jq, and ncu with the permission to read counters.
# The environment:
#   NAME=roof               steps, wide or sizes: the winners in RESULTS/NAME-GPU.json, which steps.sh or roof.sh wrote,
#                           that do not reach their target. The page is then RESULTS/profile-NAME-GPU.md
#   NCU=ncu                 the profiler
#   DEVICES='0 1 2 3'       GPUs that share the rows, one row at a time each, numbered as in CUDA_VISIBLE_DEVICES; else
#   the first visible GPU
#   RESULTS=bench/results   another folder
#   WORK=build/profile      what ncu printed for each row
set -eu
cd "$(dirname "$0")/.."
. bench/gpu_file.sh
. bench/stencil_file.sh
name=${NAME:-roof}
program=${HALOTUNE:-build/halotune}
ncu=${NCU:-ncu}
work=${WORK:-build/profile}
results=${RESULTS:-bench/results}
mkdir -p "$work"
rm -f "$work"/*.md "$work"/*.json "$work"/*.csv "$work"/*.err

gpu=$("$program" doctor --json | jq -r '.gpus[0].name // empty')
[ -n "$gpu" ] || { echo "there is no GPU here: 'halotune doctor' says more" >&2 && exit 1; }
winners=$results/$name-$(gpu_file "$gpu").json
[ -e "$winners" ] || { echo "no winners of $gpu in $results: make bench-$name" >&2 && exit 1; }

# A metric that this GPU's profiler does not know would end it. The first metrics have columns; of the reasons why warps
# wait, the most frequent ones count.
metrics() {
  "$ncu" --query-metrics >"$work/known" 2>"$work/err" || { cat "$work/known" "$work/err" >&2 && return 1; }
  {
    echo gpu__time_duration.sum lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed lts__t_sectors_srcunit_ltcfabric.sum \
      dram__bytes_read.sum dram__throughput.avg.pct_of_peak_sustained_elapsed lts__throughput.avg.pct_of_peak_sustained_elapsed \
      l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed sm__cycles_active.avg.pct_of_peak_sustained_elapsed \
      smsp__issue_active.avg.pct_of_peak_sustained_active sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active \
      sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active sm__warps_active.avg.pct_of_peak_sustained_active | tr ' ' '\n'
    grep -o 'smsp__average_warps_issue_stalled_[a-z_]*_per_issue_active' "$work/known" | grep -v not_issued | sed 's/$/.ratio/'
  } | while read -r metric; do ! grep -qw "${metric%%.*}" "$work/known" || echo "$metric"; done | paste -s -d ,
}

profile_row() { # name of the row's files
  files=$work/$1
  field() { jq -r "$1" "$files.json"; }
  what="$(field .stencil) $(field .dtype) $(field '.grid | join(",")')"
  [ "$(field .time_ms)" != null ] || { echo "$what: no winner: make bench-$name" >&2 && return 1; }
  "$ncu" --clock-control none --cache-control $caches --target-processes application-only --kernel-name "regex:^$(field .stencil)_" --launch-count 1 \
    --metrics "$metrics" --print-units base --csv --page raw --log-file "$files.csv" "$program" selftest --gpu --in-process "$(stencil_file "$work" "$(field .stencil)")" \
    --dtype "$(field .dtype)" --grid "$(field '.grid | join(",")')" --template "$(field .template)" \
    --set "$(field "$parameters")" >"$files.out" 2>"$files.err" </dev/null &&
    jq -L bench -Rrn --slurpfile winner "$files.json" -f bench/profile.jq "$files.csv" >"$files.md" 2>>"$files.err" ||
    { echo "$what: not profiled:" && tail -n 3 "$files.csv" "$files.err"; } >&2
}

parameters='.parameters | if type == "object" then to_entries | map("\(.key)=\(.value)") | join(",") else gsub(" "; ",") end'
# Launches that are compared with classic kernels are too short to be informative. Fields of many sizes stay in the cache.
caches=all which='The winners below their target' measured=.date kept='.reached == false'
case $name in
  roof) which='The winners' measured=.last kept='.against != "classic"' ;;
  sizes) caches=none measured=.last ;;
esac
rows="[.rows[] | select($kept)] | to_entries[]"
jq -r "$rows | .key" "$winners" >"$work/rows"
while read -r row; do jq "$rows | select(.key == $row).value" "$winners" >"$work/$row.json"; done <"$work/rows"

metrics=$(metrics)
set -- ${DEVICES:-visible}
count=$# place=0
for device in "$@"; do
  [ "$device" = visible ] || export CUDA_VISIBLE_DEVICES="$device"
  awk -v place=$place -v count=$count 'NR % count == place' "$work/rows" | while read -r row; do profile_row "$row" || true; done &
  place=$((place + 1))
done
wait

missing=0
{
  echo "# What is full while winners run on $gpu"
  echo
  echo "$which of \`$(basename "$winners")\`, whose last row was measured $(jq -r "$measured" "$winners"), one launch of each under the profiler (\`bench/profile.sh\`)."
  [ $caches = none ] || echo "It empties the caches before: times of small fields are not those of the final rounds."
  echo "Link: between the halves of the L2 cache. Shared memory: the path to"
  echo "it and to the L1 cache. Issue slots and multiply-adds: of the cycles in which a multiprocessor is active. A warp waits: warps stalled so, for each"
  echo "instruction that a scheduler issues."
  echo
  jq -L bench -Rrn --argjson winner null -f bench/profile.jq </dev/null
  while read -r row; do cat "$work/$row.md" 2>/dev/null || missing=$((missing + 1)); done <"$work/rows"
} >"$work/table"
case $name in roof) page=profile ;; *) page=profile-$name ;; esac
file=$results/$page-$(gpu_file "$gpu").md
mv "$work/table" "$file"
echo "$file: $(($(wc -l <"$work/rows") - missing)) rows, $missing without a profile" >&2
[ "$missing" = 0 ]
