#!/bin/sh
# library.sh: tests libhalotune as its users see it: its symbols, the header in C99 and C++11, programs that link it
# statically and dynamically, an installation that pkg-config finds, and headers that `halotune query --header` writes.
# Prints TAP. Needs build/lib.
set -u
cd "$(dirname "$0")/.." || exit 1
halotune=$(readlink -f "${HALOTUNE:-build/halotune}")
root=$PWD
cc=${CC:-gcc} cxx=${CXX:-g++}
cuda=${CUDA_HOME:-/usr/local/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
number=0 failed=0

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; sed 's/^/# /' "$work/log" 2>/dev/null; fi
}

# --- symbols
nm -D --defined-only build/lib/libhalotune.so | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort >"$work/shared"
diff tests/abi.txt "$work/shared" >"$work/log"
result "the shared library exports what tests/abi.txt lists" $?
nm --defined-only --extern-only build/lib/libhalotune.a | awk 'NF == 3 {print $3}' | sort >"$work/static"
diff tests/abi.txt "$work/static" >"$work/log"
result "the static library exports the same" $?
sed -n 's/^HALOTUNE_API .*\(halotune_[a-z_]*\)(.*/\1/p' include/halotune.h | sort >"$work/header"
diff tests/abi.txt "$work/header" >"$work/log"
result "so does the header" $?
soname=$(readelf -d build/lib/libhalotune.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
version=$("$halotune" --version | cut -d' ' -f2)
[ "$soname" = "libhalotune.so.${version%.*}" ] && [ -e "tests/abi/$version.txt" ]
result "the soname has the first two numbers of the version, whose interface tests/abi keeps" $?
CC="$cc" "${PYTHON:-/usr/bin/python3}" tests/abi.py include/halotune.h "$soname" tests/abi/*.txt >"$work/log" 2>&1
result "programs of earlier versions compile, and those of this soname run" $?
CC="$cc" "${PYTHON:-/usr/bin/python3}" tests/abi.py include/halotune.h "$soname" 2>&1 | diff "tests/abi/$version.txt" - >"$work/log"
result "tests/abi/$version.txt has all of this version's interface" $?
# A new member before others moves these. A program of an earlier version would then read the wrong ones.
sed 's/^  halotune_match match;/  int new_member;\n&/' include/halotune.h >"$work/changed.h"
CC="$cc" "${PYTHON:-/usr/bin/python3}" tests/abi.py "$work/changed.h" "$soname" "tests/abi/$version.txt" >"$work/log" 2>&1
[ $? = 1 ] && grep -q '^# member halotune_config.is_stale was 4 4 int and is 8 4 int$' "$work/log"
result "a member that moves is noticed" $?
# The structs that a program of this version gives to the library, or gets from it.
: >"$work/log"
while IFS='|' read -r what change; do
  sed "$change" include/halotune.h >"$work/changed.h"
  CC="$cc" "${PYTHON:-/usr/bin/python3}" tests/abi.py "$work/changed.h" "$soname" "tests/abi/$version.txt" >"$work/out" 2>&1
  grep -q "^# $what was " "$work/out" || { echo "$what: the change is not noticed"; cat "$work/out"; } >>"$work/log"
done <<'CHANGES'
function halotune_run|s/long long steps);/int steps);/
function halotune_version|s/const char \*halotune_version(void)/char *halotune_version(void)/
typedef halotune_tune_progress|s/double elapsed_s, const char/float elapsed_s, const char/
macro HALOTUNE_STEPS_ANY|s/\(HALOTUNE_STEPS_ANY\) (-1)/\1 (-2)/
member halotune_layout.row|s/^  long long row;/  double row;/
CHANGES
[ ! -s "$work/log" ]
result "a parameter, a return value, a callback, a macro and a member of another type are noticed" $?
for file in python/pyproject.toml packaging/halotuneConfig.cmake.in docs/library.md tests/install.sh python/halotune/_library.py CHANGELOG.md packaging/debian/changelog \
  packaging/spack/packages/halotune/package.py docs/install.md; do
  grep -qE "(^version = \"|find_package\(halotune |libhalotune\.so\.|^## |halotune \\(|version\\(\"|halotune-)${version%.*}" "$file" || echo "$file names another version than $version"
done >"$work/log"
[ ! -s "$work/log" ]
result "all files name this version" $?
nm -D --undefined-only build/lib/libhalotune.so | awk '{sub(/@.*/, "", $2); print $2}' |
  grep -xE '(v|f)?printf|puts|putchar|perror|exit|_exit|abort|quick_exit|cu[A-Z].*|nvrtc.*' >"$work/log"
[ ! -s "$work/log" ]
result "it neither prints, nor exits, nor links CUDA" $?

