#!/bin/sh
# cookbook.sh: tests the recipes of docs/cookbook.md: programs are built, and run on the driver of tests/fake_cuda. The
# programs of tests/cookbook call them and compare with the CPU. Prints TAP. Needs build/lib.
set -u
. "$(dirname "$0")/fake_gpu.sh"
unset HALOTUNE_FAKE_SKIP
python=${PYTHON:-/usr/bin/python3} cuda=${CUDA_HOME:-/usr/local/cuda} cc=${CC:-gcc} cxx=${CXX:-g++} root=$PWD fake=$(dirname "$library")
export HALOTUNE_DB="$work/tuned.db" HALOTUNE_TEMPLATE_PATH="$templates" HALOTUNE_LIBRARY="$root/build/lib/libhalotune.so" PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH="$root/build/lib:$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

# Each block is a file: its first line has the name, and that of a patch is after.diff.
mkdir "$work/recipes" && cd "$work/recipes" || exit 1
awk '
  /^```(cuda|c|python|sh|diff) *$/ { kind = substr($1, 4); file = ""; inside = 1; next }
  /^```/ { inside = 0 }
  inside { if (file == "") file = kind == "diff" ? "after.diff" : $2; print > file }
' "$root/docs/cookbook.md"
files() { [ "$(ls | tr '\n' ' ')" = 'after.diff before.cu graph.c heat_cupy.py heat_torch.py ship.sh shipped.c slab.c ' ]; }
check "the recipes" files
tune "$HALOTUNE_DB" --grid 24,12,10 --max-variants 1 >"$work/log" 2>&1 && tune "$HALOTUNE_DB" --max-variants 1 >>"$work/log" 2>&1
check "a database" test -s "$HALOTUNE_DB"

# --- replace a kernel
patched() { patch -s -o after.cu before.cu after.diff && [ "$(grep -c '^+[^+]' after.diff)" -le 10 ]; }
check "the new solver differs in at most ten new lines" patched
if command -v "$cuda/bin/nvcc" >/dev/null; then
  check "nvcc compiles the old solver" "$cuda/bin/nvcc" -std=c++17 -c -o before.o before.cu
  check "nvcc compiles the new solver" "$cuda/bin/nvcc" -std=c++17 -I"$root/include" -c -o after.o after.cu
fi
strict="-Wall -Wextra -Werror -Wno-int-to-pointer-cast -I$root/include -I$root -isystem $cuda/include -L$root/build/lib -L$fake"
links="-lhalotune -lfakecuda -lm"
# shellcheck disable=SC2086
check "the new solver" "$cxx" -std=c++17 $strict -x c++ after.cu "$root/tests/cookbook/after_test.cpp" -x none $links -o after
check "the new solver agrees with the CPU" ./after

# The comparison in these programs must not ignore NaN.
cat >nan.c <<'C'
#include "tests/cookbook/field.h"
int main(void) {
  float values[2] = {1, NAN};
  const float expected[2] = {1, 1};
  make_context_current();
  if (compare_field(upload(values, 2), expected, 2) == 0) return 1;
  values[1] = 1;
  return compare_field(upload(values, 2), expected, 2);
}
C
# shellcheck disable=SC2086
check "a program that compares NaN" "$cc" -std=gnu99 $strict -Wno-unused-function nan.c $links -o nan
check "NaN differs from every number" ./nan

# --- graphs, slabs, a shipped database
# shellcheck disable=SC2086
check "a graph" "$cc" -std=c99 $strict graph.c "$root/tests/cookbook/graph_test.c" $links -o graph
check "a graph of launches agrees with the CPU" ./graph
# shellcheck disable=SC2086
check "a slab" "$cc" -std=c99 $strict -I"$root/tests/cookbook/mpi" -I. "$root/tests/cookbook/slab_test.c" $links -o slab
check "boxes and the exchange of ghost planes agree with the CPU" ./slab
if command -v mpicc >/dev/null; then
  # shellcheck disable=SC2086
  check "mpicc compiles the slab" mpicc -std=c99 $strict -c -o slab_mpi.o slab.c
fi
# The commands of ship.sh in short: a small grid on the driver of tests.
sed "s|--grid 512,512,512|--grid 16,16,16 --template-dir $templates --template small --max-variants 1 $patient|" ship.sh >short.sh
ship() { PATH="$work/bin:$PATH" && sh -e short.sh && [ -s solver.db ]; }
mkdir "$work/bin" && ln -s "$program" "$work/bin/halotune"
check "databases are tuned, merged and checked" ship
# shellcheck disable=SC2086
check "a program that ships a database" "$cc" -std=gnu99 $strict shipped.c "$root/tests/cookbook/shipped_test.c" $links -o shipped
finds_shipped() { [ "$(./shipped .)" = exact ] && [ "$(SOLVER_DB=$PWD/none.db ./shipped .)" = exact ] && ! ./shipped /nowhere; }
check "it finds the database" finds_shipped

# --- Python
export PYTHONPATH="$root/python:$root/tests/python:$work/recipes"
check "CuPy and PyTorch" "$python" "$root/tests/cookbook/recipes_test.py"
finish
