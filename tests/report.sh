#!/bin/sh
# report.sh: `halotune report`, with the program $HALOTUNE and the databases that $MAKE_DB makes: the document compared
# with a golden file and its schema, limits of time and size, the page in a headless browser. Prints TAP. Screenshots
# for people are left in build/report/. UPDATE=1 writes the golden file anew. FULL=1 measures a million results instead
# of a fifth of that.
set -u
cd "$(dirname "$0")/.." || exit 1
halotune=$(readlink -f "${HALOTUNE:-build/halotune}") make_db=${MAKE_DB:?the program that makes databases}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset HALOTUNE_DB
failed=0

result() { # name status
  if [ "$2" = 0 ]; then echo "ok - $1"; else failed=1; echo "not ok - $1"; fi
}

# --- the document: the same database gives the same bytes ---

(mkdir -p "$work/golden" && "$make_db" tests/report/golden.sql "$work/golden/golden.db" && cd "$work/golden" &&
  SOURCE_DATE_EPOCH=0 "$halotune" report --db golden.db --json) >"$work/golden.json" 2>"$work/err"
[ -z "${UPDATE:-}" ] || cp "$work/golden.json" tests/report/golden.json
diff -u tests/report/golden.json "$work/golden.json" >"$work/diff"
result "the document of tests/report/golden.sql is tests/report/golden.json" $?
sed 's/^/# /' "$work/err" "$work/diff"

# make_db writes an old version, which does not say why a variant was proposed, and knows no energy.
why() { # kind
  case $1 in
  h200) sqlite3 "$work/h200.db" "update measurement set why = 'proposal ' || number" ;;
  small) # the third finalist needs more time and more energy than the first two; each later one needs less energy. The name of a
    # template has "tie" in it, and 1000 MiB is a number of bytes whose zeros stay.
    sqlite3 "$work/small.db" "update finalist set energy_mj = case rank when 1 then 148 when 2 then 149 when 3 then 160 else 150 - rank end, energy_low_mj = 100, energy_high_mj = 170;
      update best set objective = 'energy', energy_mj = 148, bytes = 1048576000; update template set name = 'frontier' where name = 'tile'; update run set objective = 'energy', power_limit_w = 700, idle_w = 81.5" ;;
  hostile) sqlite3 "$work/hostile.db" "update measurement set why = '<b onmouseover=alert(5)>why</b>'" ;;
  esac
}
# Another template would look like one of a user.
sed -n "/^const styles = /,/^}/s/^  \([a-z_]*\): \(\[.*\]\),$/\2 \1/p" reports/page/colors.js >"$work/styles"
[ "$(cut -d ' ' -f 3 "$work/styles" | sort)" = "$(basename -s .yaml templates/*.yaml | sort)" ] && [ -z "$(cut -d ' ' -f 1,2 "$work/styles" | sort | uniq -d)" ]
result "each template has a colour and a symbol of its own in the page" $?

kinds="empty small twins h200 elsewhere replayed emulated failures three hostile large"
for kind in $kinds; do
  "$make_db" $kind "$work/$kind.db" && why $kind && "$halotune" report --db "$work/$kind.db" --json -o "$work/$kind.json" >/dev/null
  result "the document of database $kind is written" $?
done

