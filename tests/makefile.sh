#!/bin/sh
# makefile.sh: tests the Makefile besides the build: install and uninstall, finding CUDA, what it asks a user to
# install, and what `make tidy` refuses. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL CUDA_HOME STEP CASE
number=0 failed=0

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; fi
}

# After uninstall only the user's own files are left. Nothing is built for this: another PREFIX would replace the program
# while other steps of the check run it.
installed() { make --no-print-directory -o all -o library "$1" PREFIX=/usr DESTDIR="$work/root" >"$work/log" 2>&1; }
make --no-print-directory all library >"$work/log" 2>&1
installed install
result "install" $?
data=$work/root/usr/share/halotune
test -x "$work/root/usr/bin/halotune" && cmp -s kernels/star7.yaml "$data/kernels/star7.yaml" &&
  cmp -s templates/direct.cu "$data/templates/direct.cu" && cmp -s build/starter.db "$data/starter.db" # tests/cli/query_starter.sh checks it
result "what install puts there" $?
[ "$(stat -c %s "$data/starter.db")" -lt 7000000 ]
result "the starter database is small: $(stat -c %s "$data/starter.db") bytes" $?
installed_plugins=0
for plugin in build/mpi/*/libhalotune-mpi.so; do
  [ ! -e "$plugin" ] || cmp -s "$plugin" "$work/root/usr/lib/halotune/${plugin#build/mpi/}" || installed_plugins=1
done
result "a plug-in for each MPI that was found" $installed_plugins
cp kernels/copy.yaml "$data/kernels/mine.yaml"
installed uninstall
result "uninstall" $?
[ "$(cd "$work/root" && find . -type f)" = ./usr/share/halotune/kernels/mine.yaml ]
result "uninstall leaves the user's files alone" $?
rm "$data/kernels/mine.yaml" && installed uninstall && [ ! -e "$data" ]
result "uninstall removes empty folders" $?

# A second PREFIX compiles only base/files/data_folders.c, which holds the PREFIX. This happens in a copy, because it replaces
# the objects.
mkdir "$work/copy"
case ${HALOTUNE:-} in build/obj/*/halotune) objects=${HALOTUNE%/halotune} ;; *) objects=build/obj ;; esac
git ls-files -z | xargs -0 cp -p --parents -t "$work/copy" && cp -Rp --parents "$objects" build/report build/starter.db "$work/copy"
compiled() { # PREFIX: the sources that its installation compiles
  make -C "$work/copy" --no-print-directory install PREFIX="$1" DESTDIR="$work/prefix" | sed -n 's/^  CC *\([^ ]*\).*/\1/p' | sort -u
}
compiled /a >"$work/log" && [ "$(compiled /b)" = base/files/data_folders.c ] && [ -z "$(compiled /b)" ] &&
  strings "$work/prefix/b/bin/halotune" | grep -qx /b/share/halotune && ! strings "$work/prefix/b/bin/halotune" | grep -qx /a/share/halotune &&
  grep -qx 'prefix=/b' "$work/prefix/b/lib/pkgconfig/halotune.pc"
result "another PREFIX compiles only what knows the PREFIX" $?

# STATIC=1 belongs to the install, which otherwise links another program.
make -C "$work/copy" --no-print-directory STATIC=1 install PREFIX=/b DESTDIR="$work/static" >"$work/log" 2>&1 && ldd "$work/static/b/bin/halotune" >"$work/log" &&
  ! grep -qE 'yaml|jansson|xxhash|sodium|sqlite' "$work/log" && "$work/static/b/bin/halotune" --version | grep -q '^halotune '
result "make STATIC=1 install installs a program that needs nothing but glibc" $?

# CUDA is where its headers are.
mkdir -p "$work/toolkit/bin" "$work/toolkit/include" "$work/bare/include" "$work/path"
touch "$work/toolkit/include/cuda.h"
printf '#!/bin/sh\n' >"$work/toolkit/bin/nvcc"
chmod +x "$work/toolkit/bin/nvcc"
ln -s "$work/toolkit/bin/nvcc" "$work/path/nvcc"
found_cuda() { PATH="$work/path:$PATH" make -pn "$@" cuda-headers 2>/dev/null | sed -n 's/^CUDA_HOME [:?]*= //p' | head -n 1; }
[ "$(found_cuda USUAL_CUDA_HOME="$work/bare")" = "$work/toolkit" ]
result "nvcc on PATH, a link, where the usual folder has no headers" $?
[ "$(found_cuda USUAL_CUDA_HOME="$work/bare" CUDA_HOME=)" = "$work/toolkit" ]
result "an empty CUDA_HOME is none" $?
[ "$(CUDA_HOME='' found_cuda USUAL_CUDA_HOME="$work/bare")" = "$work/toolkit" ]
result "an empty CUDA_HOME in the environment is none" $?
[ "$(CUDA_HOME="$work/bare" found_cuda)" = "$work/bare" ]
result "a CUDA_HOME is taken at its word" $?

