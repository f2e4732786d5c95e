#!/bin/sh
# faults.sh: `halotune tune` on a GPU that fails on command, on full and read-only disks, on databases that are damaged
# or of another version, ended by a signal, and twice at the same time. It must end, store the right outcome, and lose
# nothing else. faults_calls.sh tests each of the driver's calls, faults_killed.sh tests kill -9. Prints TAP.
set -u
. "$(dirname "$0")/faults_parts.sh"

# --- a driver that never answers the program itself -------------------------------------------------------------------

# Each of these commands sleeps for a minute. They run beside the tests that follow.
silent() { # NAME WORDS...: the command's output and exit code
  name=$1
  shift
  { timeout -k 10 "$LIMIT_S" "$program" "$@"; echo "exit $?"; } >"$work/silent.$name" 2>&1 &
}
perl tests/npy.pl write "$work/u.npy" '<f4' 16,16 0
HALOTUNE_FAKE_FAULT=cuInit=hang silent query query star7
HALOTUNE_FAKE_FAULT=cuInit=hang silent run run heat2d --input u="$work/u.npy" -o v="$work/v.npy"
HALOTUNE_FAKE_NVML=init silent doctor doctor
HALOTUNE_FAKE_NVML=clock silent tune tune copy --grid 4096 --dtype f32 --budget none --max-variants 2 --db "$work/silent.db"

# `run` may compute for days, but a launch may not. Ctrl-C ends it earlier.
has_struck() { grep -q '^fault' "$work/log.run" 2>/dev/null; }
is_ended_by_signals() { ! kill -INT $running 2>/dev/null || grep -q '^State:.Z' "/proc/$running/status" 2>/dev/null; }
HALOTUNE_FAKE_FAULT=cuCtxSynchronize=hang HALOTUNE_FAKE_LOG=$work/log.run env --default-signal=INT "$program" \
  run heat2d --input u="$work/u.npy" -o v="$work/v.npy" >"$work/out" 2>&1 &
running=$!
await has_struck && await is_ended_by_signals
kill -KILL $running 2>/dev/null
wait $running
[ $? = 130 ]
result "a run whose kernel never ends is ended by Ctrl-C" $? "$work/out"
HALOTUNE_FAKE_FAULT=cuCtxSynchronize=hang timeout -k 10 "$LIMIT_S" "$program" \
  run heat2d --input u="$work/u.npy" -o v="$work/v.npy" --hang-timeout 1s >"$work/out" 2>&1
[ $? = 3 ] && grep -q 'did not end a part of the run in 1 s' "$work/out" && [ ! -e "$work/v.npy" ]
result "a run whose kernel never ends is ended by --hang-timeout" $? "$work/out"
HALOTUNE_FAKE_FAULT=cuModuleLoadData=hang timeout -k 10 "$LIMIT_S" "$program" \
  run heat2d --input u="$work/u.npy" -o v="$work/v.npy" --hang-timeout 1s >"$work/out" 2>&1
[ $? = 3 ] && grep -q 'did not end a part of the run in 1 s' "$work/out" && [ ! -e "$work/v.npy" ]
result "a run whose kernel is never loaded is ended by --hang-timeout" $? "$work/out"
"$program" run heat2d --input u="$work/u.npy" -o v="$work/v.npy" --hang-timeout soon >"$work/out" 2>&1
[ $? = 2 ] && grep -q 'hang-timeout' "$work/out"
result "a run with a bad --hang-timeout tells so" $? "$work/out"

space=32
tune "$work/plain.db" >"$work/out" 2>&1
result "without a fault" $? "$work/out"
[ "$(query "$work/plain.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" = $space ]
result "all variants have a time" $?

# --- one variant, of which one thing goes wrong -----------------------------------------------------------------------

victim=star7_small,block_x=64,block_y=2,vector=2,points_y=2
is_victim="parameters like '%\"block_x\":64,\"block_y\":2,%' and parameters like '%\"vector\":2,%' and parameters like '%\"points_y\":2,%'"

# The victim must have one of these outcomes, all other variants a time, and the run a winner.
fault() { # FAULT OUTCOMES
  rm -f "$work/fault.db" "$work/state" "$work/log"
  HALOTUNE_FAKE_FAULT=$1 HALOTUNE_FAKE_STATE=$work/state HALOTUNE_FAKE_LOG=$work/log tune "$work/fault.db" >"$work/out" 2>&1
  code=$?
  got=$(query "$work/fault.db" "select outcome from measurement join variant on variant.id = variant_id where $is_victim")
  others=$(query "$work/fault.db" "select count(*) from measurement join variant on variant.id = variant_id
    where not ($is_victim) and outcome in ('measured', 'screened')")
  winners=$(query "$work/fault.db" "select count(*) from best join run on run.id = run_id where is_current and state = 'complete'")
  struck=$(grep -c '^fault' "$work/log")
  [ "$code $others $winners" = "0 $((space - 1)) 1" ] && [ "$struck" -gt 0 ] && is_sound "$work/fault.db" &&
    case " $2 " in *" $got "*) ;; *) false ;; esac
  ok=$?
  echo "exit code $code, outcome '$got', $others others have a time, $winners winners, struck $struck times" >>"$work/out"
  result "$1: $2" $ok "$work/out"
}

