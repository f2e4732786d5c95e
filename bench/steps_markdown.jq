# steps_markdown.jq: the document of steps.jq as Markdown.

include "numbers";

def or_dash(f): if . == null then "-" else f end;
def whole: or_dash(round | tostring);
def verdict:
  if .rate == null then "not measured"
  elif .goal == null then "-"
  elif .reached == null then "not known"
  elif .reached then "reached"
  else "**not reached**" end;
def goal: if .goal == null then "-" elif (.goal | test("[*]")) then "\(.target | whole) (\(.goal))" else .goal end;
def published: if .published == null then "-" else "\(.published) (\(.source))" end;

"# \({wide: "Wide stencils", boundaries: "Boundary rules"}[.name] // "Several time steps in a launch") on \(.gpu)",
"",
"\(.date). " + if .targets > 0 then "**\(.reached) of \(.targets)** targets are reached." else "The targets are of an NVIDIA H200; this GPU has none." end,
"",
"GStencil/s: points that a step computes, times steps, over time. The fastest number of steps among those tuned counts; a",
"target that its 95 % interval reaches is reached. Sweep: the fastest launch of one step. Copy: GB/s of the fastest copy",
"in the same rounds. Published: the best rate with several steps that is known of another code. AN5D: K. Matsumura et al.,",
"CGO 2020. EBISU: L. Zhang et al., ICS 2023.",
"",
(.note // empty | ., ""),
"| stencil | type | grid | published | sweep | fastest | 95 % interval | target |  | steps | time of a step, us | copy | template | parameters | tried |",
"| --- | --- | --- | ---: | ---: | ---: | --- | ---: | --- | ---: | ---: | ---: | --- | --- | ---: |",
(.rows[] | "| \(.stencil) | \(.dtype) | \(.grid | map(tostring) | join("x")) | \(published) | \(.sweep | whole) | \(.rate | whole) | "
  + (if .low == null or .high == null then "-" else "\(.low | whole) to \(.high | whole)" end)
  + " | \(goal) | \(verdict) | \(.steps | whole) | \(if .rate == null then "-" else .time_ms * 1000 / .steps | fixed(2) end) | \(.copy_gbs | whole)"
  + " | \(.template | or_dash(.)) | \(.parameters | or_dash(.)) | \(.tried | whole) |"),
(.beside // empty | "", "Beside these rows, in the same run, another code printed:", "", (rtrimstr("\n") | split("\n")[] | "    " + .))
