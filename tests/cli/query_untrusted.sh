# An untrusted winner is reported, with the commands that bring it into use. After these commands it is the answer.
# Neither the document's origin nor its file name becomes part of a command.
mkdir "$TMPDIR/advice" "$TMPDIR/advice/a 'b"
sed "s/\"origin\":\"tuned\"/\"origin\":\"x'; touch pwned #'\"/" tests/data/tuned.json >"$TMPDIR/advice/ot'her.json"
cd "$TMPDIR/advice" || exit 9
HALOTUNE_DB="$TMPDIR/advice/a 'b/untrusted.db"
export HALOTUNE_DB
grep -c pwned "ot'her.json"
halotune db import "ot'her.json" 2>&1
rm "ot'her.json"
halotune query star7 --device 'NVIDIA H200' 2>&1 | tee said | sed "s|$TMPDIR/advice|FOLDER|g"
echo "-- of an architecture"
halotune query star7 --device sm_90 --grid 128,128,128 2>&1 | sed "s|$TMPDIR/advice|FOLDER|g"
echo "-- of another mode, there is none"
halotune query star7 --device 'NVIDIA H200' --launch graph 2>&1
echo "-- trusted, by the commands as they stand"
sed -n 's/^  //p' said >commands
. ./commands 2>&1
ls
halotune query star7 --device 'NVIDIA H200' | grep match
# exit 0