fault "cuModuleLoadData@$victim=NO_BINARY_FOR_GPU" launch_failed
fault "cuModuleGetFunction@$victim=NOT_FOUND" launch_failed
fault "cuLaunchKernel@$victim=LAUNCH_OUT_OF_RESOURCES" launch_failed
fault "cuLaunchKernel@$victim=later:ILLEGAL_ADDRESS" out_of_bounds
fault "cuLaunchKernel@$victim=later:MISALIGNED_ADDRESS" out_of_bounds
fault "cuLaunchKernel@$victim=later:LAUNCH_FAILED" crashed
fault "cuLaunchKernel@$victim=later:ILLEGAL_INSTRUCTION" crashed
fault "cuLaunchKernel@$victim=later:ECC_UNCORRECTABLE" crashed
fault "cuLaunchKernel@$victim=later:LAUNCH_TIMEOUT" hung
fault "cuLaunchKernel@$victim#5=later:ILLEGAL_ADDRESS" out_of_bounds # among its samples
fault "cuLaunchKernel@$victim=lost" crashed
fault "cuLaunchKernel@$victim=kill:SEGV" crashed
fault "cuLaunchKernel@$victim=kill:KILL" crashed
fault "cuLaunchKernel@$victim=hang" hung
fault "cuLaunchKernel@$victim=corrupt:1365" wrong
fault "cuLaunchKernel@$victim=write:-4" out_of_bounds
fault "cuLaunchKernel@$victim=write:16384" out_of_bounds
fault "cuLaunchKernel@$victim=input:5460" 'wrong out_of_bounds'
fault "cuLaunchKernel@$victim=slow:1" 'measured screened'
fault "*@$victim=stretch:3" screened

# The fastest variant is right at first. It is fully measured, and then verified again, unlike screened variants.
slow_victim=$victim is_slow_victim=$is_victim
fastest=$(query "$work/plain.db" "select variant_id from best where is_current")
victim=star7_small,$(query "$work/plain.db" "select group_concat(key || '=' || value) from variant, json_each(parameters)
  where variant.id = $fastest and key in ('block_x', 'block_y', 'vector', 'points_y')")
is_victim="parameters = '$(query "$work/plain.db" "select parameters from variant where id = $fastest")'"
fault "cuLaunchKernel@$victim#4+=corrupt:1365" wrong
victim=$slow_victim is_victim=$is_slow_victim

# A single launch of the fastest variant goes wrong in the middle of its final rounds, where most of its launches are.
short() { # DB FAULT
  HALOTUNE_FAKE_FAULT=$2 HALOTUNE_FAKE_LOG=$work/log tune "$1" --launch stream --max-variants 4 >"$work/out" 2>&1
}
short "$work/short.db" ''
fastest=$(query "$work/short.db" "select variant_id from best where is_current")
words=star7_small,$(query "$work/short.db" "select group_concat(key || '=' || value) from variant, json_each(parameters)
  where variant.id = $fastest and key in ('block_x', 'block_y', 'vector', 'points_y')")
rm -f "$work/log"
short "$work/counted.db" "cuLaunchKernel@$words=stretch:1"
launches=$(grep -c '^fault' "$work/log")
for at in $((launches / 2)) $((launches * 3 / 4)) $((launches * 7 / 8)); do
  rm -f "$work/fault.db" "$work/log"
  short "$work/fault.db" "cuLaunchKernel@$words#$at=corrupt:1365" && [ "$(grep -c '^fault' "$work/log")" = 1 ] &&
    [ "$(query "$work/fault.db" "select outcome, reason like '% samples gave another result %', (select count(*) from best where
      best.variant_id = m.variant_id) from measurement m where outcome not in ('measured', 'screened')")" = "wrong 1 0" ] &&
    [ "$(query "$work/fault.db" "select count(*) from best where is_current")" = 1 ]
  result "launch $at of $launches of the fastest variant goes wrong: it does not win" $? "$work/out"
done

# --- one variant of four that does not compile ------------------------------------------------------------------------

# Make a folder with a template `small` whose kernel has one more statement for the victim, and the declarations that
# this statement uses. A source contains only what its kernel uses.
make_hard() { # DECLARATIONS STATEMENT
  mkdir -p "$work/hard"
  cp "$templates/small.yaml" "$work/hard"
  {
    printf '%s\n' "$1"
    sed '$d' "$templates/small.cu" # but for the kernel's closing brace
    printf '#if BLOCK_X == 64 && BLOCK_Y == 2 && VECTOR == 2 && POINTS_Y == 2\n  %s\n#endif\n}\n' "$2"
  } >"$work/hard/small.cu"
}
start_hard() { # option...
  rm -f "$work/fault.db"
  (templates=$work/hard become_tune "$work/fault.db" --set block_x=64,block_y=2 --workers 1 "$@") >"$work/out" 2>&1 &
  tuner=$!
}
ends_with() { # NAME OUTCOME REASON
  wait $tuner
  code=$?
  got=$(query "$work/fault.db" "select outcome || ': ' || reason from measurement join variant on variant.id = variant_id where $is_victim")
  others=$(query "$work/fault.db" "select count(*) from measurement where outcome in ('measured', 'screened')")
  winners=$(query "$work/fault.db" "select count(*) from best join run on run.id = run_id where is_current and state = 'complete'")
  [ "$code $others $winners" = "0 3 1" ] && is_sound "$work/fault.db" && case $got in "$2: "*"$3"*) ;; *) false ;; esac
  ok=$?
  echo "exit code $code, '$got', $others others have a time, $winners winners" >>"$work/out"
  result "$1: $2" $ok "$work/out"
}

