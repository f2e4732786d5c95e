# Two documents of one giver have the same run. Each says that it has two results, and together they have three. The run
# then has no counts: with wrong ones, no other database would take an export of this one.
cd "$TMPDIR" || exit 9
data=$OLDPWD/tests/data/db/copy.json
jq '.tables.run[0].outcomes = {measured: 2} | .tables.finalist[0].variant_id as $v | .tables.measurement |= map(select(.variant_id == $v))' "$data" >one.json
jq '.tables.run[0].outcomes = {measured: 2} | .tables.finalist[0].variant_id as $v | .tables.measurement |= map(select(.variant_id != $v))
  | .tables.finalist = []' "$data" >rest.json
for file in one.json rest.json; do halotune db import --trust --yes --db here.db $file 2>/dev/null | grep -o 'added.*measurements*'; done
sqlite3 here.db "select coalesce(outcomes, 'none') from run; select count(*) from measurement"
halotune db check --db here.db
halotune db export --db here.db -o all.json
halotune db import --trust --yes --db there.db all.json 2>/dev/null | grep -o 'added.*measurements*'
# A run that ends in the future is not taken.
jq '.tables.run[0].ended = "9999-01-01T00:00:00.000Z"' "$data" >future.json
halotune db import --trust --yes --db future.db future.json 2>/dev/null | grep -v brings
# One document that has the run twice is refused.
jq -s '.[0] as $one | .[1] as $rest | $one | .tables.run += [$rest.tables.run[0] + {id: 9}]
  | .tables.measurement += [$rest.tables.measurement[] | .run_id = 9 | .id += 90]' one.json rest.json >twice.json
halotune db import --trust --db here.db twice.json
# exit 5
