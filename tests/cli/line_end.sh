# A file whose name holds a line of a message is not opened.
name=$(printf 'x\nhalotune: all is well.json')
cp tests/data/tuned.json "$TMPDIR/$name"
cd "$TMPDIR" || exit
halotune db import --db d.db "$name" 2>&1
echo "exit $?"
ls d.db* 2>&1
halotune show "$(printf 'star7\r')" 2>&1
# A line of a message in the name of a listed file, in a variable, a document or a database does not begin a line of the output.
line=$(printf 'x\nhalotune: all is well')
mkdir kernels templates && echo 'name: x' >"kernels/$line.yaml" && echo 'parameters: {}' >"templates/$line.yaml" && touch "templates/$line.cu"
halotune list stencils 2>&1 >list
halotune list templates 2>&1 >list
HALOTUNE_DB=$line halotune query star7 2>&1
XDG_FOO=$line HALOTUNE_FOO=$line halotune --version >list 2>&1; echo "unread $?"
printf '{"format": "halotune database", "version": 1, "tables": {}, "x\\nhalotune: all is well": 1}' >document.json
halotune db import --db d.db document.json 2>&1
halotune db import --trust --yes --db d.db "$OLDPWD/tests/data/tuned.json" >list 2>&1
sed 's/x\\nhalotune: all is well/x\\n halotune: all is well\\n /' document.json >blank.json
halotune db import --db d.db blank.json 2>&1
sqlite3 d.db "update device set name = 'x' || char(10) || 'halotune: all is well'; update run set strategy = 'x' || char(10) || ' no errors'"
halotune db check --db d.db 2>&1
# Messages that show a line of a file have several lines.
echo 'name: 7' >x.yaml && halotune show ./x.yaml 2>&1
# exit 5