make_hard '' 'const int broken = nobody_knows;'
start_hard
ends_with "a source that NVRTC refuses" compile_failed 'identifier "nobody_knows" is undefined'

# Nested templates that practically never end. The run before put all other sources into the cache, so the time limit
# meets only this one.
make_hard 'template <int N, unsigned M> struct tree { static const long sum = tree<N - 1, 2 * M>::sum + tree<N - 1, 2 * M + 1>::sum; };
template <unsigned M> struct tree<0, M> { static const long sum = M; };' 'const long endless = tree<28, 1>::sum;'
start_hard --compile-timeout 2s
ends_with "a source that NVRTC takes too long for" compile_timeout 'no result after 2000 ms'

# The only compiler works on the victim. The processes that start others are the program's children; that of the
# compilers is the first. NVRTC is at work when the compiler has used 200 ms of processor time.
start_hard
find_compiler() {
  compiler=$(children_of "$(children_of $tuner | head -n 1)" | head -n 1)
  [ -n "$compiler" ]
}
is_compiling() { [ "$(awk '{print $14 + $15}' "/proc/$compiler/stat")" -ge $(($(getconf CLK_TCK) / 5)) ]; }
await find_compiler && await is_compiling
kill -SEGV "${compiler:-$tuner}"
ends_with "a compiler that crashes" compile_crashed 'signal 11'

# --- the GPU ----------------------------------------------------------------------------------------------------------

# The run must end with one of these exit codes, and the database must be intact.
ends() { # NAME FAULT CODES [option...]
  name=$1 what=$2 codes=$3
  shift 3
  rm -f "$work/fault.db" "$work/state"
  HALOTUNE_FAKE_FAULT=$what HALOTUNE_FAKE_STATE=$work/state tune "$work/fault.db" "$@" >"$work/out" 2>&1
  code=$?
  case " $codes " in *" $code "*) ;; *) false ;; esac && { [ ! -e "$work/fault.db" ] || is_sound "$work/fault.db"; }
  ok=$?
  echo "exit code $code" >>"$work/out"
  result "$name" $ok "$work/out"
}

