#!/bin/sh
# solvers.sh: the solvers of examples/solvers on this machine's GPU, in double precision. Each is tuned for BUDGET (3s), and
# the winners must reach the exact solutions, the energies and the patterns of tests/unit/solvers, on grids SCALE (16) times
# as long along each axis as those of `make unit`. BUDGET=0 takes kernels that nobody tuned. TESTS are the programs of
# tests/unit/solvers. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HALOTUNE_DB="$work/solvers.db" HALOTUNE_TEMPLATE_PATH="$PWD/templates" SOLVERS=gpu SOLVERS_SCALE="${SCALE:-16}"

number=0 failed=0
check() { # name command...
  name=$1
  shift
  number=$((number + 1))
  if "$@" >"$work/log" 2>&1; then
    echo "ok $number - $name"
  else
    failed=$((failed + 1))
    echo "not ok $number - $name"
    grep -v '^ok ' "$work/log" | tail -n 20 | sed 's/^/# /'
  fi
}
# A database without results, because results of other GPUs and of the installation are not tested here.
echo '{"format": "halotune database", "version": 1, "tables": {}}' >"$work/empty.json"
check "a database of its own" "$program" db import --trust --yes --db "$HALOTUNE_DB" "$work/empty.json"
if [ "${BUDGET:=3s}" != 0 ]; then
  for file in examples/solvers/*.yaml; do
    check "tuned: $(basename "$file" .yaml)" "$program" tune "$file" --dtype f64 --budget "$BUDGET" --db "$HALOTUNE_DB"
  done
fi
for test in $TESTS; do check "$(basename "$test")" env CMOCKA_MESSAGE_OUTPUT=TAP "$test"; done
echo "1..$number"
[ "$failed" = 0 ]
