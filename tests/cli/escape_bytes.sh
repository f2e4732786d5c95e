# Names of a database with escape sequences do not command the terminal.
db=$TMPDIR/escapes.db
halotune db import --trust --yes --db "$db" tests/data/tuned.json >/dev/null 2>&1
sqlite3 "$db" "update template set name = name || char(27) || '[2J'; update device set name = name || char(27) || ']0;x' || char(7)"
HALOTUNE_DB=$db
export HALOTUNE_DB
halotune db info | sed "s|$TMPDIR/||" | head -n 3 | cat -v
halotune db info | grep best: | cut -d ' ' -f 1-6 | cat -v
halotune query star7 --device 'NVIDIA H200' | head -n 4 | cat -v
halotune explain star7 --color always | grep ^won | cat -v
halotune compare "$db" "$db" --all | sed "s|$TMPDIR/||g" | cat -v
halotune compare "$db" "$db" --all --json | grep -m 1 template
TERM=xterm script -qec "halotune explain star7" /dev/null </dev/null | grep ^won | tr -d '\r' | cat -v
sqlite3 "$db" "update best set source = '// ' || char(27) || '[31mred' || char(10) || source; update device set name = 'NVIDIA H200'"
TERM=xterm script -qec "halotune query star7 --grid 512,512,512 --dtype f32 --device 'NVIDIA H200' --source" /dev/null </dev/null | tr -d '\r' | head -n 3 | cat -v
# exit 0
