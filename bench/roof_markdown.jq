# roof_markdown.jq: the document of roof.jq as Markdown.

include "numbers";

def or_dash(f): if . == null then "-" else f end;
def us($digits): or_dash(. * 1000 | fixed($digits));
def interval: if .low == null or .high == null then "-" else "\(.low | fixed(4)) to \(.high | fixed(4))" end;
def verdict:
  if .target == null then ""
  elif .time_ms == null then "not measured"
  elif .reached == null then "not known"
  elif .reached then "reached"
  else "**not reached**" end;
def days: .first[:10] + if .first[:10] == .last[:10] then "" else " to \(.last[:10])" end;
def pencils: "\(.pencils) lines, \(.block_x)x\(.block_y) threads";

# Columns: what heads one, its alignment, and what stands in it.
def task_columns:
  ["stencil", "---", .stencil], ["type", "---", .dtype], ["grid", "---", (.grid | join("x"))];
def target_columns($share):
  [$share, "---:", (.share | or_dash(fixed(3)))], ["95 % interval", "---", interval],
  ["target", "---:", (.target | or_dash(fixed(2)))], ["", "---", verdict];
def search_columns:
  ["template", "---", (.template // "-")], ["space", "---:", (.space | or_dash(tostring))],
  ["tried", "---:", (.tried | or_dash(tostring))], ["tuning, s", "---:", (.tuning_s | or_dash(round | tostring))];
def copy_columns:
  task_columns, target_columns("share"), ["time, us", "---:", (.time_ms | us(2))], search_columns;
def classic_columns:
  task_columns, ["launch", "---", .launch], target_columns("part"), ["time, us", "---:", (.time_ms | us(3))],
  ["classic, us", "---:", (.classic_ms | us(3))],
  ["classic variant", "---", (.classic_parameters | or_dash(pencils))], ["empty, us", "---:", (.empty_ms | us(3))],
  search_columns;

def line: "| " + join(" | ") + " |";
# An array of rows, each an array of columns.
def table: (.[0] | (map(.[0]) | line), (map(.[1]) | line)), (.[] | map(.[2]) | line);

(if .name == "sizes" then "# Grids of many sizes on \(.gpu)" else "# The roof on \(.gpu)" end),
"",
"Driver \(.driver), NVRTC \(.nvrtc), \(days). **\(.reached) of \(.targets)** targets are reached.",
"",
"Share: time of the copy over the winner's, in the same interleaved rounds, with its 95 % interval; a target that the",
"interval reaches is reached. Of `copy` it is against the driver's copy from device to device, and the interval is",
"that of the winner's time; of all others against the fastest copy of the same bytes, tuned or the driver's. Space:",
"variants that the rules of all templates keep; tuning: seconds, with set-up and finals.",
"",
(.rows | map(select(.against != "classic") | [copy_columns]) | table),
(.rows | map(select(.against == "classic") | [classic_columns]) | select(length > 0) |
  "",
  "## Beside the classic pencils",
  "",
  "Part: time of the winner over that of the best classic pencil variant, in the same rounds; a target is the most",
  "that it may be. A launch of an empty kernel in the same mode stands beside.",
  "",
  table)
