# steps.jq: the lines of bench/steps.txt or wide.txt as input, with what tune printed ($winners[0]: its tasks, for all numbers of
# steps), how `show` describes the stencils ($stencils[0]), and what another code printed in the same run ($beside, may be empty), as
# one document. A row counts the numbers of steps that it names. Rates are in GStencil/s: points that a step computes, times steps,
# over time.

def or_null: if . == "-" then null else (tonumber? // .) end;
def row:
  [splits("[ \t]+") | select(. != "")] | select(length > 0)
  | {stencil: .[0], dtype: .[1], grid: (.[2] | split(",") | map(tonumber)), counted: (.[3] | split(",") | map(tonumber)), published: (.[4] | or_null),
     source: (.[5] | or_null), target: .[6]};

# Points that a step computes: with `skip`, those whose taps all lie in the grid.
def points: . as $row
  | $stencils[0] | map(select(.name == $row.stencil))[0] | . as $s
  | reduce range($row.grid | length) as $axis (1; . * ($row.grid[$axis]
      - if $s.boundary[$axis] == "skip" then $s.radius_low[$axis] + $s.radius_high[$axis] else 0 end));

def rates: . as $row
  | points as $points
  | [$winners[0][] | select(.stencil == $row.stencil and .dtype == $row.dtype and .grid[:($row.grid | length)] == $row.grid)
     | .steps as $steps | select($row.counted | index($steps))
     | def rate($ms): if $ms then $points * $steps / $ms * 1e-6 else null end;
       {steps, launch, rate: rate(.winner.time_ms), low: rate(.winner.time_high_ms), high: rate(.winner.time_low_ms),
        time_ms: .winner.time_ms, template: .winner.template, parameters: .winner.parameters, tried,
        copy_gbs: (if .winner.roof_ms then (2 * .winner.unknown_bytes + .winner.known_bytes) / .winner.roof_ms * 1e-6 else null end)}];

def with_rates:
  rates as $rates
  | . + {sweep: ($rates | map(select(.steps == 1).rate) | max), all: $rates} + ($rates | max_by(.rate) // {rate: null});

# The target in GStencil/s; null if the row that it refers to was not measured.
def target($rows): . as $row
  | .target | split("*")
  | if length == 1 then .[0] | tonumber
    elif .[1] == "sweep" then (.[0] | tonumber) as $n | $row.sweep | if . then $n * . else null end
    else (.[0] | tonumber) as $n | .[1] as $name
      | $rows | map(select("\(.stencil):\(.dtype):\(.grid | map(tostring) | join(","))" == $name))[0].rate
      | if . then $n * . else null end
    end;

[inputs | row | with_rates | del(.counted)] | . as $rows
# The targets are of an NVIDIA H200. Other GPUs of NVIDIA have none.
| ($gpu | test("^NVIDIA (?!H200$)")) as $without
| map(if $without then .goal = null | .target = null else .goal = .target | .target = target($rows) end)
| map(.reached = if .target and .high then .high >= .target else null end)
| {name: $name, gpu: $gpu, date: $date, targets: (map(select(.goal)) | length), reached: (map(select(.reached)) | length), rows: .}
  + if $beside == "" then {} else {beside: $beside} end
