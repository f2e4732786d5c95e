# A winner that lookup passes over is told of, with what brings it into use; then it is the answer.
cp tests/data/tuned.json "$TMPDIR/other.json"
HALOTUNE_DB=$TMPDIR/untrusted.db
export HALOTUNE_DB
cd "$TMPDIR" || exit 9
halotune db import other.json 2>&1
halotune query star7 --device 'NVIDIA H200' 2>&1 | sed "s|$TMPDIR|FOLDER|"
echo "-- of an architecture"
halotune query star7 --device sm_90 --grid 128,128,128 2>&1 | sed "s|$TMPDIR|FOLDER|"
echo "-- of another mode, there is none"
halotune query star7 --device 'NVIDIA H200' --launch graph 2>&1
echo "-- trusted"
halotune db import --trust other.json 2>&1
halotune query star7 --device 'NVIDIA H200' | grep match
# exit 0
