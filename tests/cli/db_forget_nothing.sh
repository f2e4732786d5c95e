# A choice without matching rows fails, with and without --yes, and removes nothing.
HALOTUNE_DB=$TMPDIR/forget_nothing.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/db/copy.json >/dev/null 2>&1
for choice in --problem=copi --device=H100 --problem=copy,f32,7 --before=2001-01-01 '--problem=copi --before=2030-01-01'; do
  halotune db forget $choice --yes
  echo "$choice: exit $?"
  halotune db forget $choice >/dev/null 2>&1
  echo "without --yes: exit $?"
  halotune db export $choice >"$TMPDIR/nothing.json"
  echo "export: exit $?, $(wc -c <"$TMPDIR/nothing.json") bytes"
done 2>&1 | sed "s|$TMPDIR|FOLDER|"
halotune db info | grep rows
halotune db forget --stencil copi --yes >/dev/null 2>&1
# exit 4
