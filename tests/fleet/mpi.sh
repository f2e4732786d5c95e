#!/bin/sh
# mpi.sh: the transport between real ranks, with Open MPI and with MPICH, each of which is skipped where its packages are
# missing. $MESSAGES is the program of messages.c. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
messages=$(readlink -f "${MESSAGES:?}")
plugins=$(readlink -f build/mpi)
unset HALOTUNE_MPI
. tests/fleet/launch.sh

number=0 failed=0
result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; tail -n 12 "$work/log" | sed 's/^/# /'; fi
}

# The lines of ours, without those that launchers add.
lines() { grep -c '^halotune: ' "$work/log"; }
refuses() { # words that the one line contains; a command follows
  words=$1
  shift
  ! "$@" >"$work/log" 2>&1 && [ "$(lines)" = 1 ] && grep -q "^halotune: .*$words" "$work/log"
}

# A plug-in whose MPI waits for a rank that never starts.
cat >"$work/waits.c" <<EOF
#include <unistd.h>
#include "include/halotune.h"
#include "tuner/fleet/mpi/plugin.h"
static int begin(struct fleet_mpi_world *out) { for (out->rank = 0;; pause()); }
const struct fleet_mpi_plugin halotune_mpi_plugin = {.version = FLEET_MPI_VERSION, .kind = "test", .halotune = HALOTUNE_VERSION, .begin = begin};
EOF
${CC:-gcc} -shared -fPIC -I. -o "$work/waits.so" "$work/waits.c" >"$work/log" 2>&1 &&
  refuses "MPI has not begun after 0.2 s" env PMI_RANK=0 PMI_SIZE=2 HALOTUNE_MPI="$work/waits.so" timeout 60 "$messages" begin
result "a rank that does not start: one line, after the limit" $?

for kind in openmpi mpich; do
  if ! reason=$(can_launch $kind); then
    number=$((number + 1))
    echo "ok $number - $kind # SKIP $reason"
    continue
  fi
  other=mpich
  [ $kind = openmpi ] || other=openmpi
  export HALOTUNE_MPI="$plugins/$kind/libhalotune-mpi.so"

  launch $kind 4 "$messages" echo >"$work/log" 2>&1
  result "$kind: messages of 1 B to 16 MiB in both directions arrive whole and in order" $?
  launch $kind 3 "$messages" gather >"$work/log" 2>&1
  result "$kind: every rank gets the records of all" $?
  launch $kind 5 "$messages" teams >"$work/log" 2>&1
  result "$kind: two teams, of which one is done earlier" $?
  launch $kind 3 "$messages" idle >"$work/log" 2>&1 && [ "$(grep -c ' of 3 on ' "$work/log")" = 3 ] &&
    awk -F ': ' '/while idle/ {split($NF, share, " "); if (share[1] >= 10) bad = 1} END {exit bad}' "$work/log"
  result "$kind: a rank that waits takes less than a tenth of a core" $?
  ! launch $kind 3 "$messages" die >"$work/log" 2>&1 && ! grep -q '^rank .*:' "$work/log"
  result "$kind: a rank that dies ends the job, with an exit code" $?
  ! launch $kind 3 "$messages" fail >"$work/log" 2>&1
  result "$kind: a rank that fails ends the job, with an exit code" $?
  refuses "there is no file /nowhere/x.so" launch $kind 3 env HALOTUNE_MPI=/nowhere/x.so "$messages" echo
  result "$kind: no plug-in: one line from one rank" $?

  # A plug-in of another version, and a library that is no plug-in.
  for version in 'const int halotune_mpi_plugin[16] = {999};:belongs to another Halotune' 'int x;:is no plug-in of Halotune'; do
    echo "${version%%:*}" | ${CC:-gcc} -shared -fPIC -x c -o "$work/other.so" - >"$work/log" 2>&1 &&
      refuses "${version#*:}" launch $kind 3 env HALOTUNE_MPI="$work/other.so" "$messages" echo
    result "$kind: a file that ${version#*:}" $?
  done

  if [ -e "$plugins/$other/libhalotune-mpi.so" ]; then
    refuses "launcher and plug-in belong to different MPIs" launch $kind 3 env HALOTUNE_MPI="$plugins/$other/libhalotune-mpi.so" "$messages" echo
    result "$kind: its launcher with the plug-in of $other" $?
  fi
done

echo "1..$number"
[ "$failed" = 0 ]
