#!/bin/sh
# bindings.sh: tests the Python package, halotune.hpp and the Fortran module on the driver of tests/fake_cuda. Each of
# the examples of C++ and Fortran runs the winner and compares it with the CPU. A wheel is built and installed without a
# network. Prints TAP. Needs build/lib and Debian's python3 (PYTHON names another one).
set -u
. "$(dirname "$0")/fake_gpu.sh"
python=${PYTHON:-/usr/bin/python3}
unset HALOTUNE_FAKE_SKIP
# For the examples: a library without a starter database beside it, whose launches of several steps would answer.
mkdir "$work/lib" && cp -P build/lib/libhalotune.so* "$work/lib"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PWD/python:$PWD/tests/python" HALOTUNE_LIBRARY="$PWD/build/lib/libhalotune.so"
export HALOTUNE_PROGRAM="$program" HALOTUNE_DB="$work/tuned.db" HALOTUNE_TEMPLATE_PATH="$templates"

tune "$HALOTUNE_DB" --grid 24,12,10 --max-variants 2 >"$work/log" 2>&1 || {
  echo "not ok 1 - a database"
  sed 's/^/# /' "$work/log"
  echo "1..1"
  exit 1
}

# --- Python
check "type hints (mypy)" "$python" -m mypy --strict --cache-dir "$work/mypy" python/halotune
check "structs and functions are those of halotune.h" "$python" tests/python/test_header.py
check "lookups, kernels, arrays and errors, on the fake driver" "$python" tests/python/test_package.py
check "the ways of bench/instead compute the same" env PYTHONPATH="$PYTHONPATH:$PWD/bench/instead" "$python" tests/python/test_instead.py

# A wheel holds the C library, so pip installs something that works by itself.
make_wheel() { make --no-print-directory wheel WHEEL_DIR="$work/wheel" PYTHON="$python" && ls "$work/wheel"/halotune-*.whl; }
install_wheel() { "$python" -m pip install --quiet --no-index --no-deps --no-compile --target "$work/site" "$work/wheel"/halotune-*.whl; }
use_wheel() {
  (cd "$work" && unset HALOTUNE_LIBRARY && PYTHONPATH="$work/site" "$python" -c '
import halotune
print(halotune.__file__, halotune._library.library._name)
assert halotune._library.library._name.startswith(halotune.__path__[0])
assert halotune.lookup("star7", (24, 12, 10)).match == "exact"')
}
check "a wheel is built without a network" make_wheel
check "pip installs it" install_wheel
check "it finds its own C library" use_wheel

# --- C++ and Fortran
cxx=${CXX:-g++} fortran=${FC:-gfortran} cuda=${CUDA_HOME:-/usr/local/cuda}
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror"
fake=$(dirname "$library")
export LD_LIBRARY_PATH="$work/lib:$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
cxx_builds() { # compiler options...
  "$@" -std=c++17 $strict -Wold-style-cast -Iinclude -isystem "$cuda/include" examples/05_heat3d.cpp -Lbuild/lib -lhalotune -L"$fake" -lfakecuda -o "$work/heat_cpp"
}
with_nvcc() {
  printf '#include <halotune.hpp>\nint main() { return halotune::context().get() ? 0 : 1; }\n' >"$work/use.cu"
  "$cuda/bin/nvcc" -std=c++17 -Iinclude -o "$work/use_nvcc" "$work/use.cu" -Lbuild/lib -lhalotune && "$work/use_nvcc"
}
run_example() { # program
  "$1" 16 5 >"$work/out" 2>&1
  status=$?
  cat "$work/out"
  [ $status = 0 ] && grep -q 'small.* 1 step' "$work/out" && grep -q '^largest difference to the CPU after 5 steps' "$work/out"
}
tune "$HALOTUNE_DB" --max-variants 2 >"$work/log" 2>&1
check "the example of Python agrees with slices" env HALOTUNE_LIBRARY="$work/lib/libhalotune.so" "$python" tests/python/test_example.py
check "halotune.hpp and its example compile without a warning (g++)" cxx_builds "$cxx"
check "the example of C++ agrees with the CPU" run_example "$work/heat_cpp"
check "clang++ compiles them, too" cxx_builds clang++ -fsyntax-only -Wno-unused-command-line-argument
check "so does nvcc" with_nvcc
"$cxx" -std=c++17 $strict -Wold-style-cast -Iinclude -isystem "$cuda/include" tests/halotune_hpp_test.cpp -Lbuild/lib -lhalotune -L"$fake" -lfakecuda -o "$work/hpp" >"$work/log" 2>&1
check "errors and ownership of halotune.hpp" "$work/hpp"
fortran_builds() { # sources
  (cd "$work" && "$fortran" -std=f2008 -Wall -Wextra -pedantic -Werror "$OLDPWD/fortran/halotune.f90" "$OLDPWD/$1" -L"$OLDPWD/build/lib" -lhalotune -L"$fake" -lfakecuda -o "$2")
}
check "the Fortran module and its example compile without a warning" fortran_builds examples/06_heat3d.f90 heat_f90
check "the example of Fortran agrees with the CPU" run_example "$work/heat_f90"
check "structs of the module are those of halotune.h, and errors have their texts: build" fortran_builds tests/halotune_f90_test.f90 f90
check "structs of the module are those of halotune.h, and errors have their texts" "$work/f90"
finish
