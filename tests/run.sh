#!/bin/sh
# run.sh: `halotune run` on the driver of tests/fake_cuda gives what the reference gives; a GPU that fails and Ctrl-C
# leave no output. tests/cli/run_*.sh has the rest. Prints TAP.
set -u
. "$(dirname "$0")/fake_gpu.sh"
unset HALOTUNE_FAKE_SKIP
HEAT=${HEAT:-$(ls -t build/obj/*/tests/unit/solvers/heat_solvers_test 2>/dev/null | head -n 1)}
BUDGET=0 SCALE=1 TESTS=$HEAT tests/solvers.sh >"$work/solvers" 2>&1
result "make check-solvers: heat solvers with kernels that nobody tuned, against exact solutions" $? "$work/solvers"
npy=$PWD/tests/npy.pl kernels=$PWD/kernels
mkdir "$work/run" && cd "$work/run" || exit 1

# An empty database: the driver cannot execute machine code of the starter database, whose source it does not know.
echo '{"format": "halotune database", "version": 1, "tables": {}}' >empty.json
"$program" db import --trust --yes --db empty.db empty.json >import.out 2>&1 || cat import.out

# Compare the GPU with the CPU: STENCIL TYPE SHAPE STEPS INPUTS OUTPUT, where each input gets values of its own.
compare() {
  stencil=$1 type=$2 shape=$3 steps=$4 files= seed=0
  for input in $5; do
    seed=$((seed + 1))
    perl "$npy" write "$input.npy" "$type" "$shape" "0.5 + 0.25*sin($seed + \$x + 2*\$y + 3*\$z)"
    files=$files,$input=$input.npy
  done
  for backend in gpu cpu; do
    "$program" run "$stencil" ${database:---db empty.db} --steps "$steps" --backend $backend --input "${files#,}" --output "$6=$backend.npy" >$backend.out 2>&1 ||
      return
  done
  perl "$npy" print gpu.npy >gpu.txt && perl "$npy" print cpu.npy >cpu.txt &&
    awk 'BEGIN {while ((getline line <"cpu.txt") > 0) want = want " " line; count = split(want, wanted)}
      {for (i = 1; i <= NF; i++) {
        n++
        if (NR > 1 && !(($i - wanted[n])^2 <= (2e-5)^2)) {print n ": " $i " is not " wanted[n]; exit 1}}}
      END {exit n != count}' gpu.txt >gpu.out
}
compare "$kernels/heat2d.yaml" '<f4' 12,20 7 "u" v
result "heat2d, 7 steps" $? gpu.out
compare "$kernels/wave25.yaml" '<f8' 11,12,14 5 "u u_prev vel2" v
result "wave25, 5 steps: u takes v, u_prev takes u" $? gpu.out
compare "$kernels/wave25.yaml" '<f8' 11,12,14 5 "u u_prev vel2" u_prev
result "wave25, 5 steps: the older of two times, with which the next run goes on" $? gpu.out
compare "$kernels/diffusion2d.yaml" '<f8' 12,20 3 "T Ci" T2
result "diffusion2d, 3 steps: a field that does not change" $? gpu.out
compare "$kernels/gradient.yaml" '<f4' 6,7,8 1 "f" gy
result "gradient, without iterate: the second of three outputs" $? gpu.out

# The starter database has templates of an older version, whose rules do not know these boundaries.
database=--reproducible
compare "$kernels/../examples/solvers/heat_dirichlet.yaml" '<f4' 12,20 3 "u" v
result "mirrors and values, with the starter database" $? gpu.out

database=
cat "$kernels/heat2d.yaml" | "$program" run /dev/stdin --db empty.db --input u=u.npy --output v=piped.npy >out 2>&1
result "a stencil from a pipe, which can be read only once" $? out

# A GPU that fails: exit code, words, and nothing written.
fails() { # NAME CODE WORDS VARIABLE=VALUE
  rm -f v.npy
  env "$4" "$program" run "$kernels/heat2d.yaml" --db empty.db --steps 3 --input u=u.npy --output v=v.npy >out 2>err
  code=$?
  [ $code = "$2" ] && grep -q "$3" err && [ -z "$(find . -name 'v.npy*')" ]
  ok=$?
  echo "exit code $code" >>err
  result "$1" $ok err
}
perl "$npy" write u.npy '<f8' 600,600 0
fails "too little memory" 1 'the run needs 2 fields of 0.00576 GB in all, but NVIDIA H200 has 0.00' HALOTUNE_FAKE_MEMORY_MB=5
fails "a kernel that faults" 3 'ILLEGAL_ADDRESS' HALOTUNE_FAKE_FAULT='cuCtxSynchronize#2+=ILLEGAL_ADDRESS'
fails "a copy that fails, when part of the output is written" 3 'cuMemcpyDtoH' HALOTUNE_FAKE_FAULT='cuMemcpyDtoH_v2=LAUNCH_FAILED'
fails "no GPU: the remedy" 3 'use --backend cpu' HALOTUNE_FAKE_DEVICES=0

# Ctrl-C while steps are made: more than any machine makes.
perl "$npy" write u.npy '<f8' 40,40 0
"$program" run "$kernels/heat2d.yaml" --backend cpu --steps 1000000000 --input u=u.npy --output v=v.npy >out 2>err &
pid=$!
await grep -q 'heat2d on 40x40 points' out && kill -INT $pid
wait $pid
code=$?
[ $code = 1 ] && grep -q 'stopped after [0-9]* of 1000000000 steps; no output was written' err && [ ! -e v.npy ]
result "Ctrl-C" $? err
finish
