#!/bin/sh
# build.sh OUT: makes the report's page with npm packages, from the root of the tree. A tarball of `make dist` has the page
# already, and takes it unless the packages are installed. If there is no page, and node, npm or the packages are missing,
# OUT becomes empty. The program is then built without the page, and says so when a report is requested.
set -u
out=$1
mkdir -p "$(dirname "$out")"

without_page() { # why
  echo "halotune: the report's page is left out: $1; the program is built without it" >&2
  [ -e "$out" ] && [ ! -s "$out" ] || : >"$out"
  exit 0
}

bundled=reports/page/bundled.html
if [ -e $bundled ] && [ ! -d node_modules ]; then
  cp $bundled "$out"
  exit
fi
command -v node >/dev/null || without_page "node is not installed"
command -v npm >/dev/null || without_page "npm is not installed"
if ! cmp -s package-lock.json node_modules/.halotune-lock; then
  npm ci --no-audit --no-fund >"$out.log" 2>&1 || without_page "'npm ci' failed, see $out.log"
  cp package-lock.json node_modules/.halotune-lock
fi
node reports/page/bundle.mjs "$out.new" >"$out.log" 2>&1 || { cat "$out.log" >&2; rm -f "$out.new"; exit 1; }
mv "$out.new" "$out"