# --- the header, and linking
cat >"$work/use.c" <<'C'
#include "halotune.h"
#include <stdio.h>
#include <string.h>
/* Names that the library has for itself, too. */
const char *fail_text(void);
const char *fail_text(void) { return "mine"; }
int main(int argc, char **argv) {
  halotune_ctx *ctx = NULL;
  halotune_problem problem;
  halotune_config config;
  const char *paths[1];
  paths[0] = argc > 1 ? argv[1] : "";
  if (halotune_open(paths, 1, &ctx) != HALOTUNE_OK) return 1;
  memset(&problem, 0, sizeof problem);
  problem.stencil = "star7";
  problem.device = "sm_90";
  problem.grid[0] = problem.grid[1] = problem.grid[2] = 500;
  halotune_status status = halotune_lookup(ctx, &problem, &config);
  printf("%s %s %s\n", halotune_strstatus(status), halotune_match_name(config.match), halotune_version());
  halotune_close(ctx);
  return strcmp(fail_text(), "mine");
}
C
cp "$work/use.c" "$work/use.cc"
strict='-Wall -Wextra -Wpedantic -Wshadow -Wcast-qual -Werror -Iinclude'
"$cc" -std=c99 $strict -Wstrict-prototypes -c -o "$work/use.o" "$work/use.c" 2>"$work/log"
result "the header is C99" $?
"$cxx" -std=c++11 $strict -c -o "$work/use_cc.o" "$work/use.cc" 2>"$work/log"
result "the header is C++11" $?
"$halotune" db import tests/data/tuned.json --trust --yes --db "$work/tuned.db" >"$work/log" 2>&1
result "a database" $?
"$cc" -o "$work/use" "$work/use.o" -Lbuild/lib -lhalotune -Wl,-rpath,"$root/build/lib" 2>"$work/log" &&
  [ "$("$work/use" "$work/tuned.db")" = "success same_arch $("$halotune" --version | cut -d' ' -f2)" ]
result "linked shared" $?
libraries=$(sed -n 's/^Libs.private: //p' build/lib/halotune.pc)
# shellcheck disable=SC2086
"$cc" -o "$work/use_static" "$work/use.o" build/lib/libhalotune.a $libraries 2>"$work/log" &&
  [ "$("$work/use_static" "$work/tuned.db")" = "success same_arch $("$halotune" --version | cut -d' ' -f2)" ]
result "linked static" $?

# --- an installation
unset MAKEFLAGS MFLAGS MAKELEVEL
make --no-print-directory -o all -o library install PREFIX=/usr DESTDIR="$work/root" >"$work/log" 2>&1
result "install" $?
[ -L "$work/root/usr/lib/libhalotune.so" ] && [ -e "$work/root/usr/lib/$soname" ] &&
  grep -q "^Version: $("$halotune" --version | cut -d' ' -f2)$" "$work/root/usr/lib/pkgconfig/halotune.pc"
result "library, links and halotune.pc are there" $?
# Rows of templates that have changed since are stale.
cp -R "$work/root/usr" "$work/moved"
cat >"$work/shipped.c" <<'C'
#include "halotune.h"
#include <stdio.h>
int main(void) {
  halotune_ctx *ctx = NULL;
  halotune_problem problem = {.stencil = "star7", .device = "NVIDIA H200", .grid = {512, 512, 512}};
  halotune_config config;
  halotune_status status = halotune_open(NULL, 0, &ctx);
  if (status == HALOTUNE_OK) status = halotune_lookup(ctx, &problem, &config);
  printf("%s\n", status == HALOTUNE_OK ? halotune_match_name(config.match) : halotune_error(ctx));
  halotune_close(ctx);
  return 0;
}
C
mkdir -p "$work/moved/lib/arch" "$work/alone" && mv "$work/moved"/lib/libhalotune.so* "$work/moved/lib/arch"
"$cc" -o "$work/shipped" -Iinclude "$work/shipped.c" "$work/moved/lib/arch/libhalotune.so" 2>"$work/log" &&
  [ "$(HALOTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$work/moved/lib/arch" "$work/shipped" | tee -a "$work/log" | grep -cxE 'exact|stale')" = 1 ]
result "a moved library finds the database that comes with it" $?
# Who owns a library's file may be trusted with the files around it. A file that took its place later says nothing.
sed 's/int main(void) {/#include <stdlib.h>\nint main(int argc, char **argv) {\n  if (argc > 1 \&\& system(argv[1])) return 1;/' "$work/shipped.c" >"$work/later.c"
cp -R "$work/moved" "$work/changed"
"$cc" -o "$work/later" -Iinclude "$work/later.c" "$work/changed/lib/arch/libhalotune.so" 2>"$work/log" &&
  HALOTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$work/changed/lib/arch" "$work/later" true | tee -a "$work/log" | grep -qxE 'exact|stale' &&
  HALOTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$work/changed/lib/arch" \
    "$work/later" "cd $work/changed/lib/arch && cp $soname new && mv new $soname" | tee -a "$work/log" | grep -q "star7"
