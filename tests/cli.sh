#!/bin/sh
# cli.sh [CASE...]: runs each tests/cli/CASE.sh in the root of the repository, with the program $HALOTUNE on PATH as `halotune`.
# Each case has a $TMPDIR of its own. It compares the output with CASE.out and CASE.err (missing: empty), and the exit
# code with the last line of CASE.sh, "# exit N". Prints TAP. UPDATE=1 writes the files anew; read them before you commit. CASE=NAME names a
# case, too. A name may be a pattern ('query_*'). Without names all cases run, or with SLICE=3 a third of
# them, and at least one of each kind. A case that takes seconds of processor has the line "# slow". With SLOW=3 a third of
# the slow cases run, at least one of each kind, and all others.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/slice.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
# A copy, so that the folders beside the program do not change what it finds.
cp "${HALOTUNE:-build/halotune}" "$work/bin/halotune"
PATH="$work/bin:$PATH" LC_ALL=C
export PATH TMPDIR LC_ALL
unset HALOTUNE_PATH
number=0 failed=0
[ -z "${CASE:-}" ] || set -- "$@" "$CASE"
[ $# -gt 0 ] || set -- '*'
cases=
for name in "$@"; do
  for case in tests/cli/$name.sh; do # a pattern names several files
    [ -e "$case" ] || { echo "not ok 1 - there is no $case"; exit 1; }
    cases="$cases $case"
  done
done
sample() {
  grep -L '^# slow$' $cases
  grep -l '^# slow$' $cases | sliced_kinds "${SLOW:-1}" "$kind_of_case"
}
for case in $(sample | LC_ALL=C sort | sliced_kinds "${SLICE:-1}" "$kind_of_case"); do
  number=$((number + 1))
  base=${case%.sh}
  TMPDIR=$work/of_case
  mkdir "$TMPDIR"
  sh "$case" >"$work/out" 2>"$work/err" </dev/null
  code=$?
  rm -rf "$TMPDIR"
  sed -i -E 's/Z, [0-9]+ [a-z]+ ago,/Z, SOME TIME ago,/' "$work/out" # the age of a date grows
  if [ -n "${UPDATE:-}" ]; then
    cp "$work/out" "$base.out"
    if [ -s "$work/err" ]; then cp "$work/err" "$base.err"; else rm -f "$base.err"; fi
  fi
  expected_err=$base.err
  [ -e "$expected_err" ] || expected_err=/dev/null
  problem=
  [ "# exit $code" = "$(tail -n 1 "$case")" ] || problem="exit code $code"
  diff -u "$base.out" "$work/out" >"$work/diff" 2>&1 || problem="$problem stdout"
  diff -u "$expected_err" "$work/err" >>"$work/diff" 2>&1 || problem="$problem stderr"
  if [ -z "$problem" ]; then
    echo "ok $number - $base"
  else
    failed=$((failed + 1))
    echo "not ok $number - $base: differs in $problem"
    sed 's/^/# /' "$work/diff"
  fi
done
echo "1..$number"
[ "$failed" = 0 ]
