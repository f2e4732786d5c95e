#!/bin/sh
# sign.sh DOCUMENT...: signs the starter database's documents at release, with the private key in the file $KEY, and writes its public key
# to release.pub beside them. Every document is read, checked and written anew; what it says stays the same.
set -eu
[ -n "${KEY:-}" ] || { echo "release-starter: KEY=FILE names the private key; 'halotune key new FILE' makes one" >&2; exit 2; }
halotune=${HALOTUNE:-build/halotune}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
public=$("$halotune" key show "$KEY")
for document; do
  name=$(basename "$document")
  # A document that is signed already is taken only if this key signed it.
  if tail -n 1 "$document" | grep -q '^"signer": '; then by="--signed-by $public"; else by=--trust; fi
  # The words of $by are words.
  "$halotune" db import $by --yes --db "$work/$name.db" "$document" >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
  cubins=
  if grep -q '"cubin":' "$document"; then cubins=--cubins; fi
  "$halotune" db export $cubins --sign "$KEY" --db "$work/$name.db" -o "$work/$name"
done
for document; do
  cat "$work/$(basename "$document")" >"$document"
  echo "$document: signed"
done
printf 'halotune-public-key %s\n' "$public" >"$(dirname "$1")/release.pub"
