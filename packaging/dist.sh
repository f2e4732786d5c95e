#!/bin/sh
# dist.sh OUT VERSION PAGE: packs the committed files and the report's page, which otherwise needs npm's packages and so a
# network, into OUT (.tar.gz). The archive depends on the commit and the page alone: two builds give the same bytes.
set -eu
out=$1 name=halotune-$2 page=$3
[ -e .git ] || { echo "halotune: make dist packs what git knows, and this is no checkout" >&2; exit 1; }
refusal=$(git rev-parse --verify HEAD 2>&1 >/dev/null) || {
  printf '%s\n' "$refusal" >&2
  echo "halotune: git does not read this checkout; if another user owns it: git config --global --add safe.directory '$PWD'" >&2
  exit 1
}
git diff --quiet HEAD -- || { echo "halotune: make dist packs committed files, and some are changed: git status" >&2; exit 1; }
[ -s "$page" ] || { echo "halotune: the report's page is missing, for which make dist needs node and npm" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar -x -C "$work"
cp "$page" "$work/$name/reports/page/bundled.html"
mkdir -p "$(dirname "$out")"
LC_ALL=C tar -c -C "$work" --sort=name --format=gnu --mtime="@$(git log -1 --format=%ct)" --mode=u+rw,go=rX,a-s \
  --owner=0 --group=0 --numeric-owner "$name" | gzip -9n >"$out.new"
mv "$out.new" "$out"
