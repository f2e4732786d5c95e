#!/bin/sh
# fleet.sh: simulates teams of GPUs on the recording of bench/results, and writes bench/results/fleet.md. Needs no GPU.
# $BUDGET is the simulated budget of each search in seconds, $MEMBERS the sizes of the teams.
set -eu
cd "$(dirname "$0")/.."
budget=${BUDGET:-20} members=${MEMBERS:-1,2,64,256}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gunzip -c bench/results/recording-star7-f32-512x512x512.json.gz >"$work/recording.json"
build/halotune db import --trust --yes --db "$work/recording.db" "$work/recording.json" >/dev/null 2>&1
for strategy in local random; do
  "$BENCH" --recording "$work/recording.db" --seconds "$budget" --members "$members" --strategy $strategy >"$work/$strategy"
done
{
  cat <<END
# Teams of simulated GPUs

**These figures are simulated, not measured.** \`make bench-fleet BUDGET=$budget MEMBERS=$members\` made them without a GPU. The members and their link are events on a virtual
clock, with the compiles and samples of the recording of star7 (f32, 512x512x512, an H200); \`bench/fleet_bench.c\` says how. Search, strategy, leader, messages and stored
rows are the program itself. The processor time that they take on the machine that ran this counts as virtual time
($(grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ //'), one core; $(cut -d' ' -f1 /proc/loadavg) processes wanted to run at the end). The leader only leads. Efficiency is the rate over that of one member, divided by the number of members. The row of one member is of eight runs with other seeds: its variants are their sum, and the other columns their mean.
END
  for strategy in local random; do
    printf '\n## Strategy %s\n' $strategy
    cat "$work/$strategy"
  done
} >bench/results/fleet.md
cat bench/results/fleet.md