# A user without the checkers can build.
DEPENDENCIES='build command sh dash
check command no-such-checker no-such-checker' sh tests/deps.sh build
result "the build asks for no checker" $?
mkdir "$work/user"
printf '#!/bin/sh\necho 1000\n' >"$work/user/id"
printf '#!/bin/sh\n[ "$1" = -dumpversion ] && echo 17.0.6\n' >"$work/user/clang"
chmod +x "$work/user/id" "$work/user/clang"
PATH="$work/user:$PATH" DEPENDENCIES='check clang-runtime fuzzer libclang-rt-VERSION-dev' sh tests/deps.sh build check 2>"$work/err"
[ $? = 1 ] && grep -q 'libclang-rt-17-dev' "$work/err"
result "the run time of clang has clang's version" $?

# This script may be a step of `make check`, whose logs must not change.
export CHECK_LOGS="$work/check"

# One step, and one case of a step. An unknown name is refused.
one_case() { # STEP CASE
  make --no-print-directory -o deps check STEP="$1" CASE="$2" >"$work/log" 2>&1 && [ "$(tail -n 1 "$work/log")" = "${3:-1} passed, 0 failed" ]
}
one_case cli version
result "check STEP=cli CASE=version runs one case" $?
refused=0
for words in STEP=nothing CASE=version 'STEP=tune CASE=version' 'STEP=cli CASE=nothing' 'STEP=unit CASE=nothing'; do
  # shellcheck disable=SC2086
  ! make --no-print-directory -o deps check $words >"$work/log" 2>&1 || refused=1
done
result "check refuses a step or a case that does not exist" $refused

HALOTUNE=build/halotune tests/cli.sh version help >"$work/log" 2>&1 && [ "$(grep -c '^ok' "$work/log")" = 2 ] &&
  ! HALOTUNE=build/halotune tests/cli.sh version nothing >"$work/log" 2>&1 && grep -q 'there is no tests/cli/nothing.sh' "$work/log"
result "cli.sh runs the cases that its arguments name, and refuses others" $?

# The targets for editors and debuggers.
(cd "$work/copy" && make --no-print-directory compile-commands && jq -r '.[] | select(.file == "base/files/data_folders.c") | .command' compile_commands.json >command &&
  sed 's/$/ -o data_folders.o/' command | sh && [ -s data_folders.o ] && [ "$(jq -r '.[].file' compile_commands.json | sort -u | grep -c .)" -gt 300 ]) >"$work/log" 2>&1
result "compile_commands.json has commands that compile" $?
make -n -W base/text/text.c V=1 DEBUG=1 all 2>/dev/null | grep -q -e ' -O0 -g3 .* -o build/obj/[^ ]*-debug-[0-9]*/base/text/text.o base/text/text.c$'
result "DEBUG=1 compiles for a debugger, into objects of its own" $?
# gcc 12 can crash in -O0 on code that it compiles with -O3. `make check-full` compiles all files so.
object=$(make -pn DEBUG=1 cuda-headers 2>/dev/null | sed -n 's/^OBJ := //p')/stencil/expression/parse.o
make -C "$work/copy" --no-print-directory DEBUG=1 "$object" >"$work/log" 2>&1 && [ -s "$work/copy/$object" ]
result "a file that gcc could not compile with DEBUG=1" $?

# The hook refuses what `make form` refuses. A few files are enough for it.
find "$work/copy" -mindepth 2 -name '*.[ch]' ! -path '*/copy/base/*' -delete
(cd "$work/copy" && git init -q . && git config user.email test@example.org && git config user.name test && git add Makefile && git commit -q -m begin &&
  make --no-print-directory hooks && printf 'int  main( void );\n' >base/ugly.h && git add base/ugly.h) >"$work/log" 2>&1 &&
  ! (cd "$work/copy" && git commit -q -m ugly) >"$work/log" 2>&1 && grep -q 'clang-format-14 -i base/ugly.h' "$work/log"
result "the hook refuses a file that clang-format changes" $?
awk 'BEGIN {printf "/* %120s */\nint ugly;\n", "wide"}' >"$work/copy/base/ugly.h"
sed -i 's/^wide_yet=.*/wide_yet=nothing/' "$work/copy/tests/tidy.sh"
! sh "$work/copy/tests/tidy.sh" form >"$work/log" && grep -q 'base/ugly.h:1: 126 columns' "$work/log"
result "a comment wider than 120 columns is refused" $?
printf '#include "tuner/verify/box.h"\n' >"$work/copy/base/ugly.h"
! sh "$work/copy/tests/tidy.sh" form >"$work/log" && grep -q '^base/ugly.h:1:#include' "$work/log"
result "an include against the order of layers is refused" $?

