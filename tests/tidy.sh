#!/bin/sh
# tidy.sh: static checks, in TAP: the order of the layers, clang-tidy, cppcheck. $TIDY_FLAGS are the preprocessor's, $SLICE below.
set -u
failed=0
result() { # name status
  if [ "$2" = 0 ]; then echo "ok - $1"; else failed=1; echo "not ok - $1"; fi
}

# The lines of a folder, however deep, that include what matches; fails where there is none.
included() { # folder pattern
  [ -d "$1" ] && find "$1" -type f -exec grep -nHE "^[[:space:]]*#[[:space:]]*include[[:space:]]+$2" {} +
}

# A header is included only from further left in this line.
layers="include base stencil gpu db reports tuner/backend tuner/verify tuner/bench tuner/search tuner/cli"
check_layers() {
  right="" bad=0
  for layer in $(echo "$layers" | tr ' ' '\n' | tac); do
    for later in $right; do
      if included "$layer" "\"$later/"; then bad=1; fi
    done
    right="$right $layer"
  done
  for layer in $layers; do # paths are spelled from the root
    if included "$layer" '"(\.|[^/"]*")'; then bad=1; fi
  done
  return $bad
}
check_layers
result "layers" $?

# One file each: over several, clang-tidy 14 takes every second va_list for uninitialised. The analyzer's paths take ten times as long as all
# else. Tests are looked at without them, since they run under sanitizers as well; SLICE=N takes them through every Nth file of the program.
tidy() { # option: of clang-tidy; files on stdin
  OPTION=$1 xargs -r -P "$(nproc)" -n 1 sh -c 'eval clang-tidy --quiet "$OPTION" "$@" -- -std=gnu11 $TIDY_FLAGS 2>/dev/null' _
}
sources=$(find base stencil gpu db reports tuner -name '*.c' | sort)
every() { echo "$sources" | awk -v slice="${SLICE:-1}" "NR % slice $1 0"; } # == or >
every == | tidy '' && { every '>' && find tests/unit tests/fake_cuda -name '*.c'; } | tidy "'--checks=-clang-analyzer-*'"
result "clang-tidy" $?

# shellcheck disable=SC2086
eval cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
  --suppress=missingIncludeSystem --suppress=unknownMacro -j "$(nproc)" -I. -DHALOTUNE_DATA_DIR='\"x\"' base stencil gpu db reports tuner tests/fake_cuda 2>&1 |
  grep -v 'could not find or open any of the paths' | grep . && status=1 || status=0
result "cppcheck" $status
[ "$failed" = 0 ]
