# A task of a plan whose search for numbers of steps was killed is not done, as for tune --resume.
db=$TMPDIR/tuned.db
halotune db import --trust --yes --db "$db" tests/data/tuned.json >/dev/null 2>&1
sqlite3 "$db" "select writefile('$TMPDIR/star7.yaml', text) from stencil_text where id = (select text_id from run where problem_id = 1)" >/dev/null
halotune tune "$TMPDIR/star7.yaml" --grid 512,512,512 --plan "$TMPDIR/site.yaml" | sed "s|$TMPDIR|FOLDER|"
halotune fleet status "$db" --plan "$TMPDIR/site.yaml" | sed -n "s|$TMPDIR|FOLDER|p"
sqlite3 "$db" "create temp table p as select * from problem where id = 1; update p set id = 50, steps = 2; insert into problem select * from p;
  create temp table r as select * from run where problem_id = 1 limit 1; update r set id = 60, problem_id = 50, state = 'running', ended = null;
  insert into run select * from r"
halotune fleet status "$db" --plan "$TMPDIR/site.yaml" | sed -n "s|$TMPDIR|FOLDER|p"
sqlite3 "$db" "update origin set kind = 'measured'" # this user's runs
halotune fleet status "$db" --plan "$TMPDIR/site.yaml" | sed -n "s|$TMPDIR|FOLDER|p"
# exit 0
