# --no-code shows how sources differ from those that this program generates, takes no machine code, and compiles nothing yet. If a peer
# stores a source under another variant, the list shows a difference.
db=$TMPDIR/no_code.db
export HALOTUNE_TEMPLATE_PATH=templates
halotune tune star7 --grid 16,16,16 --backend host --templates direct --max-variants 1 --budget none --no-hints --db "$db" >/dev/null 2>&1
shown() { sed -E "s|$TMPDIR/||g; s/[0-9a-f]{64}/HASH/g" | grep -v '^    [-+@]'; }
halotune db import --trust --no-code --db "$TMPDIR/new.db" "$db" | shown
sqlite3 "$db" "update variant set parameters = json_set(parameters, '\$.load_path', 'readonly')"
halotune db import --trust --no-code --db "$TMPDIR/new.db" "$db" >"$TMPDIR/said" 2>/dev/null
shown <"$TMPDIR/said"
grep '^    [-+]' "$TMPDIR/said" | grep -v '//'
echo '--- the same from a template of the peer, whose code nobody here has installed'
mkdir "$TMPDIR/templates" && cp templates/direct.yaml "$TMPDIR/templates"
sed 's/const Fields f = FIELDS;/const Fields f = FIELDS; __threadfence();/' templates/direct.cu >"$TMPDIR/templates/direct.cu"
halotune tune star7 --grid 16,16,16 --backend host --template-dir "$TMPDIR/templates" --templates direct --max-variants 1 --budget none --no-hints --db "$TMPDIR/peer.db" >/dev/null 2>&1
halotune db import --trust --no-code --db "$TMPDIR/new.db" "$TMPDIR/peer.db" 2>/dev/null | shown | tail -1
echo '--- a long line is shown to its end'
sqlite3 "$db" "update best set source = replace(source, 'return load_plain(f.in', 'return /*' || printf('%5000c', ' ') || '*/ load_plain(f.in')"
halotune db import --trust --no-code --db "$TMPDIR/new.db" "$db" 2>/dev/null | sed -n 's/^    +  return .*  \*\/ load/+ ... load/p'
halotune db import --trust --no-code --db "$TMPDIR/new.db" tests/data/db/copy.json | shown
halotune db import --trust --yes --no-code --db "$TMPDIR/new.db" tests/data/db/copy.json | shown
sqlite3 "$TMPDIR/new.db" 'select count(*), sum(length(cubin)) from best'
# slow
# exit 0
