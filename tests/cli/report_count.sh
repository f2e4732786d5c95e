# With --count the report has the counted accesses of winner and finalists.
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
halotune tune heat2d --backend host --dtype f32 --grid 40,30 --template direct --max-variants 3 --budget none --db "$d/t.db" >"$d/out" 2>&1 || cat "$d/out"
figures='[.problems[] | .winner.figures, .finalists[].figures] | [length > 1, all(.is_counted), any(.is_counted)]'
halotune report --db "$d/t.db" --json | jq -c "$figures"
halotune report --db "$d/t.db" --count --json | jq -c "$figures"
# slow
# exit 0
