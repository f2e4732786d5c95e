# A limit on the size of files (ulimit -f) is an error with a message, as a full disk is, and nothing is left beside the target.
folder=$TMPDIR/limited
mkdir "$folder"
export HALOTUNE_DB="$folder/own.db" XDG_CACHE_HOME="$TMPDIR/cache"
halotune db import --trust --yes tests/data/tuned.json >/dev/null 2>&1
limited() {
  (ulimit -f 1 && exec "$@" 2>&1 >/dev/null) | sed "s|$TMPDIR|TMP|g"
}
limited halotune report -o "$folder/report.html"
limited halotune generate star7 --template zmarch -o "$folder/star7.cu"
limited halotune db export -o "$folder/all.json"
limited halotune db import --trust --yes --db "$folder/other.db" tests/data/tuned.json
limited halotune tune copy --dtype f32 --grid 64 --backend host --template direct --budget 1s --db "$folder/other.db"
# The database that was begun may stay: it is empty.
find "$folder" -type f ! -size 0 ! -name 'own.db*' | sed "s|$TMPDIR|TMP|"
(ulimit -f 1 && exec halotune generate star7 --template zmarch >"$folder/output")
# Programs that are started have the usual signal: without it, `yes` would go on for ever.
cat >"$TMPDIR/compiler" <<'C'
#!/bin/sh
yes >"${0%/*}/much"
echo "${0##*/}: the program ended with $?" >&2
exit 1
C
chmod +x "$TMPDIR/compiler"
(ulimit -f 1000 && HALOTUNE_CXX=$TMPDIR/compiler exec halotune verify copy --template direct --sample 1 2>&1) | grep -o 'ended with.*'
# exit 0
