#!/bin/sh
# selftest.sh: `halotune selftest --gpu` on the driver of tests/fake_cuda. Right variants pass, in the worker and in the
# program itself, and a defect in a template or in a kernel's writes is found. Prints TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
. tests/slice.sh
unset HALOTUNE_FAKE_SKIP
number=0 failed=0
touch "$work/out" "$work/err"

result() { # name status
  number=$((number + 1))
  [ "$2" = 0 ] || { failed=$((failed + 1)); printf 'not '; }
  echo "ok $number - $1"
  [ "$2" = 0 ] || tail -n 5 "$work/out" "$work/err" | sed 's/^/# /'
}

# A variant that runs for longer than $hang has hung. The default is a minute, which no variant takes on a busy machine.
selftest() {
  set -- "$@" --hang-timeout "${hang:-60s}"
  timeout "$LIMIT_S" "$program" selftest --gpu "$@" >"$work/out" 2>"$work/err"
}
outcomes() { jq -r '[.variants[].outcome] | unique | join(" ")' "$work/out"; }

selftest star7 --grid 20,17,11 --template direct --sample 3 --json && [ "$(outcomes)" = passed ] && [ "$(jq '.variants | length' "$work/out")" = 6 ]
result "variants that are right pass" $?

selftest wave25 --grid 20,17,11 --template direct --sample 2 --dtype f32 --in-process && grep -q '2 variants, 0 failed' "$work/out"
result "in the program itself, too" $?

mkdir "$work/broken"
cp templates/direct.yaml "$work/broken"
sed 's/Taps\(<VECTOR>\)*{f, g, p.x, p.y, p.z}/Taps\1{f, g, p.x, p.y, g.z0 + g.z1 - 1 - p.z}/' templates/direct.cu >"$work/broken/direct.cu"
! cmp -s templates/direct.cu "$work/broken/direct.cu"
result "a template with mirrored planes is made" $?
for where in '' --in-process; do
  # shellcheck disable=SC2086
  selftest star25 --grid 20,17,13 --template-dir "$work/broken" --template direct --sample 2 --dtype f64 --json $where
  [ $? = 1 ] && [ "$(outcomes)" = wrong ] && [ "$(jq .failed "$work/out")" = 2 ]
  result "mirrored planes are found $where" $?
done

selftest star25 --grid 20,17,13 --template-dir "$work/broken" --template direct --sample 2 --dtype f64 --json --fail-fast
[ $? = 1 ] && [ "$(jq '.variants | length' "$work/out")" = 1 ]
result "the first failure may end it" $?

several="heat2d --grid 61,29 --template fused_tile --set tile_y=8 --sample 2 --dtype f64 --json"
# shellcheck disable=SC2086
selftest $several && [ "$(outcomes)" = passed ] && [ "$(jq '.variants | length' "$work/out")" = 2 ] && [ "$(jq '[.variants[].parameters.steps] | min' "$work/out")" -ge 2 ]
result "launches of several time steps pass" $?
# shellcheck disable=SC2086
HALOTUNE_FAKE_FAULT='cuLaunchKernel@heat2d_fused_tile=corrupt:333' selftest $several
[ $? = 1 ] && [ "$(outcomes)" = wrong ]
result "and a wrong one is found" $?
# shellcheck disable=SC2086
selftest $several --single-steps && [ "$(jq '.variants | length' "$work/out")" = 0 ]
result "--single-steps leaves them out" $?

grids() { sed -n 's/^star7 *f32 \([0-9x]*\):.*/\1/p' "$work/out" | sort | tr '\n' ' '; }
selftest star7 --template patch --sample 1 --dtype f32 && all=$(grids) && selftest star7 --template patch --sample 1 --dtype f32 --no-large-planes &&
  [ "$all" = "$(grids)2044x268x5 " ]
result "the grid of large planes may be left out" $?
selftest star7 --grid 20,17,11 --template direct --sample 1 --no-large-planes
[ $? = 2 ] && [ ! -s "$work/out" ] && grep -q 'cannot be combined with --grid' "$work/err"
result "not of a grid that is given" $?

# Ctrl-C after the first of many problems, whose calls are slow.
many=$(printf 'star7 %.0s' $(seq 60))
# shellcheck disable=SC2086
HALOTUNE_FAKE_FAULT='cuModuleLoadData=slow:500' env --default-signal=INT setsid "$program" selftest --gpu $many --grid 20,17,11 --template direct --sample 1 \
  --dtype f32 >"$work/out" 2>"$work/err" &
pid=$!
await grep -q '1 variant, 0 failed' "$work/out"
kill -INT -$pid
wait $pid
code=$?
variants=$(grep -c '^star7 .*: 1 variant, 0 failed' "$work/out")
[ $code = 1 ] && [ "$variants" -ge 1 ] && [ "$variants" -lt 60 ] && grep -q ": $variants variants*, 0 failed" "$work/out" && grep -q 'halotune: stopped' "$work/err"
result "Ctrl-C keeps the results that are there" $?

HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_direct=write:-8' selftest star7 --grid 20,17,11 --template direct --sample 1 --dtype f32
[ $? = 1 ] && grep -q 'out_of_bounds: wrote in front of v' "$work/out"
result "a write in front of a field is found" $?

HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_direct=hang' hang=0.2s selftest star7 --grid 20,17,11 --template direct --sample 1 --dtype f32
[ $? = 1 ] && grep -q 'hung: did not end in 0.2 s' "$work/out"
result "a variant that hangs ends after --hang-timeout" $?
HALOTUNE_FAKE_FAULT='cuLaunchKernel@star7_direct=hang' hang=1s selftest star7 --grid 20,17,11 --template direct --sample 1 --dtype f32 --in-process
[ $? = 3 ] && grep -q 'did not return in 1 s (--hang-timeout)' "$work/err"
result "without a worker process it ends the program" $?

HALOTUNE_FAKE_FAULT='cuLaunchKernel@CASE_bulk=corrupt:77' selftest --template nosuch
grep -q 'wrong: v: 1 of 65536 points' "$work/out" && grep -q 'wrapper bulk$' "$work/out"
result "wrappers are tested, and told apart" $?

grep -q '^wrappers *f64 64x32x32: 3 variants, ' "$work/out"
result "those of tensor maps of three dimensions, too" $?

HALOTUNE_FAKE_FAULT='cuTensorMapEncodeTiled=NOT_SUPPORTED;cuLaunchKernelEx=INVALID_CLUSTER_SIZE' selftest --template nosuch
grep -q 'launch_failed: cuTensorMapEncodeTiled of boxes of 32x8x4 elements: CUDA_ERROR_NOT_SUPPORTED' "$work/out" &&
  grep -q 'launch_failed: cuLaunchKernelEx in clusters of 4x1x1 blocks: CUDA_ERROR_INVALID_CLUSTER_SIZE' "$work/out" &&
  grep -q '^wrappers *f64 256x256: 23 variants, 7 failed$' "$work/out"
result "tensor maps and clusters that the driver refuses are launches that failed, and say why" $?

for template in tensor cluster; do
  selftest star7 --grid 36,17,11 --template-dir tests/data/templates --template $template --sample 6 --json && [ "$(outcomes)" = passed ] &&
    [ "$(jq '.variants | length' "$work/out")" = 12 ]
  result "variants of the template $template pass" $?
done

untried= templates_per_test=3
[ -z "${FULL:-}" ] || templates_per_test=1
# By default one template in three. FULL=1 takes all.
for template in $("$program" list templates --json | jq -r '.[].name' | sliced "$templates_per_test"); do
  [ "$template" != fused_tile ] || continue # it has launches of one step for large updates only
  count=0
  for stencil in star7 derivative_y scan_y heat2d advect1d kernels/asymmetric/skew_sum_2d.yaml; do
    case $stencil in *.yaml) dtype=f64 ;; *) dtype=f32 ;; esac
    [ "$count" -gt 0 ] || { selftest $stencil --template "$template" --sample 1 --dtype $dtype --no-large-planes --json && count=$(jq '.variants | length' "$work/out"); }
  done
  [ "$count" -gt 0 ] || untried="$untried $template"
done
[ -z "$untried" ] || echo "no variant of$untried was tried" >>"$work/err"
[ -z "$untried" ]
result "templates have a variant on the grids of the test" $?

"$program" selftest >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q 'needs --gpu' "$work/err"
result "without --gpu it says what to do" $?

# --- make sanitize-gpu and check-gpu, with what they lack -------------------------------------------------------------

