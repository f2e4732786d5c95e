# For an unknown name the message suggests the nearest known one, if any is near.
try() { echo "$*" | sed "s|$TMPDIR/||"; halotune "$@" 2>&1; echo "exit $?"; }
try tnue star7
try help qurey
try hlep
try frobnicate
try show star7 --jsno
try tune star7 --gird=8,8,8
try query star7 --nothing
try query star7 --d
try show star7 --json=1
try query star7 --grid
try show Sta7
try show nothing_like_it
try generate star7 --template driect
halotune db import --trust --yes --db "$TMPDIR/tuned.db" tests/data/tuned.json >/dev/null 2>&1
try query star77 --db "$TMPDIR/tuned.db"
try generate star7 --template direct --set blok_x=32
try report --stencil sta7 --db "$TMPDIR/tuned.db"
try report --stencil star7 --device none --db "$TMPDIR/tuned.db"
try compile star7 --set blok_x=32
try compile star7 --arch sm_91
# exit 0
