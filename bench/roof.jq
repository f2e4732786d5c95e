# roof.jq: the lines of bench/roof.txt as input, with the winners of a database ($winners[0]) that are of $gpu, as one
# document.

# A share, or a part of a time, with its 95 % interval.
def against_copy: {share: .roof_ratio, low: .roof_ratio_low, high: .roof_ratio_high};
# The driver's copy ran in the same rounds, but its ratio in each is not stored: the interval is the winner's time's.
def against_memcpy: {share: (.memcpy_ms / .time_ms), low: (.memcpy_ms / .high_ms), high: (.memcpy_ms / .low_ms)};
def against_classic: {share: (1 / .classic_ratio), low: (1 / .classic_ratio_high), high: (1 / .classic_ratio_low)};
def share($against):
  if $against == "memcpy" then (if .memcpy_ms then against_memcpy else {} end)
  elif $against == "classic" then (if .classic_ratio then against_classic else {} end)
  else against_copy end;

# A target counts as reached when the interval reaches it; nothing is rounded.
def reached($against; $target):
  if $target == null or .low == null or .high == null then null
  elif $against == "classic" then .low <= $target
  else .high >= $target end;

def row:
  sub("#.*"; "") | [splits("[ \t]+") | select(. != "")] | select(length > 0)
  | {stencil: .[0], dtype: .[1], grid: (.[2] | split(",")), launch: .[3], against: .[4],
     target: (.[5] | tonumber? // null)};

def is_of($row):
  .gpu == $gpu and .stencil == $row.stencil and .dtype == $row.dtype
  and .grid == ($row.grid + ["1", "1"] | .[:3] | join(",")) and ($row.launch == "auto" or .launch == $row.launch);

def classic: if .classic_ms then {classic_ms, classic_parameters: (.classic_parameters | fromjson)} else {} end;

# The row with what is known of its winner, which may be null.
def filled($row):
  if . == null then $row
  else $row + {launch, time_ms, low_ms, high_ms}
    + (share($row.against) | . + {reached: reached($row.against; $row.target)})
    + {empty_ms, template, parameters: (.parameters | fromjson), space, tried, tuning_s, warnings, date, driver, nvrtc}
    + classic
  end;

def values_of(f): map(f // empty) | unique;

[inputs | row | . as $row | $winners[0] | map(select(is_of($row))) | min_by(.time_ms) | filled($row)]
| {gpu: $gpu, name: $name, driver: (values_of(.driver) | join(", ")), nvrtc: (values_of(.nvrtc) | join(", ")),
   first: (values_of(.date) | first), last: (values_of(.date) | last),
   targets: (map(select(.target)) | length), reached: (map(select(.reached)) | length), rows: .}
