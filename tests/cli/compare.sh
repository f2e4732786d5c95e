# Winners of two databases, and of two dates in one.
mkdir "$TMPDIR/compare"
for name in copy copy_newer; do halotune db import --trust --yes --db "$TMPDIR/compare/$name.db" "tests/data/db/$name.json" >/dev/null 2>&1; done
halotune db import --trust --yes --db "$TMPDIR/compare/tuned.db" tests/data/tuned.json >/dev/null 2>&1
compare() { halotune compare "$@" 2>&1 | sed "s|$TMPDIR/compare/||g"; }
cd "$TMPDIR/compare" || exit 9
compare copy.db copy_newer.db
compare copy_newer.db copy.db --all
compare copy.db copy_newer.db --json --tolerance 90% | jq -c '.problems[] | [.change, .before.date, .after.date]'
compare copy.db copy.db
compare copy.db copy_newer.db --device 'h200,H100'
compare tuned.db --date 2026-11-20
compare tuned.db --date yesterday
compare tuned.db
compare copy.db none.db
compare copy.db copy_newer.db --tolerance 2
for columns in 60 40; do TERM=xterm script -qec "stty cols $columns; halotune compare copy.db copy_newer.db --color never" /dev/null </dev/null | tr -d '\r' | head -n 5; done
halotune compare copy.db copy_newer.db >/dev/null; echo "exit $?"
halotune compare copy_newer.db copy.db >/dev/null
# exit 1
