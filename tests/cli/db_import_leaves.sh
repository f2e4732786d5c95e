# What an import leaves is a database that others take.
cd "$TMPDIR" || exit 9
data=$OLDPWD/tests/data/db/copy.json
again() { # check a database, and import an export of it here and elsewhere
  halotune db check --db $1
  halotune db export --db $1 -o all.json
  for to in $1 elsewhere-$1; do halotune db import --trust --yes --db $to all.json 2>&1 >/dev/null | sed '/is trusted/d'; done
}
take() { halotune db import --trust --yes --db "$@" 2>/dev/null | grep -o 'added.*measurements*'; }
# A database has JSON with blanks. An export writes none.
halotune db import --trust --yes --db blank.db "$data" >/dev/null 2>&1
sqlite3 blank.db "update best set launch = replace(launch, ':', ' : ')"
take json.db blank.db
again json.db
# A run has finalists when it has ended. A file that says otherwise could take them away again by its end.
jq '.tables.run[0].state = "running" | del(.tables.run[0].ended)' "$data" >impossible.json
halotune db import --trust --yes --db rank.db impossible.json 2>&1
jq '.tables.finalist = []' impossible.json >going.json
jq '.tables.finalist[0].rank = 2' "$data" >ended.json
take rank.db going.json
take rank.db ended.json
sqlite3 rank.db 'select rank from finalist'
again rank.db
# Coefficients of predicted times come in two kinds, each with a limit of its own.
jq '.tables.prediction = [range(4000) | {id: (. + 1), device_id: 1, coefficient: "static_\(.)", value: 1}]' "$data" >static.json
jq '.tables.prediction = [range(20) | {id: (. + 1), device_id: 1, coefficient: "b\(.)", value: 1}]' "$data" >times.json
take kinds.db static.json
take kinds.db times.json
sqlite3 kinds.db 'select count(*) from prediction'
again kinds.db
# exit 0
