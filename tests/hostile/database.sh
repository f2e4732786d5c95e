#!/bin/sh
# database.sh: databases that are made by hand: rows that share pages, and words that are no words where a program prints them. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
here=$(dirname "$0")
. "$here/parts.sh"

"$halotune" db import --trust --yes --db "$work/honest.db" tests/data/tuned.json >/dev/null 2>&1
result "the honest database is made" $?

# 400 MB of text in 8 MB. The whole of it would be read by each command, and of a larger file without end.
cp "$work/honest.db" "$work/shared.db"
"$python" "$here/shared_pages.py" "$work/shared.db"
result "a database is made whose rows share pages" $?
for words in 'query star7 --device sm_90 --grid 512,512,512' "report -o $work/report.html"; do
  survives $words --db "$work/shared.db" && [ $code = 6 ] && grep -q 'was made to be endless' "$work/said"
  result "rows that share pages: '${words%% *}' ends (exit $code)" $?
done
for words in 'db import' 'db import --trust' 'db merge --trust'; do
  survives $words --db "$work/own.db" "$work/shared.db" && [ $code = 6 ] && grep -q 'the file is damaged' "$work/said"
  result "rows that share pages: '$words' refuses them (exit $code)" $?
done
finish
