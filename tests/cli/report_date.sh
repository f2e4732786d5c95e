# $SOURCE_DATE_EPOCH sets the date of the report. An empty value sets none. A value without a date is refused.
halotune db import --trust --yes --db "$TMPDIR/date.db" tests/data/db/empty.json >/dev/null 2>&1
report() { SOURCE_DATE_EPOCH=$1 halotune report --db "$TMPDIR/date.db" --json 2>&1; }
for seconds in 0 1795262400 253402300799; do report $seconds | jq -r .about.generated; done
report '' | jq -r .about.generated | grep -c '^20'
for seconds in 253402300800 9223372036854775807 99999999999999999999 -99999999999999999999 12x 0.5 ' ' yesterday; do report "$seconds"; done
# exit 2
