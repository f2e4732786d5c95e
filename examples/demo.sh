#!/bin/sh
# demo.sh: shows what Halotune is for, from the root of the tree: it searches and stores the fastest kernel of a
# stencil, and asks for this kernel's configuration from C. Without a GPU the variants run on the CPU, which shows that
# everything works, but says nothing about speed.
set -eu
halotune=build/halotune
export HALOTUNE_DB="${HALOTUNE_DB:-$PWD/build/demo.db}"
say() { printf '\n== %s\n' "$*"; }
run() {
  printf '\n$ %s\n' "$*"
  "$@"
}

say "what this machine has"
"$halotune" doctor || true

say "a stencil: what it reads, computes and costs"
run "$halotune" show star7

if "$halotune" doctor --json | grep -q '"capability"'; then
  say "the fastest kernel for it on this GPU: a minute"
  run "$halotune" tune star7 --budget 50s
  set -- star7 512 512 512
else
  say "no GPU: variants are run on the CPU. The times below rank nothing; they show the way from a search to a stored winner"
  run "$halotune" tune star7 --backend host --grid 48,40,36 --budget 30s
  set -- star7 48 40 36 "host emulation of sm_90"
fi

say "the winner, asked for from C (examples/00_query.c)"
${CC:-cc} -Iinclude -o build/demo_query examples/00_query.c -Lbuild/lib -lhalotune
printf '\n$ ./query %s\n' "$*"
LD_LIBRARY_PATH=build/lib build/demo_query "$@"

say "all of it as one page: $halotune report --db $HALOTUNE_DB -o report.html"
