#!/bin/sh
# faults.sh: `halotune tune` on a GPU that fails on command, on disks that are full or not to be written, on databases that are
# damaged or of another version, killed at any moment, and two at a time: it ends, stores the right outcome, and loses nothing
# else. By default some moments and calls; FULL=1 takes 50 and all. Speaks TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
number=0 failed=0

result() { # name status [file]
  number=$((number + 1))
  if [ "$2" = 0 ]; then
    echo "ok $number - $1"
  else
    failed=$((failed + 1))
    echo "not ok $number - $1"
    [ $# -lt 3 ] || tail -n 5 "$3" | sed 's/^/# /'
  fi
}

query() { sqlite3 -separator ' ' "$1" "$2"; } # DB SQL
is_sound() { [ "$(query "$1" 'pragma integrity_check; pragma foreign_key_check')" = ok ]; }
outcomes() { query "$1" "select outcome from measurement order by id desc" | sort | uniq -c | awk '{printf "%s%s %s", NR > 1 ? ", " : "", $1, $2} END {print ""}'; }

# Processes that have this word in their environment: the tuner's, its workers, and theirs.
processes_of() { # word
  for environment in /proc/[0-9]*/environ; do
    if grep -qsF "$1" "$environment"; then echo "$environment"; fi
  done
}
ends_within_2_s() { # word
  for tenth in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -n "$(processes_of "$1")" ] || return 0
    sleep 0.1
  done
  return 1
}

space=32
tune "$work/plain.db" >"$work/out" 2>&1
result "without a fault" $? "$work/out"
[ "$(query "$work/plain.db" "select count(*) from measurement where outcome in ('measured', 'screened')")" = $space ]
result "all variants have a time" $?

# --- one variant, of which one thing goes wrong ---------------------------------------------------------------------------

victim=star7_small,block_x=64,block_y=2,vector=2,points_y=2
is_victim="parameters like '%\"block_x\":64,\"block_y\":2,%' and parameters like '%\"vector\":2,%' and parameters like '%\"points_y\":2,%'"

# The victim has one of these outcomes, all others have a time, and there is a winner.
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
fault "cuLaunchKernel@$victim#4+=corrupt:1365" wrong # right at first
fault "cuLaunchKernel@$victim=write:-4" out_of_bounds
fault "cuLaunchKernel@$victim=write:16384" out_of_bounds
fault "cuLaunchKernel@$victim=input:5460" 'wrong out_of_bounds'
fault "cuLaunchKernel@$victim=slow:5" 'measured screened'
fault "*@$victim=stretch:3" screened

# --- the GPU ----------------------------------------------------------------------------------------------------------------

# It ends, in any way that is told by its exit code, and the database is sound.
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
grep -qi memory "$work/out"
result "and says so" $? "$work/out"

rm -f "$work/fault.db" "$work/state"
HALOTUNE_FAKE_FAULT="cuLaunchKernel@$victim#3=throttle:2000" HALOTUNE_FAKE_STATE=$work/state tune "$work/fault.db" >"$work/out" 2>&1 &&
  [ "$(query "$work/fault.db" "select count(*) from measurement where attempts > 1")" -gt 0 ]
result "samples of a hot GPU are repeated" $? "$work/out"

# Any call of the driver may fail at any time; the list of calls is that of gpu/cu.h.
calls=$(sed -n 's/^  X([a-z_]*, "\(cu[A-Za-z0-9_]*\)".*/\1/p' gpu/cu.h | grep -v 'cuGetError')
[ -n "${FULL:-}" ] || calls=$(echo "$calls" | awk 'NR % 4 == 1')
for call in $calls; do
  for error in ${FULL:+UNKNOWN} INVALID_VALUE; do
    for place in 1 '3+'; do
      ends "$call fails with $error from $place on" "$call#$place=$error" '0 1 3' --max-variants 4
    done
  done
done

echo "1..$number"
[ "$failed" = 0 ]