schema_check() { # documents...
  node tests/report/schema.mjs docs/report-schema.json "$@" || failed=1
}
if command -v node >/dev/null && [ -d node_modules/ajv ]; then
  schema_check "$work"/*.json
else
  schema_check() { :; }
  echo "ok - # SKIP documents against docs/report-schema.json: node, or its package ajv (npm ci), is not installed"
fi

jq -e '.problems[0] | .winner.low_ms == null and .winner.high_ms == null and (.finalists | length > 1 and all(.low_ms == null and .ratio_low == null))
  and (.variants.median_ms | any(. != null)) and (.variants.low_ms | all(. == null))' "$work/replayed.json" >/dev/null &&
  jq -e '.problems[0] | .winner.low_ms < .winner.high_ms and (.variants.low_ms | any(. != null))' "$work/h200.json" >/dev/null
result "a single value has no interval" $?

jq -e '[.problems[].finalists[].why] | length > 20 and all(startswith("proposal ")) and (unique | length) > 20' "$work/h200.json" >/dev/null
result "a finalist has the reason for which it was proposed" $?

jq -e '[.problems[].finalists[] | [.rank, .energy_mj, .is_pareto]] | length > 2 and all(.[2] == (.[0] != 3)) and .[2][1] == 160' "$work/small.json" >/dev/null &&
  jq -e '([.problems[].winner | select(. != null)] | all(.energy_mj == 148 and .objective == "energy")) and .runs[0].power_limit_w == 700 and .runs[0].idle_w == 81.5' "$work/small.json" >/dev/null &&
  jq -e '.problems[0] | .winner.objective == "time" and .winner.energy_mj == null and (.finalists | all(.is_pareto == null))' "$work/h200.json" >/dev/null
result "energy, and which finalists are on the front of time and energy" $?

# --- ratios: two times of one phase ---

db_export() { # file name
  "$halotune" db import --trust --yes --db "$work/$2.db" "$1" >/dev/null 2>&1 && "$halotune" report --db "$work/$2.db" --json -o "$work/$2.json" >/dev/null
}
db_export bench/results/nvidia-h200.json results && db_export db/starter/nvidia-h200.json starter
result "the documents of bench/results and of the starter database are written" $?
for document in golden $kinds results starter; do
  jq -r -f tests/report/ratios.jq "$work/$document.json" >"$work/faults" 2>&1 && [ ! -s "$work/faults" ]
  result "every ratio of $document divides two times of one phase" $?
  head -10 "$work/faults" | sed 's/^/# /'
done
# The check itself must find a ratio of a search time and a time of the final rounds.
jq '.problems |= map(. as $p | .rivals |= map(if $p.winner and .phase == "search" then .first_ms = $p.winner.time_ms | .ratio = .time_ms / .first_ms else . end))' \
  "$work/h200.json" | jq -e -r -f tests/report/ratios.jq | grep -q 'is not a time of the search'
result "a ratio of two phases is found" $?
jq '.problems |= [.[] | select(.winner.step_roof?.share)][:3] | .problems[].winner.step_roof.share *= 1.01' "$work/starter.json" | jq -r -f tests/report/ratios.jq | grep -q 'is not its roof over its time'
result "a share of several steps that is not the quotient of its times is found" $?
schema_check "$work/results.json" "$work/starter.json"

# --- a database that holds the finalists of a search, and not the search ---

jq -e '(.problems | map(.has_search)) == [false, false, false]
  and (.problems | all(.distribution == null and .convergence == null and .effects == null and .failures == null))
  and (.problems | sort_by(.id) | (map(.outcomes == null) == [false, true, true]) and (map(.runs | length) == [1, 1, 0])
    and (.[0] | .runs[0].tried == (.outcomes | add) and .runs[0].tried > 3 * .variant_count) and .[1].runs[0].tried == null)' <"$work/elsewhere.json" >/dev/null
result "without the search the document has what the run recorded, and no statistics of finalists" $?
jq -e '.problems | all(.has_search == false and .distribution == null and (.outcomes | add) == .runs[0].tried and .runs[0].tried >= .variant_count)' "$work/results.json" >/dev/null
result "bench/results holds finalists: its searches are not taken for what was tried" $?

# --- winners of one GPU on another: final times with final times, those of the search with those of the search ---

cat tests/report/golden.sql tests/report/transfer.sql >"$work/transfer.sql"
"$make_db" "$work/transfer.sql" "$work/transfer.db" && "$halotune" report --db "$work/transfer.db" --json -o "$work/transfer.json" >/dev/null
jq -r '.transfer[] | [.from, .to, .phase, .time_ms, .best_ms, (1000 * .share | round), (1000 * (.share_low // 0) | round), .run] | join(" ")' \
  "$work/transfer.json" >"$work/transfer"
diff - "$work/transfer" >"$work/diff" <<'END'
1 12 final 0.026 0.02 800 625 4
1 13 search 0.016 0.012 750 0 6
1 14 search 0.05 0.04 800 0 7
12 1 final 0.0101 0.01 990 971 2
12 13 final 0.04 0.01 250 0 5
14 1 search 0.04 0.01 250 0 2
END
result "a winner on another GPU is compared with the winner there, both in final rounds or both in the search" $?
sed 's/^/# /' "$work/diff"
schema_check "$work/transfer.json"

# --- several steps in a launch ---

# mean3 has 3 instructions a point and 8 bytes, 4 of them read. Of the winner's blocks of 64 points, over-read is 1 + 2/64.
"$make_db" tests/report/golden.sql "$work/steps.db" && "$halotune" db info --db "$work/steps.db" >/dev/null && # which brings it to the newest version
  sqlite3 "$work/steps.db" 'update problem set steps = 4 where id = 1; update best set steps = 4 where problem_id = 1' &&
  "$halotune" report --db "$work/steps.db" --json -o "$work/steps.json" >/dev/null
jq -e '.problems[0].winner | (.roof_ms * (1 + 1/64) / 4) as $memory | .step_roof
  | (.memory_ms - $memory | fabs) < 1e-4*$memory and (.arithmetic_ms - 3*1048576/33454.08e6 | fabs) < 1e-9 and .binds == "memory"
    and (.share - $memory/(0.010/4) | fabs) < 1e-4' "$work/steps.json" >/dev/null &&
  jq -e '.problems[0].winner | has("step_roof") and .step_roof == null' "$work/golden.json" >/dev/null
result "the roof of fused steps is the copy with the halos over the steps, and arithmetic; a launch of one step has none" $?
schema_check "$work/steps.json"

# --- options and failures ---

"$halotune" report --db "$work/h200.db" --stencil heat2d --json >"$work/heat2d.json"
[ "$(jq -c '[.problems[].stencil] | unique | length' "$work/heat2d.json")" = 1 ] && [ "$(jq '.problems | length' "$work/heat2d.json")" = 2 ]
result "--stencil leaves the problems of one stencil" $?
# Every id to which the document refers must exist, every row must be referred to, and the counts must match.
jq -e '([.problems[].id] | sort) as $problems | [.problems[].runs[].id] as $runs
  | ([.stencils[].name] == ["heat2d"]) and ([.runs[].problem] | unique) == $problems and ([.runs[].id] | sort) == ($runs | sort)
  and ([.problems[].device] | unique) == ([.devices[].id] | unique)
  and ([.templates[].id] | sort) == ([.problems[].templates[].id] | unique)
  and .counts.problems == ($problems | length) and .counts.runs == (.runs | length) and .counts.stencils == 1
  and .counts.measurements == ([.runs[].measurements] | add) and .counts.variants == ([.problems[].variant_count] | add)
  and .counts.winners == ([.problems[].winner | values] | length) and .counts.devices == 1
  and .database_counts.problems == 17 and .database_counts.runs > .counts.runs' "$work/heat2d.json" >/dev/null
result "runs, stencils, templates, GPUs and counts of --stencil are those of its problems" $?
schema_check "$work/heat2d.json"
[ "$("$halotune" report --db "$work/three.db" --device a100 --json |
  jq -c '[(.problems | length), (.transfer | length), .counts.devices, .database_counts.devices, (.devices | length)]')" = "[4,0,1,3,1]" ]
result "--device takes a part of a name, in any case, and leaves its problems" $?
"$halotune" report --db "$work/h200.db" --stencil none -o "$work/none.html" 2>"$work/err"
[ $? = 4 ] && [ ! -e "$work/none.html" ] && grep -q "no results for stencil 'none'" "$work/err"
result "an unknown stencil is an error, and no file is written" $?
"$halotune" report --db "$work/missing.db" 2>"$work/err"
[ $? = 4 ] && grep -q 'there is no such database' "$work/err"
result "a missing database is an error" $?

# --- the page's making ---

# Without node the build continues, and the file that says so is not written again.
mkdir "$work/path" && for tool in sh mkdir dirname cmp cat; do ln -s "$(command -v $tool)" "$work/path/$tool"; done
page_without() { PATH="$work/path" sh reports/page/build.sh "$work/made/page.html" 2>"$work/err"; }
page_without && [ -e "$work/made/page.html" ] && [ ! -s "$work/made/page.html" ] && grep -q 'node is not installed' "$work/err" &&
  touch -d @1 "$work/made/page.html" && page_without && [ "$(stat -c %Y "$work/made/page.html")" = 1 ]
result "without node the page is left out, and the build goes on" $?

# --- limits ---

# Run a command with at most this much processor time and memory. SPEED=1 keeps the limit in seconds. Otherwise the
# limit is ten times as long, so that on a slow machine only a program that hangs fails.
within() { # seconds megabytes command...
  seconds=$1 megabytes=$2
  [ "${SPEED:-}" = 1 ] || seconds=$((10 * seconds))
  shift 2
  (ulimit -t "$seconds" && ulimit -v $((megabytes * 1000)) && exec "$@") >"$work/out" 2>&1
}
size=$(wc -c <build/report/page.html)
if [ "$size" = 0 ]; then
  "$halotune" report --db "$work/small.db" -o "$work/small.html" 2>"$work/err"
  [ $? = 1 ] && grep -q 'npm' "$work/err"
  result "without its page the program says what is missing" $?
  echo "ok - # SKIP the browser's tests: this build has no page"
else
  within 2 500 "$halotune" report --db "$work/large.db" -o "$work/large.html" && [ "$(wc -c <"$work/large.html")" -lt 15000000 ]
  result "20,000 variants are written within 15 MB, with SPEED=1 within 2 s" $?
  if [ -n "${FULL:-}" ]; then many=million limit=20; else many=fifth limit=4; fi
  "$make_db" $many "$work/many.db"
  within $limit 500 "$halotune" report --db "$work/many.db" -o "$work/many.html"
  many_status=$?
  "$halotune" report --db "$work/many.db" --json -o "$work/many.json" >/dev/null
  (exit $many_status)
  result "a $many of results is written within 500 MB, with SPEED=1 within $limit s" $?
  rm -f "$work/many.db"

  # --- the page ---

  for kind in $kinds transfer; do "$halotune" report --db "$work/$kind.db" -o "$work/$kind.html" >/dev/null || result "page of $kind" 1; done
  chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
  if [ -z "$chromium" ]; then
    echo "ok - # SKIP the browser's tests: there is no Chromium (Debian's package chromium)"
  elif ! "$chromium" --version >/dev/null 2>&1; then
    echo "ok - # SKIP the browser's tests: $chromium does not start"
  else
    CHROMIUM=$chromium node tests/report/browser.mjs "$work" build/report || failed=1
  fi
fi
[ "$failed" = 0 ]
