#!/bin/sh
# import.sh: files of a hostile peer, imported without trust and merged with it, by the program $HALOTUNE. What they may not do is change an
# answer, keep one away, or be taken silently. docs/security.md has the promises.
set -u
halotune=${HALOTUNE:-build/halotune}
case $halotune in /*) ;; *) halotune=$PWD/$halotune ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_CACHE_HOME="$work/cache"
unset HALOTUNE_DB HALOTUNE_TEMPLATE_PATH
honest=tests/data/tuned.json
n=0
failures=0
result() { # what status
  n=$((n + 1))
  if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1" && failures=$((failures + 1)); fi
}

# All answers of a database, without what changes with the clock.
answers() { # DB
  for grid in 512,512,512 640,512,512 100,100,100; do
    "$halotune" query star7 --db "$1" --device 'NVIDIA H200' --grid "$grid" --json 2>/dev/null | jq -cS 'del(.age_s)'
    "$halotune" query star7 --db "$1" --device 'NVIDIA H200' --grid "$grid" --source 2>/dev/null
  done
}
export_of_own() { # DB FILE
  "$halotune" db export --cubins --db "$1" -o "$2"
}

db=$work/own.db
"$halotune" db import --trust --yes --db "$db" "$honest" >"$work/log" 2>&1 || { cat "$work/log"; echo "1..0"; exit 1; }
export_of_own "$db" "$work/own.json"
answers "$db" >"$work/before"
[ "$(wc -l <"$work/before")" -gt 100 ]
result "the honest database answers" $?

# What a peer may write: a name, and how jq makes it of an honest document.
cat >"$work/peers" <<'PEERS'
coefficients|.tables.stencil_text |= map(.text |= sub("c0: 0.4"; "c0: 66.6"))
emulated|.tables.device |= map(.is_emulation = 1)
never_right|.tables.run |= map(.started = "9999-01-01T00:00:00.000Z") | .tables.measurement |= map(.outcome = "wrong")
newest|.tables.best |= map(.date = "9999-01-01T00:00:00.000Z" | .time_ms = 0.000001 | .low_ms = 0.000001)
no_date|.tables.best |= map(.date = "2026-11-21T23:59:59.999Z or later" | .time_ms *= 0.5 | .low_ms *= 0.5)
source|.tables.best |= map(.source += "\nint evil;")
split_comment|.tables.best |= map(.source = "/* *\\\n/ int evil; /* */" + .source | .date = "2026-11-22T12:00:00Z" | .time_ms *= 0.5 | .low_ms *= 0.5 | .high_ms *= 0.5)
blank_joins|.tables.best |= map(.source = "// why \\ \n" + .source | .date = "2026-11-22T12:00:00Z" | .time_ms *= 0.5 | .low_ms *= 0.5 | .high_ms *= 0.5)
moved_text|.tables.template |= map(.yaml += "# moved\n" | .cuda += "int moved;")
named|.tables.template |= map(.cuda += "int evil;")
code|.tables.best |= map(.cubin = "AAAA")
launch|.tables.best |= map(.launch.block[0] = 1)
times|.tables.best |= map(.time_ms = 0.000001 | .low_ms = 0.000001)
PEERS
cut -d'|' -f1 "$work/peers" >"$work/names"
while read -r name; do
  sed -n "s/^$name|//p" "$work/peers" >"$work/change"
  jq -c -f "$work/change" "$work/own.json" >"$work/$name.json" || { result "$name: the document is made" 1; continue; }
  # Without trust.
  "$halotune" db import --db "$db" "$work/$name.json" >"$work/log" 2>&1
  answers "$db" >"$work/after"
  cmp -s "$work/before" "$work/after"
  result "$name, without trust: no answer changes" $?
  # Trusted, over the honest rows: refused or without effect, and the database stays whole.
  cp "$db" "$work/merged.db"
  "$halotune" db import --trust --yes --db "$work/merged.db" "$work/$name.json" >"$work/log" 2>&1
  status=$?
  answers "$work/merged.db" >"$work/after"
  # Rows with a date of their own are other rows, and machine code may come later: they are taken. Others are in conflict.
  case $name in
    never_right | newest | code) [ "$status" = 0 ] && cmp -s "$work/before" "$work/after" ;;
    *) [ "$status" != 0 ] && cmp -s "$work/before" "$work/after" ;;
  esac
  result "$name, with trust: refused or without effect (exit $status)" $?
done <"$work/names"

# The first import decides nothing for the second.
db=$work/late.db
for file in coefficients code; do "$halotune" db import --db "$db" "$work/$file.json" >/dev/null 2>&1; done
ls "$db.untrusted/code.json-"*.db >/dev/null 2>&1
result "machine code of a file without trust is kept apart" $?