result "a library whose file was exchanged finds no database around that file" $?
cp "$work/moved/lib/arch/$soname" "$work/alone"
HALOTUNE_DB="$work/none.db" LD_LIBRARY_PATH="$work/alone" "$work/shipped" | tee "$work/log" | grep -q "star7"
result "and without its installation finds none" $?
mkdir -p "$work/app/bin"
# shellcheck disable=SC2086
"$cc" -o "$work/app/bin/shipped" -Iinclude "$work/shipped.c" build/lib/libhalotune.a $libraries 2>"$work/log" &&
  HALOTUNE_DB="$work/none.db" "$work/app/bin/shipped" | tee "$work/log" | grep -qxE 'exact|stale'
result "a program anywhere that links the static library of build/lib finds the database that was built" $?
# shellcheck disable=SC2086
"$cc" -o "$work/app/bin/installed" -Iinclude "$work/shipped.c" "$work/moved/lib/libhalotune.a" $libraries 2>"$work/log" &&
  HALOTUNE_DB="$work/none.db" "$work/app/bin/installed" | tee "$work/log" | grep -q "star7"
result "one that links an installed static library finds none where that was not installed for" $?
mkdir "$work/app/share" && cp -R "$work/moved/share/halotune" "$work/app/share"
HALOTUNE_DB="$work/none.db" "$work/app/bin/installed" | tee "$work/log" | grep -qxE 'exact|stale'
result "and that of its own installation where there is one" $?
(cd "$work/alone" && HALOTUNE_DB="$work/none.db" "$work/moved/bin/halotune" query star7 --device 'NVIDIA H200' --grid 512,512,512 --json) >"$work/log" 2>&1 &&
  grep -qE '"match": "(exact|stale)"' "$work/log"
result "so does a moved program" $?
(cd "$work/alone" && HALOTUNE_DB="$work/none.db" "$work/moved/bin/halotune" doctor --json) >"$work/log" 2>&1
grep -q "$work/moved/share/halotune/starter.db\"" "$work/log"
result "and doctor names it" $?
make --no-print-directory uninstall PREFIX=/usr DESTDIR="$work/root" >"$work/log" 2>&1 && [ -z "$(find "$work/root" -type f -o -type l)" ]
result "uninstall removes them" $?

# --- headers with a kernel
compile_header() { # prefix of its names
  cat >"$work/main.c" <<C
#include "kernel.h"
#include "kernel.h"
int main(void) {
  struct $1 kernel;
  CUresult result = $1_load(&kernel);
  if (result == CUDA_SUCCESS) result = $1_launch(&kernel, 0, $1_ALIGNMENT, 2 * $1_ALIGNMENT);
  return result == $1_unload(&kernel);
}
C
  cp "$work/main.c" "$work/main.cc"
  "$cc" -std=c99 -Wall -Wextra -Werror -isystem "$cuda/include" -c -o "$work/main.o" "$work/main.c" 2>"$work/log" &&
    "$cxx" -std=c++11 -Wall -Wextra -Werror -isystem "$cuda/include" -c -o "$work/main_cc.o" "$work/main.cc" 2>"$work/log"
}

if [ -n "$(find -L "$cuda/lib64" /usr/lib -name 'libnvrtc.so*' 2>/dev/null | head -n 1)" ]; then
  replaced=
  for grid in 512,512,512 128,128,128 640,512,512; do
    "$halotune" query star7 --device 'NVIDIA H200' --grid "$grid" --db "$work/tuned.db" --header -o "$work/kernel.h" 2>"$work/log"
    result "a header for $grid" $?
    if grep -q 'reads through texture objects' "$work/kernel.h"; then replaced="$replaced$grid"; fi
    compile_header "star7_f32_$(echo "$grid" | tr , x)"
    result "it compiles as C99 and C++11" $?
  done
  [ "$replaced" = 128,128,128 ]
  result "where the winner reads through textures, and only there, another variant takes its place, and the header says so" $?

  # A winner with a workspace, found by emulation.
  "$halotune" tune scan_z --grid 8,8,128 --template scan_segments --backend host --max-variants 1 --budget none \
    --db "$work/scan.db" >"$work/log" 2>&1 &&
    "$halotune" db export --db "$work/scan.db" | sed 's/"is_emulation":1/"is_emulation":0/' >"$work/scan.json" &&
    "$halotune" db import "$work/scan.json" --trust --yes --db "$work/gpu.db" >"$work/log" 2>&1 &&
    "$halotune" query scan_z --grid 8,8,128 --device 'host emulation of sm_90' --db "$work/gpu.db" --header \
      -o "$work/kernel.h" 2>"$work/log"
  result "a header with a workspace" $?
  compile_header scan_z_f32_8x8x128
  result "it compiles as C99 and C++11" $?

  # A winner of two steps a launch: u and u_old of the next launch are what the last step and the one before it wrote.
  "$halotune" tune kernels/asymmetric/skew_steps_3d.yaml --grid 16,12,11 --dtype f32 --steps 2 --template fused_tile --set tile_x=8,tile_y=4,tile_z=4,block_x=64 --backend host \
    --max-variants 1 --budget none --db "$work/steps.db" >"$work/log" 2>&1 &&
    "$halotune" db export --db "$work/steps.db" | sed 's/"is_emulation":1/"is_emulation":0/' >"$work/steps.json" &&
    "$halotune" db import "$work/steps.json" --trust --yes --db "$work/steps_gpu.db" >"$work/log" 2>&1 &&
    "$halotune" query skew_steps_3d --grid 16,12,11 --steps any --device 'host emulation of sm_90' --db "$work/steps_gpu.db" --header \
      -o "$work/kernel.h" 2>"$work/log"
  result "a header of a launch of two steps" $?
  cat >"$work/main.c" <<'C'
