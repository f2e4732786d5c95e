# The candidates for a grid that nobody tuned, also by coefficients that make no sense; and those for a stencil that nobody tuned.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/why.db" >/dev/null 2>&1
halotune query star7 --db "$TMPDIR/why.db" --device 'NVIDIA H200' --grid 509,256,256 --why | sed -n '/^prediction/,$p'
halotune db fit --db "$TMPDIR/why.db"
sqlite3 "$TMPDIR/why.db" "insert into prediction (device_id, coefficient, value, origin_id) select id, 'cache', 1e300, origin_id from device
  where name = 'NVIDIA H200'"
halotune query star7 --db "$TMPDIR/why.db" --device 'NVIDIA H200' --grid 509,256,256 --why | grep '^prediction' | sed "s|$TMPDIR|FOLDER|"
sqlite3 "$TMPDIR/why.db" "update prediction set value = 0.2" # the other coefficients are missing
halotune query star7 --db "$TMPDIR/why.db" --device 'NVIDIA H200' --grid 509,256,256 --why | sed -n '/^prediction/s|'"$TMPDIR"'|FOLDER|p; /answers$/p'
halotune query kernels/star13.yaml --dtype f64 --db "$TMPDIR/why.db" --device 'NVIDIA H200' --grid 256,256,256 --why | sed -n '/^expected/p; /^candidates/,$p'
# a terminal shows the parameters of the winner and of candidates that differ from the defaults
on_terminal() { TERM=xterm script -qec "stty cols 200; halotune query star7 --device 'NVIDIA H200' --grid 509,256,256 --why $*" /dev/null </dev/null | tr -d '\r'; }
HALOTUNE_DB=$TMPDIR/why.db
export HALOTUNE_DB
on_terminal | sed -n '/^parameters/p; /^candidates/,$p'
on_terminal --long | sed -n '/^parameters/p; /: answers$/,$p'
halotune query star7 --db "$TMPDIR/why.db" --grid 509,256,256 --long --json
# a candidate that two databases have is listed once
mkdir -p "$TMPDIR/prefix/bin" "$TMPDIR/prefix/share/halotune"
cp "$(readlink -f "$(command -v halotune)")" "$TMPDIR/prefix/bin/halotune"
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/prefix/share/halotune/starter.db" >/dev/null 2>&1
"$TMPDIR/prefix/bin/halotune" query star7 --device 'NVIDIA H200' --grid 512,512,512 --why | sed -n '/^candidates/,$p' | cut -c 1-80
# parameters of a database that are not JSON become null
sqlite3 "$TMPDIR/why.db" "update variant set parameters = '{' || parameters"
halotune db info --db "$TMPDIR/why.db" --json | jq -c '[.. | objects | select(has("parameters")) | .parameters] | unique'
halotune query star7 --db "$TMPDIR/why.db" --grid 509,256,256 --why --json
# exit 2