# This takes the place of compute-sanitizer: it only runs the program.
cat >"$work/sanitizer" <<'S'
#!/bin/sh
echo "${CUDA_VISIBLE_DEVICES:-all}" >>"$(dirname "$0")/devices"
echo "$*" >>"$(dirname "$0")/sanitized"
case "$*" in *"${DIES_AT:-nowhere}"*) kill -9 $PPID && exit ;; esac
while [ "${1#--}" != "$1" ]; do case $1 in --error-exitcode | --tool | --target-processes) shift 2 ;; *) shift ;; esac; done
exec "$@"
S
chmod +x "$work/sanitizer"
printf '#!/bin/sh\necho "NVIDIA H200: 0 variants, 0 failed"\n' >"$work/nothing"
cat >"$work/needs_grid" <<'S'
#!/bin/sh
case "$*" in *--grid*) exec "$(dirname "$0")/sanitizer" "$@" ;; esac
echo "NVIDIA H200: 0 variants, 0 failed"
S
chmod +x "$work/nothing" "$work/needs_grid"
mkdir "$work/no_jq" && ln -s /usr/bin/* /bin/* "$work/no_jq" 2>/dev/null
rm -f "$work/no_jq/jq"
sed 's/^name: copy$/name: mine/; s/^update: .*/update: v = 3*u[0]/; s/^grids: .*/grids: [[4096]]/' kernels/copy.yaml >"$work/mine.yaml" # which the starter database does not know
sanitize() { # words... : of the environment
  env HALOTUNE="$program" HALOTUNE_DB="$work/sanitize.db" STENCILS="$work/mine.yaml" TOOLS=memcheck SAMPLE=1 SANITIZER="$work/sanitizer" "$@" tests/sanitize.sh \
    >"$work/out" 2>"$work/err"
}
sanitize
[ $? = 1 ] && [ "$(grep -c '^not ok .* memcheck: .*mine.yaml f.., its best: no database knows one: tune first' "$work/out")" = 2 ] && [ "$(grep -c '^ok' "$work/out")" = 2 ]
result "sanitize-gpu fails where no database knows a winner" $?
sanitize WINNERS=0 && [ "$(grep -c '^ok .*a sample' "$work/out")" = 2 ]
result "unless they are left out" $?
timeout "$LIMIT_S" "$program" tune "$work/mine.yaml" --dtype all --grid 4096 --template direct $patient --max-variants 2 --db "$work/sanitize.db" >"$work/out" 2>"$work/err" &&
  sanitize SAMPLE=0 && [ "$(grep -c '^ok .*its best: [a-z]* ' "$work/out")" = 2 ] && [ "$(grep -c '^ok' "$work/out")" = 2 ]
result "those that a database knows are looked at" $?
rm -f "$work/sanitized"
sanitize SAMPLE=0 SANITIZER="$work/needs_grid" && [ "$(grep -c '^ok .*its best: [a-z]* .*: 1 variant' "$work/out")" = 2 ] && [ "$(grep -c 'grid 4096$' "$work/sanitized")" = 2 ]
result "on their own grid, if the rules exclude them on the others" $?
rm -f "$work/devices"
sanitize WINNERS=0 STENCILS='copy triad' JOBS=2 DEVICES='0 3' && [ "$(grep -c '^ok' "$work/out")" = 4 ] && tail -n 1 "$work/out" | grep -q '^1..4$' &&
  [ "$(sort -u "$work/devices" | tr '\n' ' ')" = '0 3 ' ]
result "several stencils share the GPUs that are numbered" $?
sanitize WINNERS=0 STENCILS="copy $work/mine.yaml" && [ "$(grep -c '^ok' "$work/out")" = 4 ]
result "one of them may be a file" $?
sanitize WINNERS=0 STENCILS="copy $work/isn't.yaml"
[ $? = 1 ] && [ "$(grep -c '^ok .* copy ' "$work/out")" = 2 ] && grep -q "^not ok [0-9] - memcheck: .*isn't.yaml f64, a sample" "$work/out"
result "whatever it is called" $?
rm -f "$work/sanitized"
sanitize WINNERS=0 STENCILS='copy triad' TOOLS='racecheck memcheck' JOBS=1 && [ "$(grep -c '^ok' "$work/out")" = 8 ] &&
  [ "$(sed -n 's/.*--tool \([a-z]*\).*/\1/p' "$work/sanitized" | uniq -c | tr -s ' \n' ' ')" = ' 4 racecheck 4 memcheck ' ] &&
  [ "$(grep -c 'racecheck.*--grid 5003$' "$work/sanitized")" = 4 ] && [ "$(grep -c -- --grid "$work/sanitized")" = 4 ]
result "tools one after another, racecheck on a small grid" $?
sanitize WINNERS=0 STENCILS='copy triad' SAMPLE=0
[ $? = 1 ] && [ "$(grep -c '^not ok [12] - memcheck: [a-z]*: ended early$' "$work/out")" = 2 ]
result "one that tells nothing has failed" $?
sanitize WINNERS=0 STENCILS='copy triad' DIES_AT='triad --dtype f64'
[ $? = 1 ] && [ "$(grep -c '^ok' "$work/out")" = 3 ] && grep -q '^not ok [0-9] - memcheck: triad: ended early$' "$work/out"
result "one that is killed, too" $?
sanitize WINNERS=0 STENCILS=wave25 SANITIZER="$work/nothing"
[ $? = 1 ] && grep -q '^not ok 1 - memcheck: wave25 f32, a sample$' "$work/out"
result "and one in which no variant is tried" $?
rm -f "$work/devices"
sanitize WINNERS=0 DEVICES=3 && [ "$(sort -u "$work/devices")" = 3 ]
result "a single one is looked at on the GPU that is numbered" $?
sanitize PATH="$work/no_jq"
[ $? = 1 ] && grep -q '^not ok 1 - no jq' "$work/out"
result "sanitize-gpu fails without jq" $?
env HALOTUNE="$program" PATH="$work/no_jq" tests/check_gpu.sh >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q '^not ok 1 - no jq' "$work/out"
result "so does check-gpu" $?
cat >"$work/program" <<P
#!/bin/sh
[ "\$1" = list ] && echo '[{"name": "a"}, {"name": "b"}]' && exit
echo "\${CUDA_VISIBLE_DEVICES:-all}" >>"$work/devices"
echo "1 variant, 0 failed"
P
chmod +x "$work/program" && rm -f "$work/devices"
env HALOTUNE="$work/program" LARGE=0 JOBS=2 DEVICES='0 3' TEMPLATE=direct ROW=1 tests/check_gpu.sh >"$work/out" 2>"$work/err"
grep -q '^ok .* - variants_of_b: 1 variant, 0 failed$' "$work/out" && [ "$(sort -u "$work/devices" | tr '\n' ' ')" = '0 3 ' ]
result "check-gpu shares the GPUs that are numbered" $?

