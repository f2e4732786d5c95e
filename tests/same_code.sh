#!/bin/sh
# same_code.sh OLD NEW: whether two builds of the program make the same machine code. Both compile the same sample of
# variants of every stencil, and each variant whose cubin differs is named. It is for changes of the generator and of
# templates that should not change any kernel. Each program is a TREE/build/halotune and uses the templates of its own
# tree. STENCILS="NAME ..." takes only these; SAMPLE=N takes N variants of each (16); ARCH=sm_XX (sm_90). Prints TAP.
set -u
[ $# = 2 ] || { echo "usage: tests/same_code.sh OLD NEW" >&2; exit 2; }
old=$(readlink -f "$1") new=$(readlink -f "$2")
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0 failed=0

# Print a line for each variant: template and values, a tab, the hash of its cubin or the reason why there is none.
codes() { # program stencil dtype
  (cd "$(dirname "$1")/.." && "$1" compile "$2" --dtype "$3" --arch "${ARCH:-sm_90}" --sample "${SAMPLE:-16}" --seed 1 --no-cache --json) |
    jq -r '.variants[] | "\(.template) \(.parameters | to_entries | map("\(.key)=\(.value)") | join(","))\t\(.cubin_hash // .outcome)"' | sort
}

for stencil in ${STENCILS:-$("$new" list stencils | awk 'NR > 1 {print $1}')}; do
  for dtype in f32 f64; do
    number=$((number + 1))
    codes "$old" "$stencil" $dtype >"$work/old"
    codes "$new" "$stencil" $dtype >"$work/new"
    if [ -s "$work/old" ] && cmp -s "$work/old" "$work/new"; then
      echo "ok $number - $stencil $dtype: $(wc -l <"$work/new") variants"
    else
      failed=$((failed + 1))
      echo "not ok $number - $stencil $dtype"
      diff "$work/old" "$work/new" | sed -n 's/^> \([^\t]*\)\t.*/# differs: \1/p'
    fi
  done
done
echo "1..$number"
[ $failed = 0 ]
