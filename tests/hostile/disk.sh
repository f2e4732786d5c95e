#!/bin/sh
# disk.sh: databases on file systems that machines share, and whose locks may lie (disk.c): they stay whole, have no WAL, and are not
# written where locks keep nobody out. Prints TAP.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/hostile/parts.sh
${CC:-cc} -D_GNU_SOURCE -shared -fPIC -O1 -o "$work/disk.so" tests/hostile/disk.c -ldl || { echo "not ok - disk.c compiles"; exit 1; }
db=$work/disk.db log=$work/log
export DISK_LOG="$log" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"
# Import a document on a disk with such locks.
import() { # LOCKS document
  DISK_LOCKS=$1 LD_PRELOAD=$work/disk.so "$halotune" db import --trust --yes --db "$db" "$2" >"$work/said" 2>&1
}
begin() { rm -f "$db"* "$log"; }
journal() { sqlite3 "$db" 'pragma journal_mode'; }
whole() { "$halotune" db check --db "$db" >"$work/said" 2>&1; }

begin && DISK_TYPE=local import honest tests/data/db/copy.json && grep -q -e "-wal$" "$log"
result "a local disk: there is a log" $?
begin && import honest tests/data/db/copy.json && [ ! -e "$log" ] && [ "$(journal)" = delete ] && whole
result "a shared disk: no log is opened" $?
sqlite3 "$db" 'pragma journal_mode = wal' >/dev/null && import honest tests/data/tuned.json && [ "$(journal)" = delete ] && whole
result "a database with a log that was moved there has none from then on" $?

for locks in none unknown blind; do
  begin && import $locks tests/data/db/copy.json
  code=$?
  [ $code = 6 ] && grep -q 'files cannot be locked on its file system' "$work/said" && [ ! -e "$db" ]
  result "locks that are $locks: a new database is not begun" $?
  begin && import honest tests/data/db/copy.json && before=$(cksum <"$db") && ! import $locks tests/data/tuned.json &&
    [ "$(cksum <"$db")" = "$before" ] && [ -z "$(ls "$db".locks-* 2>/dev/null)" ]
  result "and one that is there stays as it is" $?
done

# SQLite reports a lock that the file system does not have as that of a writer, for which a reader would wait 30 s.
for locks in none unknown; do
  begin && import honest tests/data/db/copy.json
  DISK_LOCKS=$locks LD_PRELOAD=$work/disk.so "$halotune" db info --db "$db" >"$work/said" 2>&1
  code=$?
  [ $code = 6 ] && grep -q 'files cannot be locked on its file system' "$work/said"
  result "locks that are $locks: a reader is told so" $?
done

begin && import slow tests/data/db/copy.json
(import slow tests/data/tuned.json) &
first=$!
DISK_LOCKS=slow LD_PRELOAD=$work/disk.so "$halotune" db import --trust --yes --db "$db" tests/data/db/copy_newer.json >"$work/second" 2>&1
second=$?
wait $first && [ $second = 0 ] && whole && [ "$(sqlite3 "$db" 'select count(*) from run')" = "$(($(grep -o '"started"' tests/data/tuned.json tests/data/db/copy.json tests/data/db/copy_newer.json | wc -l)))" ]
result "slow locks: two writers at a time, and both have written all" $?
finish
