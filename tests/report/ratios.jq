# ratios.jq: what is wrong with the ratios of a report's document, a line each. Every ratio has to divide two times of the same final
# rounds, or two times of the search; a member that is named like a ratio and is not checked here is a fault, too.

def is_near($a; $b): ($a | type) == "number" and ($b | type) == "number" and (($a - $b) | fabs) <= 1e-5 * ($b | fabs);
def median: sort | if length == 0 then null elif length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;

# The time of a variant in the search of one run, as the columns have it.
def search_ms($problem; $variant; $run):
  $problem.variants | first(range(.variant | length) as $i | select(.variant[$i] == $variant and .run[$i] == $run) | .median_ms[$i]) // null;

def finalist_faults($problem):
  ($problem.finalists | map(select(.rank == 1)) | first) as $winner
  | $problem.finalists[]
  | . as $finalist
  | select((.samples | length) > 0 and (.samples | length) == ($winner.samples | length))
  | [range(.samples | length) as $i | .samples[$i] / $winner.samples[$i]] | median
  | select(is_near(.; $finalist.ratio) | not)
  | "finalist \($finalist.variant): the ratio is \($finalist.ratio), its samples say \(.)";

def final_rival_faults($problem):
  . as $rival
  | ($problem.finalists | map(select(.variant == $rival.variant)) | first) as $finalist
  | if .role == "winner" then select(.time_ms != $problem.winner.time_ms or .ratio != 1) | "the winner against itself"
    elif $finalist == null or $finalist.run != $problem.winner.run or .run != $finalist.run or .first_run != .run then "not of the winner's final rounds"
    elif .ratio != $finalist.ratio or .time_ms != $finalist.median_ms or .first_ms != $problem.winner.time_ms then "not the ratio of its rounds"
    else empty end;

# The columns have the newest result of a variant; two that were timed in one older run are compared there.
def search_rival_faults($problem):
  . as $rival
  | if .ratio != null and (is_near(.ratio; .time_ms / .first_ms) | not) then "not the quotient of its times" else empty end,
    ([[.variant, .run, .time_ms], [$problem.rivals[0].variant, .first_run, .first_ms]][]
     | . as [$variant, $run, $ms]
     | select(($problem.variants | .variant as $list | [$list, .run] | transpose | any(. == [$variant, $run]))
         and search_ms($problem; $variant; $run) != $ms)
     | "\($ms) ms is not a time of the search"),
    (select(.first_run == null and .ratio != null) | "the winner has no time of the search");

def rival_faults($problem):
  $problem.rivals[]
  | . as $rival
  | (if .phase == "final" then final_rival_faults($problem) else search_rival_faults($problem) end)
  | "rival \($rival.variant) (\($rival.role)): \(.)";

def winner_faults($problem):
  $problem.winner
  | select(. != null)
  # A launch of a few microseconds takes one of two times, so the median of ratios is not the ratio of medians.
  | (select(.roof_ratio != null and (((.roof_ms / .time_ms / .roof_ratio) - 1 | fabs) > (if .time_ms < 0.005 then 0.15 else 0.05 end))) | "the roof's time and its share disagree"),
    (select(.step_roof.share != null)
     | select(is_near(.step_roof.share; ([.step_roof.memory_ms, .step_roof.arithmetic_ms, .step_roof.shared_ms] | map(. // 0) | max) * .steps / .time_ms) | not)
     | "the share of a step is not its roof over its time"),
    (select(.roof_ratio_low != null and (.roof_ratio < .roof_ratio_low or .roof_ratio > .roof_ratio_high)) | "the share is outside its interval"),
    ($problem.finalists[] as $f | select($f.is_default and .default_ms != null and .default_ms != $f.median_ms) | "the default's time is not of the final rounds");

def transfer_faults($document):
  $document.transfer[]
  | . as $pair
  | ($document.problems | map(select(.id == $pair.to)) | first) as $there
  | (if .share_low != null then select(.share < .share_low or .share > .share_high) | "the share is outside its interval"
     else select(is_near(.share; .best_ms / .time_ms) | not) | "the share is not the quotient of its times" end),
    (if .phase == "final" then select(.best_ms != $there.winner.time_ms) | "the best time is not the winner's"
     else select(($there.variants.run | any(. == $pair.run)) and ($there.variants.median_ms | any(is_near(.; $pair.time_ms)) | not)) | "the time is not of the search" end)
  | "from problem \($pair.from) to \($pair.to): \(.)";

# A share of something else than a time.
def is_share: . > -1e-9 and . < 1 + 1e-9;
def share_faults:
  [paths(type == "number")] as $paths
  | . as $document
  | $paths[]
  | . as $path
  | select(any(.[]; . == "computing_share") or (.[2] == "effects" and .[-1] == "share"))
  | select($document | getpath($path) | is_share | not)
  | "not a share: \($path)";

def unknown_faults:
  [paths(type == "number")
   | map(if type == "number" then "" else . end) | join(".")
   | select(test("(^|[._])(ratio|share|speedup|slower|faster)([._]|$)"))] | unique[]
  | select(test("^problems\\.\\.(winner\\.(roof_ratio(_low|_high)?|step_roof\\.share)|(finalists|rivals)\\.\\.ratio(_low|_high)?|effects\\.\\.share|(winner|finalists\\.)\\.figures\\.computing_share|variants\\.computing_share\\.)$|^transfer\\.\\.share(_low|_high)?$") | not)
  | "nobody checks \(.)";

# Columns have thousands of elements: the walks over all members see the first few.
def trimmed: .problems |= map(.variants |= map_values(.[:3]) | .finalists |= map(.samples |= .[:3]));

. as $document
| (.problems[] | . as $problem | (finalist_faults($problem), rival_faults($problem), winner_faults($problem)) | "problem \($problem.id): \(.)"),
  (.problems[] | select(.variants.computing_share | map(select(. != null)) | all(is_share) | not) | "problem \(.id): a computing share is no share"),
  transfer_faults($document), (trimmed | share_faults, unknown_faults)
