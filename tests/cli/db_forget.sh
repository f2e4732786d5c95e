# First the counts are printed; rows are removed only with --yes.
HALOTUNE_DB=$TMPDIR/forget.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/db/copy.json tests/data/db/copy_newer.json >/dev/null 2>&1
halotune db forget --before 2016-01-15
halotune db info | grep rows
# Without --yes a database of an older version is not migrated.
cp "$HALOTUNE_DB" "$TMPDIR/older.db"
for column in run.objective run.power_limit_w run.idle_w finalist.energy_mj finalist.energy_low_mj finalist.energy_high_mj \
  best.objective best.energy_mj; do
  sqlite3 "$TMPDIR/older.db" "alter table ${column%.*} drop column ${column#*.}"
done
sqlite3 "$TMPDIR/older.db" 'pragma user_version = 8'
halotune db forget --before 2016-01-15 --db "$TMPDIR/older.db"
sqlite3 "$TMPDIR/older.db" 'pragma user_version'
halotune db forget --before 2016-01-15 --db "$TMPDIR/older.db" --yes
sqlite3 "$TMPDIR/older.db" 'pragma user_version'
# A verdict is forgotten with its run.
cp "$HALOTUNE_DB" "$TMPDIR/wrong.db"
sqlite3 "$TMPDIR/wrong.db" "update measurement set outcome = 'wrong' where id in (select max(id) from measurement group by run_id)"
halotune db forget --before 2016-01-15 --db "$TMPDIR/wrong.db"
halotune db forget --before 2016-01-15 --yes
halotune db info | grep rows
sqlite3 "$HALOTUNE_DB" "insert into origin (kind, name, signer, document, date) values ('imported', 'fit.json', 'alice', '01',
  '2016-01-01'); insert into prediction (device_id, coefficient, value, origin_id) values (1, 'wave', 0.5, last_insert_rowid())"
halotune db forget --signer alice
halotune db forget --signer alice --yes
sqlite3 "$HALOTUNE_DB" "insert into origin (kind, name, signer, document, date) values ('imported', 'gpu.json', 'alice', '02',
  '2016-01-01'); insert into stencil (hash, name, origin_id) values ('1', 'alone', last_insert_rowid())"
halotune db forget --signer alice
halotune db forget --signer alice --yes
halotune db forget --signer alice --yes 2>&1 | sed "s|$TMPDIR|FOLDER|"
# What this user fitted to times of a signer stays.
cp "$HALOTUNE_DB" "$TMPDIR/fitted.db"
sqlite3 "$TMPDIR/fitted.db" "insert into origin (id, kind, name, signer, document, date) values (98, 'measured', 'me', '', '', '2016-01-01'),
  (99, 'imported', 'times.json', 'alice', '03', '2016-01-01'); update run set origin_id = 99;
  insert into prediction (device_id, coefficient, value, origin_id) values (1, 'wave', 0.5, 98)"
halotune db forget --signer alice --yes --db "$TMPDIR/fitted.db"
halotune db forget --signer "" --yes
echo "exit $?"
# Words of a name choose the device that they fit, as in other commands.
for device in h200 'nvidia  H200' h100; do
  halotune db forget --device "$device" 2>&1 | sed "s|$TMPDIR|FOLDER|"
done
halotune db forget --device H200 --yes
halotune db info | grep rows
halotune db forget --stencil star7 --problem copy,f32 --yes
halotune db forget --before yesterday
halotune db forget
# exit 2
