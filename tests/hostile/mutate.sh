#!/bin/sh
# mutate.sh: documents, databases, stencils, templates and plans with random bytes changed. No command crashes or hangs on them, and no
# database that is opened for reading changes. SEED (1) and ROUNDS (8) say which and how many; SECONDS_LONG goes on for so long,
# instead. Prints TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/parts.sh"
seed=${SEED:-1} rounds=${ROUNDS:-8}
echo "# SEED=$seed"
mkdir "$work/t"
honest=$PWD/tests/data/db/copy.json
"$halotune" db import --trust --yes --db "$work/honest.db" "$honest" >/dev/null 2>&1
result "the honest database is made" $?
question='query copy --device sm_90 --grid 4096'
"$halotune" $question --db "$work/honest.db" | grep -q 'measured .*NVIDIA H200' # each word is an argument
result "the honest database answers" $?

"$halotune" tune star7 heat2d --grid all --steps 1..2 --gpus 'NVIDIA H200' --budget 1s --plan "$work/plan.yaml" >"$work/said" 2>&1
result "the honest plan is made" $?

# Copy a file, and change 1 to 16 bytes of it, or cut its end or its beginning, as seed and round say.
mutate() { # FROM TO ROUND
  cp "$1" "$2"
  awk -v seed="$seed$3" -v size="$(wc -c <"$1")" 'BEGIN {
    srand(seed); if (rand() < 0.2) { print (rand() < 0.5 ? "cut" : "begin"), int(rand() * size), 0; exit }
    for (k = int(rand() * 16); k >= 0; k--) print "byte", int(rand() * size), (rand() < 0.5 ? 32 + int(rand() * 95) : int(rand() * 256)) }' |
    while read -r what at byte; do
      if [ "$what" = cut ]; then truncate -s "$at" "$2"
      elif [ "$what" = begin ]; then tail -c "+$((at + 1))" "$1" >"$2"
      else printf "\\$(printf %03o "$byte")" | dd of="$2" bs=1 seek="$at" conv=notrunc 2>/dev/null; fi
    done
}
# An installed template, by the round.
template_of() { # ROUND
  set -- "$1" templates/*.yaml
  shift $(($1 % ($# - 1) + 1))
  basename "$1" .yaml
}
all_survive() { # ROUND
  mutate "$honest" "$work/bad.json" "$1"
  survives db import --db "$work/new.db" "$work/bad.json" || return 1
  survives db import --trust --yes --db "$work/new.db" "$work/bad.json" || return 1
  mutate "$work/honest.db" "$work/bad.db" "$1"
  before=$(cksum <"$work/bad.db")
  for words in 'db info' 'db check' 'db export' "report -o $work/report.html" "$question"; do
    survives $words --db "$work/bad.db" || return 1 # each word is an argument
  done
  [ "$before" = "$(cksum <"$work/bad.db")" ] || return 1
  survives db merge --trust --yes --db "$work/new.db" "$work/bad.db" || return 1
  mutate kernels/star7.yaml "$work/bad.yaml" "$1"
  survives show "$work/bad.yaml" || return 1
  survives generate "$work/bad.yaml" --template direct || return 1
  mutate "$work/plan.yaml" "$work/bad.plan" "$1"
  survives tune --plan "$work/bad.plan" --resume --dry-run --backend host --db "$work/new.db" || return 1
  survives fleet status --plan "$work/bad.plan" --db "$work/honest.db" || return 1
  name=$(template_of "$1")
  cp "templates/$name.yaml" "$work/t/bad.yaml"
  mutate "templates/$name.cu" "$work/t/bad.cu" "$1"
  survives generate star7 --template "$work/t/bad.yaml" || return 1 # of which the rest is read
  mutate "templates/$name.yaml" "$work/t/bad.yaml" "$1"
  survives space star7 --template-dir "$work/t" || return 1
  survives generate star7 --template-dir "$work/t" --template "$name"
}
end=$(($(date +%s) + ${SECONDS_LONG:-0})) round=0
while [ "$round" -lt "$rounds" ] || [ "$(date +%s)" -lt "$end" ]; do
  round=$((round + 1))
  (cd "$work" && rm -f new.db* bad.db*)
  all_survive "$round" && continue
  result "SEED=$seed, round $round (exit $code)" 1
  sed 's/^/# /' "$work/said" | head -20
done
result "$round rounds with seed $seed: nothing crashed, hung or was changed" "$failures"
finish