ends "no GPU" "cuInit=NO_DEVICE" 3
ends "the GPU is lost for good" "cuModuleLoadData#20=gone" 3
[ "$(query "$work/fault.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" -gt 0 ]
result "what was measured before is kept" $?
rm -f "$work/state"
tune "$work/fault.db" >"$work/out" 2>&1 &&
  [ "$(query "$work/fault.db" "select count(*) from best join run on run.id = run_id where is_current and state = 'complete'")" = 1 ]
result "a rerun goes on when it is back" $? "$work/out"
HALOTUNE_FAKE_MEMORY_MB=3
export HALOTUNE_FAKE_MEMORY_MB
ends "too little memory for the fields" "" 1
unset HALOTUNE_FAKE_MEMORY_MB
grep -q "the problem needs .* GB" "$work/out"
result "and says so" $? "$work/out"

# A worker dies while fields are sent to it. A new one starts, at most three times in a row.
ends "the worker dies while fields are brought to it" "cuMemcpyHtoD#2=kill:KILL" 0
[ "$(query "$work/fault.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" = $space ]
result "and nothing is lost" $? "$work/out"
ends "its GPU is lost while fields are brought to it, twice" "cuMemcpyHtoD#2=lost;cuMemcpyHtoD#4=lost" 0
ends "the worker that comes after one that died dies as well" "cuLaunchKernel@$victim=kill:SEGV;cuMemcpyHtoD#4=kill:KILL" 0
[ "$(query "$work/fault.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" = $((space - 1)) ]
result "and only the victim is lost" $? "$work/out"
rm -f "$work/log"
HALOTUNE_FAKE_LOG=$work/log
export HALOTUNE_FAKE_LOG
ends "each worker dies while fields are brought to it" "cuMemcpyHtoD=kill:KILL" 1
unset HALOTUNE_FAKE_LOG
[ "$(grep -c '^fault cuMemcpyHtoD' "$work/log")" = 4 ] && grep -q 'worker is gone' "$work/out"
result "the fourth is the last one" $? "$work/out"

rm -f "$work/fault.db" "$work/state"
HALOTUNE_FAKE_FAULT="cuLaunchKernel@$victim#3=throttle:2000" HALOTUNE_FAKE_STATE=$work/state tune "$work/fault.db" >"$work/out" 2>&1 &&
  [ "$(query "$work/fault.db" "select count(*) from measurement where attempts > 1")" -gt 0 ]
result "samples of a hot GPU are repeated" $? "$work/out"

# The search compares all variants with the default. Here the default fails while it is sampled. The search goes on without it.
for place in 20 60 100 140; do
  ends "the default dies at its call $place" "*@star7_small,block_x=128,block_y=1,vector=1,points_y=1#$place=later:LAUNCH_FAILED" 0
  [ "$(query "$work/fault.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" -ge $((space - 1)) ]
  result "and no other is lost" $?
done

# The fastest variant so far becomes the anchor, so a GPU that becomes slower later is noticed.
rm -f "$work/fault.db" "$work/state" "$work/log"
HALOTUNE_FAKE_FAULT="*@star7_small,block_x=128,block_y=1,vector=1,points_y=1#100=later:LAUNCH_FAILED;cuLaunchKernel@star7_small#30000+=stretch:1.05" \
  HALOTUNE_FAKE_STATE=$work/state HALOTUNE_FAKE_LOG=$work/log tune "$work/fault.db" >"$work/out" 2>&1 &&
  [ "$(query "$work/fault.db" "select count(*) from measurement where attempts > 1")" -gt 0 ]
result "another variant takes the place of a default that dies" $? "$work/out"

# --- ended by a signal ------------------------------------------------------------------------------------------------

# Ctrl-C in the middle of the search: the run must end soon, say how to continue, and continue. It runs without timeout,
# which would send the signal twice; a second signal has another meaning.
(HALOTUNE_FAKE_FAULT=cuEventSynchronize=slow:5 HALOTUNE_FAKE_STATE=$work/stopped.state become_tune "$work/stopped.db") >"$work/out" 2>&1 &
tuner=$!
while [ "$(query "file:$work/stopped.db?mode=ro" "select count(*) from measurement" 2>/dev/null || echo 0)" -lt 3 ] && kill -0 $tuner 2>/dev/null; do
  sleep 0.02
done
kill -TERM $tuner
wait $tuner
processes_end "$work/stopped.state" && is_sound "$work/stopped.db"
result "ended by a signal, with all its processes" $? "$work/out"
[ "$(query "$work/stopped.db" "select state, (select count(*) from measurement) between 3 and $((space - 1)) from run")" = "partial 1" ] &&
  grep -q 'halotune tune star7 .*--db' "$work/out"
result "it keeps what it has, and says how to go on" $? "$work/out"
tune "$work/stopped.db" >"$work/again" 2>&1 &&
  [ "$(query "$work/stopped.db" "select group_concat(state), (select count(*) from measurement) from run")" = "partial,complete $space" ]
result "and goes on" $? "$work/again"

# --- disks and databases ----------------------------------------------------------------------------------------------

# Run on a file system that is soon full.
on_full_disk() { # BYTES
  mkdir -p "$work/disk"
  unshare -rm sh -c 'mount -t tmpfs -o size="$1" none "$2" || exit 77
    shift 2
    "$@" >"$WORK/out" 2>&1
    code=$?
    cp "$WORK"/disk/* "$WORK/rescued" 2>/dev/null
    exit $code' sh "$1" "$work/disk" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small \
    --strategy exhaustive $patient --db "$work/disk/db"
}
if WORK=$work && export WORK && mkdir "$work/rescued" && unshare -rm mount -t tmpfs none "$work/rescued" 2>/dev/null; then
  for bytes in 64k 256k 400k; do
    rm -f "$work"/rescued/*
    on_full_disk $bytes
    code=$?
    case $code in 1 | 6) grep -qi 'full\|space' "$work/out" && { [ ! -e "$work/rescued/db" ] || is_sound "$work/rescued/db"; } ;; *) false ;; esac
    ok=$?
    echo "exit code $code" >>"$work/out"
    result "a disk of $bytes is told to be full, and what is on it is sound" $ok "$work/out"
  done
else
  for bytes in 64k 256k 400k; do result "a disk of $bytes # skip no file systems of our own" 0; done
fi

# An unusable file must be refused, with a reason, and must not change.
refused() { # NAME FILE WORDS
  sum=$(cksum "$2")
  tune "$2" >"$work/out" 2>&1
  code=$?
  [ $code = 6 ] && [ "$(cksum "$2")" = "$sum" ] && grep -qi "$3" "$work/out" && [ "$(ls "$work" | grep -c "^$(basename "$2")-")" = 0 ]
  ok=$?
  echo "exit code $code" >>"$work/out"
  result "$1" $ok "$work/out"
}
sqlite3 "$work/plain.db" 'pragma wal_checkpoint(truncate)' >/dev/null
rows_at=$(sqlite3 "$work/plain.db" "select (rootpage - 1)*(select page_size from pragma_page_size) from sqlite_schema where name = 'problem'")
for offset in 0 "$rows_at"; do
  cp "$work/plain.db" "$work/damaged.db"
  dd if=/dev/urandom of="$work/damaged.db" bs=1 seek=$offset count=3000 conv=notrunc 2>/dev/null
  refused "a database that is damaged at byte $offset" "$work/damaged.db" 'damaged\|not a database\|malformed'
done
head -c 9000 "$work/plain.db" >"$work/short.db"
refused "a database that is cut off" "$work/short.db" 'damaged\|malformed'
echo 'dear diary' >"$work/text.db"
refused "a file that is no database" "$work/text.db" 'not a database'
cp "$work/plain.db" "$work/newer.db"
sqlite3 "$work/newer.db" 'pragma user_version = 1000'
refused "a database of a newer version" "$work/newer.db" 'newer'
cp "$work/plain.db" "$work/foreign.db"
sqlite3 "$work/foreign.db" 'drop table best; drop table finalist; create table recipe (text); pragma user_version = 0; pragma application_id = 7'
refused "a database of another program" "$work/foreign.db" 'not a\|another\|no database'
if [ -d "$work/rescued" ]; then
  cp "$work/plain.db" "$work/rescued/db"
  # shellcheck disable=SC2016
  unshare -rm sh -c 'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" || exit 77
    shift 2
    exec "$@"' sh "$work/rescued" "$work/disk" "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" \
    --template small $patient --db "$work/disk/db" >"$work/out" 2>&1
  code=$?
  [ $code = 6 ] && grep -qi 'written' "$work/out" && cmp -s "$work/plain.db" "$work/rescued/db" && [ "$(ls "$work/rescued")" = db ]
  ok=$?
  echo "exit code $code" >>"$work/out"
  result "a database on a disk that may only be read" $ok "$work/out"
else
  result "a database on a disk that may only be read # skip no file systems of our own" 0
fi

# --- two at a time ----------------------------------------------------------------------------------------------------

HALOTUNE_FAKE_STATE=$work/first.state tune "$work/both.db" >"$work/first" 2>&1 &
tune "$work/both.db" >"$work/second" 2>&1
second=$?
wait $!
[ "$? $second" = "0 0" ] && is_sound "$work/both.db" &&
  [ "$(query "$work/both.db" "select count(*) from run where state = 'complete'; select count(*) from best where is_current;
       select count(distinct variant_id) from measurement" | tr '\n' ' ')" = "2 1 $space " ]
result "two at a time, into one database" $? "$work/second"

wait
for name in query run doctor tune; do
  grep -q "driver does not answer" "$work/silent.$name" && grep -qx 'exit 3' "$work/silent.$name"
  result "$name ends, though the driver never answers" $? "$work/silent.$name"
done
is_sound "$work/silent.db"
result "the database of a tune whose driver never answers is whole" $?

finish
