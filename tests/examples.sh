#!/bin/sh
# examples.sh: builds the examples as their comments say, and runs them as far as this machine allows. Prints TAP. Needs
# build/lib.
set -u
cd "$(dirname "$0")/.." || exit 1
halotune=$(readlink -f "${HALOTUNE:-build/halotune}")
lib=$PWD/build/lib
cuda=${CUDA_HOME:-/usr/local/cuda}
cc=${CC:-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" HALOTUNE_PROGRAM="$halotune" XDG_CACHE_HOME="$work/cache"
strict='-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude'
number=0 failed=0

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; sed 's/^/# /' "$work/log" 2>/dev/null; fi
}
skip() { # name why
  number=$((number + 1))
  echo "ok $number - $1 # SKIP $2"
}
has_gpu() { "$halotune" query star7 --db "$work/tuned.db" --device 0 >/dev/null 2>&1; }

"$halotune" db import tests/data/tuned.json --trust --yes --db "$work/tuned.db" >"$work/log" 2>&1
result "a database" $?

# shellcheck disable=SC2086
"$cc" $strict -o "$work/00" examples/00_query.c -L"$lib" -lhalotune >"$work/log" 2>&1
result "00_query is built" $?
HALOTUNE_DB="$work/tuned.db" "$work/00" star7 64 64 64 "emulation of sm_90" >"$work/log" 2>&1 &&
  grep -q '^stale: template direct$' "$work/log" && grep -q '^  block_x = 64$' "$work/log" && ! grep -q 'GB/s' "$work/log"
result "00_query finds an emulated device's row by its name, of an older template, and tells no bandwidth" $?
HALOTUNE_DB="$work/tuned.db" "$work/00" star7 640 512 512 "NVIDIA H200" >"$work/log" 2>&1 && grep -q '^near_grid: template ' "$work/log" && grep -q ' ms, measured on NVIDIA H200 on ' "$work/log"
result "00_query finds a near grid, and tells no bandwidth of a grid that nobody measured" $?
# A row of the starter database is stale after a change of its template, until it is measured again.
HALOTUNE_DB="$work/none.db" "$work/00" star7 512 512 512 "NVIDIA H200" >"$work/log" 2>&1 &&
  grep -qE '^(exact|stale): template' "$work/log" && grep -q 'GB/s, measured on NVIDIA H200 on ' "$work/log"
result "00_query finds the starter database where Halotune was built and not installed" $?
HALOTUNE_DB="$work/none.db" "$work/00" new 64 64 64 sm_90 >"$work/log" 2>&1
[ $? = 1 ] && grep -q 'halotune tune new' "$work/log"
result "00_query says what to do about a stencil that no database knows" $?

if [ -e "$cuda/include/cuda_runtime_api.h" ]; then
  # shellcheck disable=SC2086
  "$cc" $strict -isystem "$cuda/include" -o "$work/01" examples/01_launch.c -L"$lib" -lhalotune -L"$cuda/lib64" -lcudart -lm >"$work/log" 2>&1
  result "01_launch is built" $?
  if has_gpu; then
    HALOTUNE_DB="$work/tuned.db" LD_LIBRARY_PATH="$LD_LIBRARY_PATH:$cuda/lib64" "$work/01" >"$work/log" 2>&1
    result "01_launch runs the winner" $?
  else
    skip "01_launch runs the winner" "no GPU"
  fi
else
  skip "01_launch is built" "no CUDA runtime"
fi

if command -v "$cuda/bin/nvcc" >/dev/null; then
  "$cuda/bin/nvcc" -Xcompiler -Wall,-Wextra,-Werror -Iinclude -o "$work/02" examples/02_heat3d.cu -L"$lib" -lhalotune >"$work/log" 2>&1
  result "02_heat3d is built" $?
  if has_gpu; then
    HALOTUNE_DB="$work/heat.db" "$work/02" 256 50 >"$work/log" 2>&1 && grep -q '^exact' "$work/log"
    result "02_heat3d tunes on first use and agrees with its plain kernel" $?
  else
    skip "02_heat3d tunes on first use and agrees with its plain kernel" "no GPU"
  fi
else
  skip "02_heat3d is built" "no nvcc"
fi
if mpicc=$(command -v mpicc.openmpi || command -v mpicc) && [ -e "$cuda/include/cuda.h" ]; then
  # shellcheck disable=SC2086
  "$mpicc" $strict -O1 -isystem "$cuda/include" -o "$work/04" examples/04_mpi_heat3d.c -L"$lib" -lhalotune -L"$cuda/lib64/stubs" -lcuda >"$work/log" 2>&1
  result "04_mpi_heat3d is built" $?
else
  skip "04_mpi_heat3d is built" "no MPI, or no cuda.h"
fi
python=${PYTHON:-/usr/bin/python3}
if [ -e "$work/02" ] && has_gpu && "$python" -c 'import torch' 2>/dev/null; then
  HALOTUNE_DB="$work/heat.db" HALOTUNE_LIBRARY="$lib/libhalotune.so" PYTHONPATH=python "$python" examples/03_heat3d.py 256 50 >"$work/log" 2>&1 && grep -q '^exact' "$work/log"
  result "03_heat3d agrees with slices of PyTorch" $?
else
  skip "03_heat3d agrees with slices of PyTorch" "no GPU, or no PyTorch"
fi
echo "1..$number"
[ "$failed" = 0 ]
