#!/bin/sh
# bench.sh: `halotune bench` on the driver of tests/fake_cuda: a true database, and changes that make it false. Prints
# TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
db=$work/bench.db
tune "$db" >"$work/out" 2>"$work/err"
result "a winner is stored" $? "$work/err"

# A variant that runs for longer than $hang has hung. The default is a minute, which no variant takes on a busy machine.
bench() {
  timeout "$LIMIT_S" "$program" bench star7 --grid 16,16,16 --hang-timeout "${hang:-60s}" --db "$db" --time 0.2s "$@" >"$work/out" 2>"$work/err"
}
# Whether bench ends with a code, and prints a line that matches.
says() { # code pattern [option...]
  code=$1 pattern=$2
  shift 2
  bench "$@"
  [ $? = "$code" ] && grep -qE "$pattern" "$work/out" "$work/err"
}

says 0 '^verdict     true here'
result "what was stored a moment ago is true" $? "$work/out"
says 0 '"is_true": true' --json
result "in JSON, too" $? "$work/out"
bench && grep -qE '^plain +[0-9.e-]+ ms .*, 1\.[0-9]+ times' "$work/out" && grep -qE '^copy +[0-9.e-]+ ms' "$work/out"
result "the plain kernel and the copy are timed beside it" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=stretch:1.2;cuGraphLaunch@star7_small=stretch:1.2' says 1 '^verdict     not true here: the winner is [0-9.]+ % slower'
result "a slower winner is not true" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=stretch:1.2;cuGraphLaunch@star7_small=stretch:1.2' says 0 '^verdict     true here' --tolerance 50%
result "unless the tolerance allows it" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=corrupt:333' says 1 '^verdict     not true here: the winner does not work'
result "a wrong winner is not true" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=LAUNCH_FAILED' says 1 '^winner      .*LAUNCH_FAILED'
result "a winner that faults is not true" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=hang;cuGraphLaunch@star7_small=hang' hang=0.2s says 1 '^winner      .*did not end in 0.2 s'
result "nor is one that hangs for longer than --hang-timeout" $? "$work/out"
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_direct=corrupt:333' says 0 '^plain       wrong:'
result "a wrong plain kernel says nothing about the winner" $? "$work/out"
echo 'throttle 0.5 1000 1000' >"$work/hot.model"
HALOTUNE_FAKE_MODEL=$work/hot.model says 7 '^verdict     not decided: the winner is [0-9.]+ % slower than stored, but the GPU lowered its clocks'
result "a GPU that lowers its clocks decides nothing" $? "$work/out"
HALOTUNE_FAKE_MODEL=$work/hot.model says 7 '"is_true": null' --json
result "in JSON, too" $? "$work/out"
HALOTUNE_FAKE_MODEL=$work/hot.model HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_small=corrupt:333' says 1 'the winner does not work'
result "but a wrong winner is wrong there, too" $? "$work/out"
says 0 '"code": "database"' --json
result "the code that the database holds is what runs" $? "$work/out"
cp "$db" "$work/right.db"
sqlite3 "$db" 'update best set cubin = zeroblob(length(cubin)) where is_current'
says 0 '"code": "(cache|compiled)"' --json
result "in place of destroyed machine code, the source is compiled" $? "$work/out"
cp "$work/right.db" "$db"
says 4 "no winner of star7 .* run 'halotune tune star7'" --dtype f64
result "a problem that nobody tuned has nothing to check" $? "$work/err"
HALOTUNE_LIBCUDA=/nonexistent says 3 'driver'
result "without a GPU nothing is known" $? "$work/err"
says 2 'tolerance' --tolerance 3
result "a tolerance that is none" $? "$work/err"
finish