#include "kernel.h"
#include <stdio.h>
int main(void) {
  CUdeviceptr fields[skew_steps_3d_f32_16x12x11_FIELDS] = {1, 2, 3, 4, 5, 6, 7};
  skew_steps_3d_f32_16x12x11_advance(fields);
  for (int i = 0; i < skew_steps_3d_f32_16x12x11_FIELDS; i++) printf("%d ", (int)fields[i]);
  return skew_steps_3d_f32_16x12x11_STEPS != 2;
}
C
  "$cc" -std=c99 -Wall -Wextra -Werror -isystem "$cuda/include" -o "$work/main" "$work/main.c" 2>"$work/log" &&
    [ "$("$work/main")" = '5 7 1 4 2 6 3 ' ]
  result "it says which buffer holds which input of the next launch" $?
  # An output in the memory of an input stays with it: the list for separate arrays, and the list in place.
  "$halotune" query tests/data/wave_in_place.yaml --device 'NVIDIA H200' --db "$work/tuned.db" --header -o "$work/kernel.h" 2>"$work/log" &&
    "$halotune" query tests/data/two_in_place.yaml --device 'NVIDIA H200' --db "$work/tuned.db" --header -o "$work/two.h" 2>"$work/log" &&
    grep -qF 'but output_v may be input_u_prev' "$work/kernel.h"
  result "headers of kernels that run in place" $?
  cat >"$work/main.c" <<'C'
#include "kernel.h"
#include "two.h"
#include <stdio.h>
static void print(const CUdeviceptr *fields, int count) {
  for (int i = 0; i < count; i++) printf("%d ", (int)fields[i]);
}
int main(void) {
  CUdeviceptr wave[2][3] = {{1, 2, 3}, {1, 2, 2}}, two[2][5] = {{1, 2, 3, 4, 5}, {1, 2, 3, 2, 1}};
  for (int i = 0; i < 2; i++) {
    wave_in_place_f32_512x512_advance(wave[i]);
    two_in_place_f32_512x512_advance(two[i]);
    print(wave[i], 3);
    print(two[i], 5);
  }
}
C
  "$cc" -std=c99 -Wall -Wextra -Werror -isystem "$cuda/include" -o "$work/main" "$work/main.c" 2>"$work/log" &&
    [ "$("$work/main")" = '3 1 2 4 5 3 1 2 2 1 1 2 1 3 1 2 ' ]
  result "they say which buffer is which after a launch, in place too" $?
else
  echo "# no NVRTC: headers with a kernel are not tried"
fi

# --- the starter database's answers for grids that nobody tuned are correct in the emulation
answer_is_right() { # stencil type grid
  "$halotune" query "$1" --dtype "$2" --grid "$3" --device 'NVIDIA H200' --db build/starter.db --json >"$work/answer" 2>"$work/log" || return 1
  jq -e '.match != "exact" and .expected_ms > 0' "$work/answer" >>"$work/log" || return 1
  "$halotune" verify "$1" --dtype "$2" --grid "$3" --template "$(jq -r .template "$work/answer")" \
    --set "$(jq -r '.parameters | to_entries | map("\(.key)=\(.value)") | join(",")' "$work/answer")" >>"$work/log" 2>&1
}
answer_is_right star7 f32 147,61,35 && answer_is_right box2d9 f64 131,87
result "answers for two random grids give the reference's results" $?
echo "1..$number"
[ "$failed" = 0 ]
