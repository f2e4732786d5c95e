#!/bin/sh
# faults_team.sh: members of a team are killed at seeded moments of a search, one in four with SIGTERM, the others with
# SIGKILL; at last the leader is, and a team is asked to stop. No row may be missing, and none may be there twice. By
# default 40 members are killed, 8 in each of 5 runs, or more runs if some end early; RUNS=N takes N runs.
# A moment is a number of rows. What a member had in flight then depends on the speed of the machine, so the number of
# variants that were taken over is only printed; tests/unit/fleet/fleet_leader_test.c checks it. Prints TAP.
set -u
. "$(dirname "$0")/faults_parts.sh"
space=32 team=9
runs=${RUNS:-5}
rows_of() { query "file:$1?mode=ro" "select count(*) from measurement" 2>/dev/null || echo 0; } # DB
# In each process the GPU's events are late after the first ones, so that all processes are set up soon, and the search
# lasts long enough. Each process of the team has a GPU of its own. The word that marks them is in their environment.
slowly() { MARK=$work/mark HALOTUNE_FAKE_DEVICES=$team HALOTUNE_FAKE_GO=$work/go HALOTUNE_FAKE_FAULT=${faults:-'cuEventSynchronize#12+=slow:40'} become_tune "$@" --device all --workers 1 --json; } # DB option...
# The leader waits for members that have ended when its search is over. Until then they are zombies.
members_of() { # leader
  for process in $(children_of "$1"); do
    [ "$(awk '/^Name:/ {name = $2 " " $3} /^State:/ {print name, $2; exit}' "/proc/$process/status" 2>/dev/null | sed 's/[RSDT]$/lives/')" = 'halotune member lives' ] && echo "$process"
  done
}
has_rows() { [ "$(rows_of "$1")" -ge "$2" ] || ! kill -0 "$tuner" 2>/dev/null; } # DB COUNT

has_member_rows() { # DB
  [ "$(query "file:$1?mode=ro" "select count(*) from measurement where gpu is not null" 2>/dev/null || echo 0)" -gt 0 ] || ! kill -0 "$tuner" 2>/dev/null
}

killed=0 lost=0 wrong='' run=0
# A run may end before its last member is killed.
while [ $killed -lt $((runs * (team - 1))) ] && [ $run -lt $((2 * runs)) ]; do
  run=$((run + 1))
  db=$work/team$run.db
  (slowly "$db") >"$work/out" 2>"$work/err" &
  tuner=$!
  await has_member_rows "$db"
  # A line for each kill: after how many rows, and which of the members that are left. The first ones come while all have
  # variants in flight.
  awk -v seed="$run" -v kills=$((team - 1)) -v begin="$(rows_of "$db")" -v space=$space 'BEGIN {srand(seed)
    for (i = 0; i < kills; i++) print i < 3 ? begin : begin + int((space - begin) * (i + rand()) / (kills + 4)), int(rand() * 1000)}' >"$work/moments"
  while read -r rows which; do
    await has_rows "$db" "$rows"
    members=$(members_of $tuner)
    count=$(echo "$members" | wc -w)
    [ "$count" -gt 0 ] || continue
    victim=$(echo "$members" | sed -n "$((which % count + 1))p")
    signal=KILL
    [ $((which % 4)) != 0 ] || signal=TERM
    kill -$signal "$victim" 2>/dev/null && killed=$((killed + 1))
  done <"$work/moments"
  wait $tuner || wrong="$wrong run$run:exit:$?"
  is_sound "$db" || wrong="$wrong run$run:damaged"
  after=$(query "$db" "select count(*), count(distinct variant_id), count(distinct number), max(number), (select count(*) from run where state = 'complete') from measurement")
  [ "$after" = "$space $space $space $space 1" ] || wrong="$wrong run$run:$(echo "$after" | tr ' ' ,)"
  lost=$((lost + $(jq '.devices[0].tasks[0].lost' "$work/out")))
  processes_end "$work/mark" || wrong="$wrong run$run:processes-left"
done
echo "# $wrong" >>"$work/err"
[ -z "$wrong" ] && [ "$killed" -ge "$runs" ]
result "$killed members were killed in $run runs, and $lost variants taken over: no row is lost, none is there twice" $? "$work/err"
[ "$(jq '[.devices[0].tasks[0].gpus[] | select(.left_out)] | length' "$work/out")" -ge 1 ] && grep -q 'its process has ended' "$work/out"
result "the document names those that ended" $? "$work/out"

# Two GPUs run a task each, and the member is killed: the leader ends the member's task as well. Each process waits
# within its task until the file is there, so that the one that is killed has not ended it.
db=$work/side.db
printf 'plan: 1\ntasks:\n  - {stencil: star7, dtype: f32, grid: [16, 16, 16]}\n  - {stencil: star7, dtype: f32, grid: [14, 16, 16]}\n' >"$work/side.yaml"
side() {
  MARK=$work/mark HALOTUNE_FAKE_DEVICES=${gpus:-2} HALOTUNE_FAKE_GO=$work/go HALOTUNE_FAKE_FAULT='cuEventSynchronize#200+=wait;cuEventSynchronize#12+=slow:15' exec "$program" tune --plan "$work/side.yaml" --resume \
    --template-dir "$templates" --template small --strategy exhaustive $patient --db "$db" --device all --workers 1 --json
}
(side) >"$work/out" 2>"$work/err" &
tuner=$!
has_both() { [ "$(query "file:$db?mode=ro" "select count(distinct run_id) from measurement" 2>/dev/null)" = 2 ] || ! kill -0 "$tuner" 2>/dev/null; }
await has_both
kill -9 "$(members_of $tuner)"
touch "$work/go"
of_member="(select id from run where reason like 'lost: %')"
wait $tuner && is_sound "$db" && grep -q "star7 f32 14x16x16: GPU-.*01 on .* does not end it: its process has ended; another GPU goes on with it" "$work/err" &&
  jq -e '.devices[0].tasks | length == 2 and all(.complete and .tried == '$space' and (.gpus | map(.uuid[-2:]) == ["00"]))' "$work/out" >/dev/null &&
  [ "$(query "$db" "select count(*), count(distinct variant_id), count(distinct gpu), substr(max(gpu), -2) from measurement where run_id in $of_member" | awk '{print ($1 > 0 && $1 == $2 && $3 == 1 && $4 == "01")}')" = 1 ] && processes_end "$work/mark"