# A queue of checks that stops and goes on.
queue() { # words of the environment...
  printf '%s\t%s\n' good "echo good >>$work/ran; echo fine" bad "echo bad >>$work/ran; echo reason; exit 1" |
    env RESULTS="$work/queue" JOBS=2 "$@" tests/gpu_queue.sh >"$work/out" 2>"$work/err"
}
rm -f "$work/ran"
queue MINUTES=0
[ $? = 1 ] && [ ! -e "$work/ran" ] && grep -qx '# left: 2; call this again' "$work/out" && grep -qx '1[.][.]0' "$work/out"
result "a queue of checks begins none after its time" $?
queue
[ $? = 1 ] && grep -q '^ok [12] - good: fine$' "$work/out" && grep -q '^not ok [12] - bad: reason$' "$work/out" && grep -qx '1[.][.]2' "$work/out"
result "it goes on with those that are left" $?
queue MINUTES=600
[ $? = 1 ] && grep -q '^ok 1 - good: fine$' "$work/out" && grep -q '^not ok 2 - bad: reason$' "$work/out" && [ "$(wc -l <"$work/ran")" = 2 ]
result "it shows the results that it has, and repeats no check" $?
rm "$work/queue/bad.failed"
queue
[ $? = 1 ] && [ "$(tr '\n' ' ' <"$work/ran" | wc -w)" = 3 ] && [ "$(tail -n 1 "$work/ran")" = bad ]
result "a check whose result was removed is tried again" $?
printf 'good\tfalse\nbad\ttrue\n' | RESULTS="$work/queue" tests/gpu_queue.sh >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q '^not ok .* - good: ' "$work/out" && grep -q '^ok .* - bad: ' "$work/out"
result "so is one whose command is another now" $?
printf 'first\tsleep 1\nslow\tsleep %s\n' "$LIMIT_S" | RESULTS="$work/queue" JOBS=1 MINUTES=0.05 timeout "$LIMIT_S" tests/gpu_queue.sh >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -qx '# left: 1; call this again' "$work/out" && [ -z "$(ls "$work/queue" | grep 'slow[.][fop]')" ]
result "one that runs when the time is over has no result" $?
printf 'slow\tsleep %s\n' "$LIMIT_S" | RESULTS="$work/queue" MINUTES=0.03 timeout "$LIMIT_S" tests/gpu_queue.sh >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -qx 'not ok 1 - slow: it did not end within 0.03 minutes, the time of a call' "$work/out"
result "one that had the whole time has failed" $?
checks() { # words of the environment...
  env HALOTUNE="$work/program" SANITIZER="$work/sanitizer" TOOLS=memcheck STENCILS='copy triad' WINNERS=0 LARGE=0 TEMPLATE=direct ROW=1 RESULTS="$work/checks" DEVICES='0 3' \
    "$@" tests/gpu_checks.sh >"$work/out" 2>"$work/err"
}
rm -f "$work/devices"
checks
grep -q '^ok .* - variants_of_b: 1 variant, 0 failed$' "$work/out" && [ "$(grep -c '^ok .* - memcheck_of_[a-z]*: 1..2$' "$work/out")" = 2 ] && grep -q '^not ok .* - defects_in_direct_1: ' "$work/out" &&
  [ "$(sort -u "$work/devices" | tr '\n' ' ')" = '0 3 ' ]
result "gpu-checks is both check-gpu and sanitize-gpu" $?
ran=$(wc -l <"$work/devices")
checks && false
[ "$(wc -l <"$work/devices")" = "$ran" ]
result "another call of it repeats nothing" $?
checks PATH="$work/no_jq"
[ $? = 1 ] && grep -q '^not ok 1 - no jq' "$work/out"
result "without jq, it says so" $?

echo "1..$number"
[ "$failed" = 0 ]
