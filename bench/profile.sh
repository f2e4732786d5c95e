#!/bin/sh
# profile.sh: what stands between winners and the roof: one launch of the winner of each row of bench/roof.txt under NVIDIA's profiler, and the
# counters that say what was full, as RESULTS/profile-GPU.md. The clock is left as it is. A winner is what `halotune query` answers for the
# row's very grid. Exit code 1: a row was not profiled. Needs jq, and ncu with the right to read counters. The environment:
#   NCU=ncu                 the profiler
#   DEVICES='0 1 2 3'       GPUs that share the rows, each one row at a time; 0 by default
#   TABLE=bench/roof.txt    other rows; those in a graph are left out: their launches are too short to say much
#   RESULTS=bench/results   another folder for the table
#   WORK=build/profile      what ncu printed for each row
set -eu
cd "$(dirname "$0")/.."
program=${HALOTUNE:-build/halotune}
ncu=${NCU:-ncu}
work=${WORK:-build/profile}
results=${RESULTS:-bench/results}
mkdir -p "$work" "$results"
rm -f "$work"/*.md "$work"/*.json "$work"/*.csv "$work"/*.err

# A name that this GPU's profiler does not know would end it. The first eight have columns of their own; of what warps wait for the most counts.
metrics() {
  "$ncu" --query-metrics >"$work/known" 2>"$work/err" || { cat "$work/known" "$work/err" >&2 && return 1; }
  {
    echo gpu__time_duration.sum lts__ltcfabric2lts_cycles_active.avg.pct_of_peak_sustained_elapsed lts__t_sectors_srcunit_ltcfabric.sum \
      dram__bytes_read.sum dram__throughput.avg.pct_of_peak_sustained_elapsed l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed \
      smsp__issue_active.avg.pct_of_peak_sustained_active sm__warps_active.avg.pct_of_peak_sustained_active | tr ' ' '\n'
    grep -o 'smsp__average_warps_issue_stalled_[a-z_]*_per_issue_active' "$work/known" | grep -v not_issued | sed 's/$/.ratio/'
  } | while read -r metric; do ! grep -qw "${metric%%.*}" "$work/known" || echo "$metric"; done | paste -s -d ,
}

profile_row() { # device stencil dtype grid
  name=$2-$3-$(echo "$4" | tr , x)
  "$program" query "$2" --dtype "$3" --grid "$4" --device "$1" --json >"$work/$name.json" 2>"$work/$name.err" &&
    jq -e '.match == "exact"' "$work/$name.json" >/dev/null || { echo "$2 $3 $4: no winner: halotune tune $2 --dtype $3 --grid $4" >&2 && return 1; }
  CUDA_VISIBLE_DEVICES=$1 "$ncu" --clock-control none --target-processes application-only --kernel-name "regex:^$2_" --launch-count 1 \
    --metrics "$metrics" --print-units base --csv --page raw --log-file "$work/$name.csv" "$program" selftest --gpu --in-process "$2" --dtype "$3" \
    --grid "$4" --template "$(jq -r .template "$work/$name.json")" \
    --set "$(jq -r '.parameters | to_entries | map("\(.key)=\(.value)") | join(",")' "$work/$name.json")" >"$work/$name.out" 2>"$work/$name.err" &&
    jq -Rrn --slurpfile winner "$work/$name.json" -f bench/profile.jq "$work/$name.csv" >"$work/$name.md" 2>>"$work/$name.err" ||
    { echo "$2 $3 $4: not profiled:" && tail -n 3 "$work/$name.csv" "$work/$name.err"; } >&2
}

rows() { sed 's/#.*//' "${TABLE:-bench/roof.txt}" | awk 'NF && $4 == "auto" {print $1, $2, $3}'; }

metrics=$(metrics)
set -- ${DEVICES:-0}
count=$# place=0
for device in "$@"; do
  rows | awk -v place=$place -v count=$count 'NR % count == place' | while read -r stencil dtype grid; do
    profile_row "$device" "$stencil" "$dtype" "$grid" </dev/null || true
  done &
  place=$((place + 1))
done
wait

# In the order of the table.
gpu=$(cat "$work"/*.json | jq -rs 'map(.measured_on)[0] // empty')
[ -n "$gpu" ] || { echo "no row has a winner" >&2 && exit 1; }
missing=0
{
  echo "# What is full while winners run on $gpu"
  echo
  echo "One launch of each under the profiler (\`bench/profile.sh\`); its time is the kernel's alone. Link: between the halves of the L2 cache."
  echo "Shared memory: the path to it and to the L1 cache. A warp waits: warps stalled so, for each instruction that a scheduler issues."
  echo
  jq -Rrn --argjson winner null -f bench/profile.jq </dev/null
} >"$work/table"
rows >"$work/rows"
while read -r stencil dtype grid; do
  cat "$work/$stencil-$dtype-$(echo "$grid" | tr , x).md" 2>/dev/null || missing=$((missing + 1))
done <"$work/rows" >>"$work/table"
file=$results/profile-$(echo "$gpu" | tr 'A-Z /' 'a-z--').md
mv "$work/table" "$file"
echo "$file: $(($(wc -l <"$work/rows") - missing)) rows, $missing without a profile" >&2
[ "$missing" = 0 ]
