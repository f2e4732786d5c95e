# A file whose name holds a line of a message is not opened.
name=$(printf 'x\nhalotune: all is well.json')
cp tests/data/tuned.json "$TMPDIR/$name"
cd "$TMPDIR" || exit
halotune db import --db d.db "$name" 2>&1
echo "exit $?"
ls d.db* 2>&1
halotune show "$(printf 'star7\r')" 2>&1
# exit 2