# An invalid slice is refused instead of skipping everything.
sliced=0
for slice in 0 -3 2x 1.5; do
  [ "$(SLICE=$slice sh tests/tidy.sh)" = "not ok - SLICE=$slice is a positive whole number" ] || sliced=1
  ! SLICE=$slice sh tests/tidy.sh >"$work/log" || sliced=1
done
result "tidy refuses a slice that is no positive whole number" $sliced

# What is in a sample stays in it when names are added, and each name is in one of the samples.
. tests/slice.sh
names=$(git ls-files tests/unit)
sample=$(echo "$names" | sliced 7)
[ "$(printf '%s\n' a/new/name "$names" another | sliced 7 | grep -v '^a')" = "$sample" ] && [ -n "$sample" ] &&
  [ "$(for which in 0 1 2 3 4 5 6; do echo "$names" | sliced 7 $which; done | sort)" = "$(echo "$names" | sort)" ]
result "a new name moves no other one into a sample or out of it" $?

# The samples of `make check` have each template, each kind of case of the command line, and each call of the driver.
lacking() { # file with one line for each kind; stdin: the sample, as kinds
  sort -u | comm -13 - "$1" | sed 's/^/the sample lacks: /'
}
kinds() { grep -oE -e "$1" | sort -u; } # pattern
slow_cases() { grep -l '^# slow$' tests/cli/*.sh; }
slow_of() { sed -n 's/^  cli) .*SLOW=\([0-9]*\);.*/\1/p' tests/check.sh; }
slice_of() { sed -n "s/^  $1) .*SLICE=\([0-9]*\) ;;$/\1/p" tests/check.sh; } # step
calls=$(sed -n 's/^  X([a-z_]*, "\(cu[A-Za-z0-9_]*\)".*/small \1#1=INVALID_VALUE\nsmall \1#=gone/p' gpu/driver/cu.h)
{
  grep -v '^#' tests/data/mutations.txt | kinds "$kind_of_defect" >"$work/templates"
  ls tests/cli/*.sh | kinds "$kind_of_case" >"$work/kinds"
  echo "$calls" | kinds "$kind_of_call" >"$work/calls"
  for file in templates kinds calls; do [ "$(wc -l <"$work/$file")" -gt 12 ] || echo "there are only few $file"; done
  ls templates/*.yaml | sed 's|.*/||; s/[.]yaml$//' | comm -3 - "$work/templates"
  sliced_kinds "$(slice_of mutations)" "$kind_of_defect" <tests/data/mutations.txt | kinds "$kind_of_defect" | lacking "$work/templates"
  slow_cases | kinds "$kind_of_case" >"$work/slow"
  slow_cases | sliced_kinds "$(slow_of)" "$kind_of_case" | kinds "$kind_of_case" | lacking "$work/slow"
  ls tests/cli/*.sh | sliced_kinds "$(slice_of asan)" "$kind_of_case" | kinds "$kind_of_case" | lacking "$work/kinds"
  echo "$calls" | sliced_kinds 4 "$kind_of_call" | kinds "$kind_of_call" | lacking "$work/calls"
} >"$work/log" 2>&1
[ ! -s "$work/log" ]
result "each template, kind of case and call is in a sample" $?
two='a one
a two
b one'
[ "$(echo "$two" | sliced_kinds 1000 '^[a-z]')" = "$(printf '%s\nc one\n' "$two" | sliced_kinds 1000 '^[a-z]' | grep -v '^c')" ] &&
  [ "$(echo "$two" | sliced_kinds 1 '^c')" = "$two" ] && [ "$(echo "$two" | sliced_kinds 1000 '^[a-z]' | wc -l)" = 2 ]
result "a line of a new kind changes nothing for other kinds" $?

# Which unit tests run: only the sample of asan leaves some out, whatever flags a user has.
tests_run() { make -n --no-print-directory "$@" 2>>"$work/log" | grep 'tests/tap.sh .*/unit/' | grep -oE 'tests/unit/[a-z]+/[a-z0-9_]+_test( |$)' | tr -d ' ' | sort -u; }
all=$(tests_run unit) && few=$(tests_run asan SLICE=6) && [ -n "$few" ] && [ "$(tests_run unit SLICE=6)" = "$all" ] && [ "$(tests_run asan)" = "$all" ] &&
  [ "$(echo "$all" | grep -vxF "$few" | sed 's|^tests/unit/||; s|_test$||')" = "$(make -s --eval='names: ; @printf "%s\\n" $(UNSAMPLED_TESTS)' names | sort)" ] &&
  [ "$(tests_run unit LEFT=1)" = "$(echo "$all" | grep -vxF "$few")" ] && [ "$(tests_run asan SLICE=6 CFLAGS=-O2)" = "$few" ] && [ "$(CFLAGS=-O2 tests_run asan SLICE=6)" = "$few" ]
result "SLICE leaves out unit tests of asan alone" $?

echo "1..$number"
[ "$failed" = 0 ]
