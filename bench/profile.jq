# profile.jq: what ncu printed of a launch (--csv --page raw: names, units, values), as a row of a table in Markdown; the table's head where
# $winner is null. A counter that the GPU does not have is a dash.

include "numbers";

def fields: ltrimstr("\"") | rtrimstr("\"") | split("\",\"");
def number: gsub(","; "") | tonumber? // null;

# {name: number} of the one launch.
def counters:
  [inputs | select(startswith("\""))] | .[0:1] + .[2:3] | map(fields)
  | if length < 2 then error("no launch was profiled") else transpose | map({key: .[0], value: (.[1] | number)}) | from_entries end;

def percent: if . == null then "-" else "\(round) %" end;
def scaled($unit): if . == null then "-" else . / $unit | fixed(1) end;

def waits:
  to_entries | map(select(.value != null) | . + (.key | capture("_issue_stalled_(?<reason>.*)_per_issue_active")) | select(.reason != "selected"))
  | sort_by(-.value) | .[:2] | map("\(.reason | gsub("_"; " ")) \(.value | fixed(1))") | join(", ");

def columns($winner):
  ["winner", "---", "\($winner.stencil) \($winner.dtype) \($winner.grid | join("x"))\(if ($winner.steps // 1) > 1 then ", \($winner.steps) steps" else "" end), `\($winner.template)`"],
  ["time, us", "---:", (.["gpu__time_duration.sum"] | scaled(1000))],
  ["link busy", "---:", (.["lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed"] | percent)],
  ["sectors over it, millions", "---:", (.["lts__t_sectors_srcunit_ltcfabric.sum"] | scaled(1e6))],
  ["read from memory, MB", "---:", (.["dram__bytes_read.sum"] | scaled(1e6))],
  ["memory busy", "---:", (.["dram__throughput.avg.pct_of_peak_sustained_elapsed"] | percent)],
  ["L2 cache busy", "---:", (.["lts__throughput.avg.pct_of_peak_sustained_elapsed"] | percent)],
  ["shared memory busy", "---:", (.["l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed"] | percent)],
  ["multiprocessors active", "---:", (.["sm__cycles_active.avg.pct_of_peak_sustained_elapsed"] | percent)],
  ["issue slots used", "---:", (.["smsp__issue_active.avg.pct_of_peak_sustained_active"] | percent)],
  ["multiply-adds' pipe busy", "---:", ([.["sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"], .["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"]] | max | percent)],
  ["warps resident", "---:", (.["sm__warps_active.avg.pct_of_peak_sustained_active"] | percent)],
  ["a warp waits most for", "---", waits];

def line: "| " + join(" | ") + " |";

if $winner then counters | [columns($winner[0]) | .[2]] | line
else {} | [columns({grid: []})] | (map(.[0]) | line), (map(.[1]) | line) end
