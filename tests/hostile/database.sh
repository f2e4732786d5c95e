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

# To SQLite a text goes on behind a byte 0, and to readers it ends there.
for key in device.uuid stencil.name stencil.hash template.hash variant.source_hash run.started best.date; do
  cp "$work/honest.db" "$work/longer.db"
  "$python" - "$work/longer.db" "${key%.*}" "${key#*.}" <<'END'
import sqlite3, sys
path, table, column = sys.argv[1:]
db = sqlite3.connect(path)
db.execute(f"update {table} set {column} = cast(cast({column} as blob) || x'0061' as text)")
db.commit()
END
  cp "$work/honest.db" "$work/into.db"
  survives db import --trust --yes --db "$work/into.db" "$work/longer.db" && [ $code = 5 ] && grep -q 'goes on behind its end' "$work/said"
  result "a $key that goes on behind its end makes no second row of its key (exit $code)" $?
done

# What a header says of a device, a date and a variant stands in a comment of C.
"$python" - "$work" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1] + "/honest.db")
db.execute("update device set name = ? where name = 'NVIDIA H200'", ("H200 */\n#error evil\n/* *\\\n/\n#error evil\n/* *??/\n/ #error evil\n/*",))
db.execute("update best set date = '2026-11-21T12:00:00Z */ int evil; /*'")
db.commit()
END
survives query star7 --db "$work/honest.db" --device sm_90 --grid 500,512,512 --header && [ $code = 0 ] && grep -q evil "$work/out"
result "a header is made of a device whose name is code (exit $code)" $?
mkdir "$work/include" && touch "$work/include/cuda.h"
# The compiler keeps directives, and says where each comment ends.
! "${CC:-cc}" -std=c99 -E -P -nostdinc -I "$work/include" -x c "$work/out" 2>&1 | grep evil
result "and holds nothing of that name but a comment" $?
finish
