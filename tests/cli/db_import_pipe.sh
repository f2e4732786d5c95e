# A document comes through a pipe, which can be read only once: signed or not, trusted or kept apart. A database does not. Other
# commands read a stencil's file from a pipe.
HALOTUNE_DB=$TMPDIR/pipe.db
export HALOTUNE_DB
mkfifo "$TMPDIR/pipe"
cp tests/data/db/copy.json "$TMPDIR"
cp kernels/copy.yaml "$TMPDIR/mine.yaml"
cd "$TMPDIR" || exit 9
send() { # file, command
  timeout 60 cat "$1" >pipe &
  shift
  "$@" 2>&1
  echo "$?"
  wait
}
send copy.json halotune db import pipe | sed "s|kept as .*untrusted/|kept as FOLDER/|"
send copy.json halotune db import --trust pipe | head -n 3
send copy.json halotune db import --trust --yes pipe
halotune db info | grep rows
halotune db export -o exported.json >/dev/null 2>&1
send exported.json halotune db merge --trust --yes --db other.db pipe | sed 's/document [0-9a-f]*/document HASH/'
send pipe.db halotune db merge --trust --yes --db other.db pipe
# A document from a pipe cannot be read again, so that the failure of a file after it takes nothing of it back.
sed 's/"capability":90/"capability":91/' copy.json >conflict.json
send copy.json halotune db merge --trust --yes --db third.db pipe conflict.json | sed 's/document [0-9a-f]*/document HASH/'
halotune db info --db third.db | grep rows
mv mine.yaml keep.yaml
send keep.yaml halotune show ./pipe | head -n 2
timeout 60 cat pipe >received.json &
halotune db export -o pipe >/dev/null 2>&1
wait
cmp exported.json received.json && echo "the same document came out of the pipe"
echo '--- a pipe that nobody opens, and one that says nothing'
export HALOTUNE_PIPE_TIMEOUT=0.1
halotune db import pipe 2>&1
exec 9<>pipe
halotune db import pipe 2>&1
halotune show ./pipe 2>&1
exec 9>&-
(while sleep 0.02; do printf ' ' || exit 0; done) 2>/dev/null | HALOTUNE_PIPE_TIMEOUT=0.5 halotune db import /dev/stdin 2>&1
HALOTUNE_PIPE_TIMEOUT= send keep.yaml halotune show ./pipe | head -n 1
# exit 0