result "a member with a task of its own is killed: another GPU does it, and what it stored stays" $? "$work/err"
rows=$(query "$db" "select count(*) from measurement where run_id in $of_member")
[ "$(jq '.devices[0].tasks[] | select(.grid[0] == 14) | .recalled' "$work/out")" = "$rows" ] && [ "$(rows_of "$db")" = $((2 * space)) ]
result "it goes on from the $rows rows of that member" $? "$work/out"
query "$db" "select 'run: ' || state || ': ' || reason || ', ' || outcomes from run where id in $of_member" >"$work/out"
[ "$(query "$db" "select count(*) from run where state = 'running'")" = 0 ] &&
  [ "$(grep -c '^run: partial: lost: its process has ended, {"measured":' "$work/out")" = 1 ]
result "the run of that member ends as lost" $? "$work/out"

# Three GPUs run a task each. A member is killed, and then the one that goes on with its task, as soon as it has begun.
rm "$work/go"
db=$work/deadly.db
printf 'plan: 1\ntasks:\n' >"$work/side.yaml"
for n in 16 14 12; do printf '  - {stencil: star7, dtype: f32, grid: [%d, 16, 16]}\n' $n; done >>"$work/side.yaml"
(gpus=3 && side) >"$work/out" 2>"$work/err" &
tuner=$!
has_runs() { [ "$(query "file:$db?mode=ro" "select count(distinct run_id) from measurement where run_id in (select id from run where $1)" 2>/dev/null)" = "$2" ] || ! kill -0 "$tuner" 2>/dev/null; }
await has_runs true 3
kill -9 "$(members_of $tuner | head -n 1)"
touch "$work/go"
await has_runs "problem_id in (select problem_id from run where reason like 'lost: %')" 2
kill -9 "$(members_of $tuner)"
wait $tuner
code=$?
rm "$work/go"
[ $code = 1 ] && is_sound "$db" && [ "$(grep -c 'does not end it: its process has ended' "$work/err")" = 2 ] &&
  grep -q "star7 f32 1[24]x16x16: 2 processes were lost while they ran this task, and no further one begins it" "$work/err" &&
  jq -e '.devices[0].tasks | length == 3 and (map(select(.complete and .tried == '$space')) | length == 2) and (map(select(.reason | startswith("2 processes were lost"))) | length == 1)' "$work/out" >/dev/null &&
  processes_end "$work/mark"
result "a task in which two members die fails by its name, and the others go on" $? "$work/err"

# The leader is killed: its members end, what is stored stays, and the same command goes on.
db=$work/leader.db
(slowly "$db") >"$work/out" 2>&1 &
tuner=$!
await has_rows "$db" 5
kill -9 $tuner
wait $tuner 2>/dev/null
processes_end "$work/mark"
result "the leader is killed: no process is left" $?
(slowly "$db") >"$work/out" 2>"$work/err" && jq -e '.devices[0].tasks[0] | .complete and .recalled >= 5 and .tried == '$space "$work/out" >/dev/null &&
  [ "$(query "$db" "select count(*), count(distinct variant_id) from measurement")" = "$space $space" ]
result "and the same command goes on" $? "$work/err"

# SIGTERM, as a batch system sends it. It comes while most variants wait to be loaded. They go on when the leader has it, and then are
# slow, so that the leader's message finds its members at work.
db=$work/stopped.db
waits=cuEventSynchronize#12+=slow:600
for columns in 32 64 256; do waits="$waits;cuModuleLoadData@star7_small,block_x=$columns=wait"; done
(faults=$waits && slowly "$db") >"$work/out" 2>"$work/err" &
tuner=$!
await has_rows "$db" 1
kill -TERM $tuner
has_signal() { ! grep -q '^ShdPnd:.*[4-7c-f]...$' "/proc/$tuner/status" 2>/dev/null; } # signal 15 is no longer pending
await has_signal
touch "$work/go"
wait $tuner
rows=$(rows_of "$db")
[ "$rows" -lt $space ] && jq -e ".devices[0].tasks[0] | .reason == \"interrupted\" and .tried == $rows" "$work/out" >/dev/null && grep -q 'to go on:' "$work/err" && processes_end "$work/mark"
result "SIGTERM ends the team after $rows rows, and tells how to go on" $? "$work/err"
(slowly "$db") >"$work/out" 2>"$work/err" && jq -e ".devices[0].tasks[0] | .complete and .recalled >= $rows" "$work/out" >/dev/null &&
  [ "$(query "$db" "select count(*), count(distinct variant_id) from measurement")" = "$space $space" ]
result "the same command does so" $? "$work/err"
finish
