#!/bin/sh
# signature.sh: signed documents that a hostile peer changed, by the program $HALOTUNE. No changed byte, and no part of a document, is
# taken. docs/security.md has the promises.
set -u
halotune=${HALOTUNE:-build/halotune}
case $halotune in /*) ;; *) halotune=$PWD/$halotune ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME="$work" XDG_CACHE_HOME="$work/cache"
unset HALOTUNE_DB HALOTUNE_TEMPLATE_PATH XDG_DATA_HOME
n=0
failures=0
result() { # what status
  n=$((n + 1))
  if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1" && failures=$((failures + 1)); fi
}

"$halotune" db import --trust --yes --db "$work/theirs.db" tests/data/db/copy.json >"$work/log" 2>&1 &&
  "$halotune" key new "$work/key" >>"$work/log" && "$halotune" trust add peer "$work/key.pub" >>"$work/log" &&
  "$halotune" db export --cubins --db "$work/theirs.db" --sign "$work/key" -o "$work/signed.json" >>"$work/log" 2>&1
result "a document is signed, and its signer named" $?

# Whether a document is taken, with --yes alone or on the user's own word; then the database is removed.
is_taken() { # FILE
  "$halotune" db import --yes --db "$work/own.db" "$1" >"$work/log" 2>&1 && [ -e "$work/own.db" ]
  taken=$?
  "$halotune" db import --trust --yes --db "$work/own.db" "$1" >>"$work/log" 2>&1 && taken=0
  rm -rf "$work"/own.db*
  return $taken
}
is_taken "$work/signed.json"
result "the document as it was signed is taken" $?

# A bit of every 150th byte, and of every 10th of the signature and what is around it.
bytes=$(wc -c <"$work/signed.json")
bad=
for at in $(seq 0 150 "$bytes") $(seq $((bytes - 260)) 10 $((bytes - 1))); do
  [ "$at" -lt "$bytes" ] || continue
  cp "$work/signed.json" "$work/changed.json"
  code=$(od -An -tu1 -j "$at" -N 1 "$work/signed.json")
  # The octal number of the byte with its lowest bit turned around.
  # shellcheck disable=SC2059
  printf "\\$(printf %o $((code ^ 1)))" | dd of="$work/changed.json" bs=1 seek="$at" conv=notrunc 2>/dev/null
  cmp -s "$work/signed.json" "$work/changed.json" && bad="$bad $at(unchanged)"
  if is_taken "$work/changed.json"; then bad="$bad $at"; fi
done
[ -z "$bad" ] || echo "# taken with a changed byte at:$bad"
[ -z "$bad" ]
result "no document with a changed bit is taken" $?

# Beginnings of the document.
bad=
for at in $(seq 1000 2500 "$bytes") $((bytes - 1)); do
  head -c "$at" "$work/signed.json" >"$work/changed.json"
  if is_taken "$work/changed.json"; then bad="$bad $at"; fi
done
[ -z "$bad" ]
result "no beginning of the document is taken" $?

# Changes that leave JSON valid: another signature in front, a second pair of members, a table behind the signature.
tail=$(tail -n 1 "$work/signed.json")
for change in '1s/{/{"signer": "x", /' "1s/{/{${tail%?}, /" '$s/}$/, "tables": {}}/' '$s/"signer"/"Signer"/' '$s/"signature": "/"signature": " /' '$s/^/ /'; do
  sed "$change" "$work/signed.json" >"$work/changed.json"
  if is_taken "$work/changed.json"; then result "not taken: $change" 1; else result "not taken: $change" 0; fi
done

# A new pair of keys, behind a link of another user in a folder of all users: he could exchange the public key there.
mkdir -p "$work/all" "$work/theirs" && chmod 1777 "$work/all" && ln -s ../theirs "$work/all/link"
what="a link of another user leads no new key to his folder"
if chown -h 12345 "$work/all/link" 2>/dev/null; then
  "$halotune" key new "$work/all/link/new.key" >"$work/log" 2>&1
  [ $? != 0 ] && grep -q 'link in a folder of all users' "$work/log" && [ -z "$(ls "$work/theirs")" ]
  result "$what" $?
  # The same link leads to a pair of keys. Whoever put the link there chose them.
  cp "$work/key" "$work/theirs/new.key" && cp "$work/key.pub" "$work/theirs/new.key.pub"
  at=$work/all/link/new.key
  leads_nowhere() { # COMMAND...
    "$halotune" "$@" >"$work/log" 2>&1
    [ $? != 0 ] && grep -q 'link in a folder of all users' "$work/log"
    result "a link of another user leads to no key: $1 $2" $?
  }
  leads_nowhere key show "$at.pub"
  leads_nowhere trust add other "$at.pub"
  leads_nowhere db export --db "$work/theirs.db" --sign "$at"
  rm "$work/theirs/new.key" "$work/theirs/new.key.pub"
else
  n=$((n + 1)) && echo "ok $n - $what # SKIP not root"
fi
(cd "$work/all" && ln -s ../theirs mine && "$halotune" key new mine/new.key && "$halotune" key show mine/new.key.pub) >"$work/log" 2>&1
result "a link of this user leads a new key to its folder" $?
echo "1..$n"
[ "$failures" = 0 ]
