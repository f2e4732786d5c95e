#!/bin/sh
# faults_calls.sh: `halotune tune` on a GPU on which one call fails: every call that a run makes, in every way. The run
# must end by itself, lose at most one variant to a single failure, and store intact results. By default it takes a quarter
# of the failures, and at least one of each call; FULL=1 takes all, more errors, and hangs of calls for which a GPU may take two minutes. Prints TAP.
set -u
. "$(dirname "$0")/faults_parts.sh"
. tests/slice.sh

# Templates whose runs make additional calls: for more than 48 KB of shared memory, tensor maps and launches in
# clusters, and texture objects.
cp tests/data/templates/tensor.* templates/zmarch.* "$templates"
sed -e 's/^name: small/name: large/' -e 's/^shared_bytes: 0/shared_bytes: 60000/' "$templates/small.yaml" >"$templates/large.yaml"
cp "$templates/small.cu" "$templates/large.cu"
tensor=block_x=32,block_y=8,z_slicing=4,promotion=128,stores=block
zmarch=storage=direct,prefetch=none,vector=1,block_x=32,points_y=1,unroll=1,cluster_y=1,z_slicing=4,padding=0
zmarch=$zmarch,load_path=texture,streaming=none,coefficients=parameter,extents=runtime,min_blocks=0

run() { # TEMPLATE DB
  case $1 in
  tensor) tune "$2" --template tensor --set $tensor ;;
  zmarch) tune "$2" --template zmarch --set $zmarch --max-variants 2 ;;
  *) tune "$2" --template "$1" --max-variants 4 ;;
  esac
}

# Run with a fault. Prints "ok - " or "not ok - ", the fault, and its effect.
one() { # TEMPLATE FAULT
  db=$work/fault.db
  HALOTUNE_FAKE_FAULT=$2 HALOTUNE_FAKE_STATE=$work/state HALOTUNE_FAKE_LOG=$work/log run "$1" "$db" >"$work/out" 2>&1
  code=$?
  struck=$(grep -c '^fault' "$work/log")
  timed=0 failed=0 winners=0
  if [ -e "$db" ]; then
    timed=$(query "$db" "select count(*) from measurement where outcome in ('measured', 'screened')")
    failed=$(query "$db" "select count(*) from measurement where outcome not in ('measured', 'screened')")
    winners=$(query "$db" "select count(*) from best join run on run.id = run_id where is_current and state = 'complete'")
  fi
  [ "$struck" -gt 0 ] && { [ ! -e "$db" ] || is_sound "$db"; } &&
    case $code:$winners in 0:1 | 1:0 | 3:0) ;; *) false ;; esac &&
    case $2 in
    *=slow:*) [ "$code $failed" = "0 0" ] ;;
    *=gone) [ $code = 3 ] ;;
    *+=*) ;;
    # A single failure: it costs at most one variant, or the run if that was not even set up.
    *) if [ "$timed" -gt 0 ]; then [ $code = 0 ] && [ "$failed" -le 1 ]; else [ $code != 0 ] && [ "$failed" = 0 ]; fi ;;
    esac || printf 'not '
  echo "ok - $2: exit code $code, $timed timed, $failed failed"
}
if [ $# = 2 ]; then
  one "$1" "$2"
  exit
fi

# Write lines "TEMPLATE CALL COUNT": each call, the first template whose run makes it, and how often that run makes it.
for template in small large tensor zmarch; do
  HALOTUNE_FAKE_FAULT='*=slow:0' HALOTUNE_FAKE_STATE=$work/$template.state HALOTUNE_FAKE_LOG=$work/$template.log \
    run $template "$work/$template.db" >"$work/out" 2>&1
  result "without a fault: $template" $? "$work/out"
  awk -v template=$template '$1 == "fault" {count[$2]++} END {for (call in count) print template, call, count[call]}' "$work/$template.log" |
    sort >>"$work/made"
done
awk '!seen[$2]++' "$work/made" >"$work/calls"

# Other calls in gpu/driver/cu.h are made by the library, at the end of a process that ends anyway, or for the text of
# an error.
sed -n 's/^  X([a-z_]*, "\(cu[A-Za-z0-9_]*\)".*/\1/p' gpu/driver/cu.h | sort >"$work/known"
cut -d' ' -f2 "$work/calls" | sort | comm -3 "$work/known" - >"$work/differ"
[ "$(tr '\n' ' ' <"$work/differ")" = "cuCtxGetCurrent cuCtxGetDevice cuDevicePrimaryCtxRelease_v2 cuEventDestroy_v2 cuFuncGetAttribute cuFuncGetParamInfo \
cuGetErrorName cuGetErrorString cuMemAllocAsync cuMemFreeAsync cuOccupancyMaxActiveBlocksPerMultiprocessor cuStreamDestroy_v2 \
cuStreamIsCapturing " ]
result "the calls that no run makes are those that are known" $? "$work/differ"

# The failures: at the first call, from the third on, and once in the middle of the run. A hang ends after a minute in
# loads and measurements, which make many such calls, and after two minutes in the set-up.
awk -v full="${FULL:-}" -v hanging="$work/hanging" '{
  middle = "#" int(($3 + 1) / 2)
  count = split("1=INVALID_VALUE 3+=INVALID_VALUE =OUT_OF_MEMORY =later:LAUNCH_FAILED =lost =gone =kill:KILL =slow:30" \
    (full ? " 1=UNKNOWN 3+=UNKNOWN =UNKNOWN =kill:SEGV" : ""), faults, " ")
  for (i = 1; i <= count; i++) {
    if (faults[i] ~ /^3/ && $3 < 3) continue
    print $1, $2 (faults[i] ~ /^=/ ? middle : "#") faults[i]
  }
  if (full || ($3 >= 10 && $2 !~ /^cu(MemAlloc|MemFree|MemcpyHtoD|DeviceGetAttribute)/)) print $1, $2 middle "=hang" >hanging
}' "$work/calls" >"$work/all"
# The sample ignores the number of a call in the middle, because that number changes with the work of a run.
if [ -n "${FULL:-}" ]; then cp "$work/all" "$work/todo"
else
  sed 's/#[0-9]*=/#=/' "$work/all" | paste -d '|' - "$work/all" >"$work/keyed"
  cut -d '|' -f 1 "$work/keyed" | sliced_kinds 4 "$kind_of_call" | awk -F '|' 'NR == FNR {chosen[$0] = 1; next} $1 in chosen {print $2}' - "$work/keyed" >"$work/todo"
fi
xargs -r -P 16 -L 1 "$0" <"$work/hanging" >"$work/hung" & # they sleep
xargs -r -P "$(nproc)" -L 1 "$0" <"$work/todo" >"$work/results"
wait
cat "$work/hung" >>"$work/results"
cat "$work/hanging" >>"$work/todo"
awk -v number="$number" '{number++; sub(/ok - /, "ok " number " - "); print}' "$work/results"
number=$((number + $(grep -c 'ok - ' "$work/results"))) failed=$((failed + $(grep -c '^not ok' "$work/results")))
[ "$(grep -c 'ok - ' "$work/results")" = "$(grep -c . "$work/todo")" ]
result "all of them ended" $? "$work/todo"
finish
