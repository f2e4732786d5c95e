#!/bin/sh
# tidy.sh [form]: static checks. `form` runs only the fast ones: format, width of comments, order of layers. Without it
# clang-tidy and cppcheck follow. $TIDY_FLAGS are the flags of the preprocessor; without $MPI_FLAGS there is no mpi.h.
# $SLICE is explained below. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/slice.sh
failed=0
result() { # name status
  if [ "$2" = 0 ]; then echo "ok - $1"; else failed=1; echo "not ok - $1"; fi
}

slice=${SLICE:-1}
case $slice in
  0* | *[!0-9]*) result "SLICE=$slice is a positive whole number" 1 && exit 1 ;;
esac

c_files() { find include base stencil gpu db library reports tuner tests bench examples -name '*.[ch]'; }

# Version 14 decides, because another version formats the same file differently.
check_format() {
  command -v clang-format-14 >/dev/null || { echo "# there is no clang-format-14: run make deps"; return 1; }
  bad=$(c_files | xargs -P "$(nproc)" -n 40 clang-format-14 --dry-run -Werror 2>&1 | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1/p' | sort -u)
  [ -z "$bad" ] || { echo "# run: clang-format-14 -i" $bad; return 1; }
}
check_format
result "clang-format 14 changes no file" $?

# clang-format does not wrap comments. Folders that still have wide comments are named in $wide_yet. Code may be wider
# than 120 columns because a string literal is not broken.
check_width() {
  bad=$(c_files | grep -v "$wide_yet" | xargs awk 'length > 120 && /^ *(\/?\*|\/\/)|\/\*[^"]*\*\/$/ {print FILENAME ":" FNR ": " length " columns"}')
  [ -z "$bad" ] || { echo "$bad" | sed 's/^/# /'; return 1; }
}
wide_yet='^$'
check_width
result "no line with a comment is wider than 120 columns" $?

# A header is included only from further left in this line. A file belongs to the longest path that fits.
layers="include base base/memory base/numbers base/text base/identity base/system base/files
  stencil/expression stencil/file stencil/analysis stencil/launch stencil/cuda stencil/template stencil/generate
  gpu/architecture gpu/compile gpu/driver gpu/workers db/store db/exchange library/predict library/lookup library/kernel library/tune
  reports/rows reports/figures reports/document reports/page
  tuner/emulate tuner/verify tuner/count tuner/device tuner/measure
  tuner/search/variants tuner/search/strategy tuner/search/hints tuner/search/run tuner/search/roof tuner/search/finals
  tuner/search/tune tuner/fleet/mpi tuner/fleet tuner/cli/output tuner/cli/options tuner/cli"
check_layers() { # one pass over all lines that include; paths are spelled from the root
  bad=$(find $layers -type f | sort -u | xargs grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]+"' | LAYERS=$(echo $layers) awk '
    function layer_of(path, i, at) {
      for (i = 1; i <= count; i++) if (index(path, names[i] "/") == 1 && length(names[i]) > length(names[at])) at = i
      return at
    }
    BEGIN {count = split(ENVIRON["LAYERS"], names, " ")}
    {
      split($0, parts, "\"")
      if (parts[2] ~ /^\./ || parts[2] !~ /\// || layer_of(parts[2]) > layer_of($0)) print
    }')
  [ -z "$bad" ] || { echo "$bad"; return 1; }
}
check_layers
result "layers" $?

# tsort names the files of each loop. NAME.c and NAME.h count as one, so that no file includes its callers. NAME_parts.h
# is what the files of NAME share, and may include NAME.h.
check_cycles() {
  bad=$(find include base stencil gpu db library reports tuner -name '*.[ch]' | xargs grep -HoE '^#include "[^"]+"' |
    sed -E 's/:#include "/ /; s/"$//; s/\.[ch]( |$)/\1/g' | awk '$1 != $2 && $1 != $2 "_parts"' | tsort 2>&1 >/dev/null)
  [ -z "$bad" ] || { echo "$bad" | sed 's/^/# /'; return 1; }
}
check_cycles
result "no file includes itself through others" $?

# A function's name says what it acts on: run_queries, not run.
# One word does not say on what a static function acts, except for these words: functions of mathematics and of CUDA.
check_names() {
  bad=$(find base stencil gpu db library reports tuner -name '*.[ch]' ! -name cuda_and_ptx_on_cpu.h |
    xargs grep -nE '^static ([A-Za-z0-9_]+[ *]+)+[a-z0-9]+\(' |
    grep -vE '[ *](ballot|clamp|covariance|likelihood|matern|mix|modulo|pick|smaller|temporary)\('
    find bench tests -name '*.[ch]' |
      xargs grep -nE '^static [a-z_ *]*[ *](run|load|take|start|begin|add|compare|copy|keep|choose|describe|say|look)\(')
  [ -z "$bad" ] || { echo "$bad" | sed 's/^/# /'; return 1; }
}
check_names
result "static functions say what they act on" $?

# A program that is started inherits what was opened without O_CLOEXEC.
check_descriptors() {
  bad=$(find base stencil gpu db library reports tuner -name '*.c' | xargs grep -nE '\<(mkstemps?|pipe|epoll_create|inotify_init|dup|creat)\(')
  [ -z "$bad" ] || { echo "$bad" | sed 's/^/# /'; return 1; }
}
check_descriptors
result "files and pipes are opened with O_CLOEXEC" $?

# Each wait in the table of docs/debugging.md names the tests in which the other side is silent.
check_waits() {
  missing=$(sed -n '/^### All waits/,/^##/s/^| .* | \([^|]*\) |$/\1/p' docs/debugging.md | sed 1,2d | while read -r tests; do
    case $tests in *\`*) ;; *) echo "a wait without a test: $tests" ;; esac
    for test in $(echo "$tests" | tr -d '`,'); do
      [ -n "$(find tests -name "$test" -o -name "$test.c")" ] || echo "there is no test $test"
    done
  done)
  [ -z "$missing" ] || { echo "$missing" | sed 's/^/# /'; return 1; }
}
check_waits
result "each wait of docs/debugging.md has its test" $?

# Calls that wait without a limit. The exceptions wait for threads of their own process, whose waits are in the list.
check_limits() {
  bad=$(find base stencil gpu db library reports tuner -name '*.c' | xargs grep -nE '\<(waitpid|sem_wait|sigwait(info)?|pthread_cond_wait|pause)\(|F_SETLKW|flock\(.*LOCK_(EX|SH)\)|\<poll\([^;]*, -1\)|MSG_WAITALL|until\([^;]*INFINITY' |
    grep -vE 'WNOHANG|^tuner/search/(variants/trial_runner|strategy/proposer)\.c:.*pthread_cond_wait')
  [ -z "$bad" ] || { echo "$bad" | sed 's/^/# /'; return 1; }
}
check_limits
result "no call waits without a limit" $?
if [ "${1:-}" = form ]; then exit $failed; fi

# One file at a time, because clang-tidy 14 takes every second va_list for uninitialised if it gets several. Fails if
# there is no file.
tidy() { # option: of clang-tidy; files on stdin
  OPTION=$1 xargs -P "$(nproc)" -n 1 sh -c '[ $# = 1 ] && eval clang-tidy --quiet "$OPTION" "$@" -- -std=gnu11 $TIDY_FLAGS 2>/dev/null' _
}
# SLICE=N checks one in N files. The analyzer takes ten times as long as all other checks. So it checks only the program,
# and with SLICE=N, N > 1, only about half of the chosen files.
check_files() {
  bad=0
  sources=$(find base stencil gpu db library reports tuner -name '*.c') && tests=$(find tests/unit tests/fake_cuda -name '*.c') || return 1
  [ -n "${MPI_FLAGS:-}" ] || sources=$(echo "$sources" | grep -vxF tuner/fleet/mpi/plugin.c)
  chosen=$(echo "$sources" | sliced "$slice")
  analyzed=$(echo "$sources" | sliced $((slice > 1 ? 2*slice : 1)))
  echo "$analyzed" | tidy '' || bad=1
  { echo "$chosen" | grep -vxF "$analyzed"; echo "$tests" | sliced "$slice"; } | tidy "'--checks=-clang-analyzer-*'" || bad=1
  return $bad
}
check_files
result "clang-tidy" $?

# cppcheck looks at each file by itself. With SLICE=N, N > 1, it checks eight times as many files as clang-tidy.
checked='base stencil gpu db library reports tuner tests/fake_cuda'
# shellcheck disable=SC2086
[ "$slice" -le 8 ] || checked=$(find $checked -name '*.c' | sliced $((slice / 8)))
# shellcheck disable=SC2086
eval cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
  --suppress=missingIncludeSystem --suppress=unknownMacro -j "$(nproc)" -I. -DHALOTUNE_DATA_DIR='\"x\"' $checked 2>&1 |
  grep -v 'could not find or open any of the paths' | grep . && status=1 || status=0
result "cppcheck" $status
[ "$failed" = 0 ]
