# Why a winner won: from a database with a search, and from one with its finalists alone.
HALOTUNE_DB=$TMPDIR/explain.db
export HALOTUNE_DB HALOTUNE_TEMPLATE_PATH=templates # what lookups compare the stored templates with
gunzip -c bench/results/recording-star7-f32-512x512x512.json.gz >"$TMPDIR/recording.json"
halotune db import --trust --yes "$TMPDIR/recording.json" >/dev/null 2>&1
halotune explain star7
halotune explain kernels/star7.yaml --device h200 --launch stream | head -n 1
halotune explain star7 --grid 64,64,64 2>&1
halotune explain star7 --dtype f64 2>&1
halotune explain heat2d 2>&1
halotune db import --trust --yes --db "$TMPDIR/finalists.db" bench/results/nvidia-h200.json >/dev/null 2>&1
halotune explain wave25 --dtype f64 --db "$TMPDIR/finalists.db" | sed "s|$TMPDIR|FOLDER|g"
# the advice names the stencil as it was typed
halotune explain kernels/wave25.yaml --dtype f64 --db "$TMPDIR/finalists.db" | sed "s|$TMPDIR|FOLDER|g" | grep '^try'
sed 's/^name: star7/name: star8/' kernels/star7.yaml >"$TMPDIR/star8.yaml"
halotune explain "$TMPDIR/star8.yaml" 2>&1
halotune explain star8 2>&1
halotune explain derivative_x --db "$TMPDIR/finalists.db" | grep -E '^(bound|try)'
# a winner of two dimensions, by today's template
halotune tune heat2d --grid 48x32 --backend host --template direct --max-variants 1 --budget none --db "$TMPDIR/today.db" >/dev/null 2>&1
halotune explain heat2d --db "$TMPDIR/today.db" | grep -E '^(heat2d|stale)'
# a winner that groups weights
bench/stencil.sh box3d_r1_even >"$TMPDIR/even.yaml"
halotune tune "$TMPDIR/even.yaml" --grid 24x20x18 --backend host --template scatter_direct --set weights=grouped,z_slicing=4 --max-variants 1 \
  --steps 1 --budget none --db "$TMPDIR/even.db" >/dev/null 2>&1
halotune explain box3d_r1_even --db "$TMPDIR/even.db" | grep -o -E 'weights=grouped|weights that repeat[^(]*'
# a space that was counted up to its cap
sqlite3 "$TMPDIR/today.db" 'update run set space = 9007199254740992'
halotune explain heat2d --db "$TMPDIR/today.db" | grep -o 'of [^,;]* that the rules keep'
# a newer winner of others, for another launch mode, does not hide what this user measured
cp "$TMPDIR/today.db" "$TMPDIR/both.db"
sqlite3 "$TMPDIR/both.db" "
  insert into origin (id, kind, name, date) values (90, 'imported', 'theirs.json', '2026-01-01T00:00:00.000Z');
  create temp table p as select * from problem limit 1;
  create temp table b as select * from best where is_current;
  update p set id = 90, launch = 'graph', origin_id = 90;
  update b set id = 90, problem_id = 90, date = strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), origin_id = 90;
  insert into problem select * from p;
  insert into best select * from b"
halotune explain heat2d --db "$TMPDIR/both.db" | grep -E '^heat2d|origin'
# texts of a database that somebody sent are words of the command that is advised
cp "$TMPDIR/today.db" "$TMPDIR/sent.db"
sqlite3 "$TMPDIR/sent.db" "pragma ignore_check_constraints = on; update problem set cache = '; exit'; update run set state = 'partial', reason = 'budget'"
halotune explain heat2d --db "$TMPDIR/sent.db" | grep -o -e '--cache .*' | sed "s|$TMPDIR|FOLDER|"
# db info shows a winner as query does: on a terminal the parameters that differ from the defaults
for option in '' --long; do
  TERM=xterm script -qec "stty cols 80; halotune db info $option" /dev/null </dev/null | tr -d '\r' | sed -n '/^  best/,$p'
done
halotune explain star7 --db "$TMPDIR/finalists.db" --grid 10x10
# slow
# exit 2