# Parts of copies that killed imports left. One that is younger than an hour may be of an import that is under way.
part=$db.untrusted/times.json-$(printf %064d 1).db.new
for name in "$part-1" "$part-aBcDeF" "$part-aBcDeF-journal"; do touch -d '2 hours ago' "$name"; done
ln -s "$work/own.json" "$part-link"
touch -h -d '2 hours ago' "$part-link"
touch "$part-young"
touch -d '2 hours ago' "${part%new}aBcDeF" "$db.untrusted/mail.db.backup"
# A complete copy stays, although its name holds what parts have in theirs.
cp "$work/times.json" "$work/own.db.new-y"
"$halotune" db import --db "$db" "$work/own.db.new-y" >/dev/null 2>&1
whole=$(ls "$db.untrusted/own.db.new-y-"*.db)
touch -d '2 hours ago' "$whole"
"$halotune" db import --db "$db" "$work/times.json" >"$work/log" 2>&1 && ls "$db.untrusted/times.json-"*.db >/dev/null &&
  [ "$(cd "$db.untrusted" && echo times*.new-*)" = "${part##*/}-link ${part##*/}-young" ] && [ ! -e "${part%new}aBcDeF" ] &&
  [ -f "$whole" ] && [ -f "$db.untrusted/mail.db.backup" ] # which is the user's
result "parts of copies that killed imports left are removed after an hour" $?
rm -f "$part"-* "$whole"
"$halotune" db import --trust --yes --db "$db" "$work/own.json" >/dev/null 2>&1
answers "$db" >"$work/after"
codes() { jq -c '[.tables.best[].cubin]' "$1"; }
export_of_own "$db" "$work/late.json"
cmp -s "$work/before" "$work/after" && [ "$(codes "$work/late.json")" = "$(codes "$work/own.json")" ]
result "an honest file after hostile ones: as if it had been alone" $?

# A document of version 1 is migrated before it is checked. Each of its winners is compared with each variant that is wrong.
jq -nc '1600 as $n | "2026-01-01T00:00:00.000Z" as $date |
  {state: "complete", started: $date, ended: $date, command: "x", host: "h", version: "0", driver: "", cuda: 0, nvrtc: "x", seed: 1,
   strategy: "s", budget_s: 1, space: 1, bytes: 1} as $run |
  {is_current: 0, origin: "tuned", date: $date, time_ms: 1, low_ms: 1, high_ms: 1, sample_count: 1, bytes: 1, rms_error: 0, max_error: 0,
   max_error_units: 0, registers: 1, shared_bytes: 0, occupancy: 1, launch: {}, coefficients: [], driver: "", nvrtc: "x", arch: "sm_90",
   source: "", cubin: ""} as $best |
  {format: "halotune database", version: 1, tables: {
    device: [{id: 1, uuid: "GPU-1", name: "NVIDIA H200", capability: 90, sm_count: 1, clock_khz: 1, memory_clock_khz: 1, bus_bits: 1,
              l2_bytes: 1, memory_bytes: 1, max_threads: 1, max_threads_sm: 1, max_registers: 1, registers_sm: 1, max_shared_bytes: 1,
              warp_size: 32, is_emulation: 0}],
    stencil: [{id: 1, hash: "s", name: "s", text: "name: s"}],
    template: [{id: 1, hash: "t", name: "t", yaml: "name: t", cuda: "x"}],
    problem: [range(1; $n + 1) | {id: ., device_id: 1, stencil_id: 1, dtype: "f32", nx: ., ny: 1, nz: 1, launch: "stream", cache: "steady"}],
    variant: [range(1; $n + 1) | {id: ., source_hash: tostring, stencil_id: 1, template_id: 1, parameters: {}}],
    run: [range(1; $n + 1) | $run + {id: ., problem_id: .}],
    measurement: [range(1; $n + 1) | {id: ., run_id: ., variant_id: ., number: ., at_s: 1, outcome: "wrong"}],
    best: [range(1; $n + 1) | $best + {id: ., problem_id: ., variant_id: ($n + 1 - .)}]}}' >"$work/old.json"
"$halotune" db import --db "$db" "$work/old.json" >"$work/log" 2>&1
status=$?
[ "$status" = 6 ] && grep -q 'old.json: .*reading takes far longer than the size of the file explains' "$work/log"
result "a document of version 1 whose migration would take very long is refused (exit $status)" $?

# Files that are kept apart are no databases.
for command in "query star7 --device sm_90" report "db forget --stencil star7 --yes"; do
  # The words of a command are words.
  "$halotune" $command --db "$db".untrusted/code.json-*.db >"$work/log" 2>&1
  [ $? != 0 ]
  result "'$command' opens no file that is kept apart" $?
done
echo "1..$n"
[ "$failures" = 0 ]
