#!/bin/sh
# dist.sh: tests the tarball of `make dist`: two copies of the same commit, in other folders, with other permissions,
# dates and time zones, give the same bytes, and the tarball has the report's page where npm has no packages. Prints TAP.
# `make check-packages` builds from the tarball.
set -u
cd "$(dirname "$0")/.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
number=0 failed=0

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; sed 's/^/# /' "$work/log" 2>/dev/null; fi
}
version=$(sed -n 's/^#define HALOTUNE_VERSION "\(.*\)"/\1/p' include/halotune.h)

# A commit of the files as they are now, beside the packages that the page is made of.
mkdir "$work/here" && git ls-files -z | xargs -0 cp --parents -t "$work/here" && cp -R node_modules "$work/here" &&
  (cd "$work/here" && git init -q . && git add -A && GIT_COMMITTER_DATE='2026-01-01T00:00:00Z' git -c user.name=test -c user.email=test@example.org \
    commit -q --date='2026-01-01T00:00:00Z' -m begin) >"$work/log" 2>&1
result "a commit" $?
(cd "$work/here" && TZ=UTC make --no-print-directory dist && mv "build/dist/halotune-$version.tar.gz" "$work/first.tar.gz") >"$work/log" 2>&1
result "make dist" $?
mkdir -m 700 "$work/there" && mv "$work/here" "$work/there/moved" && rm -rf "$work/there/moved/build" && find "$work/there/moved" -name '*.c' -exec touch {} + &&
  (umask 077 && cd "$work/there/moved" && chmod -R go= . && TZ=Asia/Tokyo LANG=de_DE.UTF-8 make --no-print-directory dist) >"$work/log" 2>&1 &&
  cmp "$work/first.tar.gz" "$work/there/moved/build/dist/halotune-$version.tar.gz" >"$work/log" 2>&1
result "elsewhere, with other dates, permissions, time zone and language, it makes the same bytes" $?
! (cd "$work/there/moved" && GIT_TEST_ASSUME_DIFFERENT_OWNER=1 make --no-print-directory dist) >"$work/log" 2>&1 && grep -q 'safe.directory' "$work/log" && ! grep -q 'some are changed' "$work/log"
result "a checkout that git refuses, as another user's, is told as such" $?
echo '/* changed */' >>"$work/there/moved/base/text/text.c"
! (cd "$work/there/moved" && make --no-print-directory dist) >"$work/log" 2>&1 && grep -q 'some are changed' "$work/log"
result "files that are not committed are refused" $?

# --- the recipes
: >"$work/log"
for package in $(sed -n 's/^build header .* \(lib[a-z0-9]*-dev\)$/\1/p' Makefile | grep -v libc6-dev); do
  name=${package%-dev}
  grep -q "^Build-Depends:.*[ ,]$package\(,\|$\)" packaging/debian/control || echo "packaging/debian/control lacks $package"
  grep -q "^Package: libhalotune-dev" packaging/debian/control && sed -n '/^Package: libhalotune-dev/,/^$/p' packaging/debian/control | grep -q "^Depends:.* $package," || echo "libhalotune-dev lacks $package"
  grep -q "depends_on(\"\(lib\)\{0,1\}$(echo "${name#lib}" | tr -d 0-9)[\"@]" packaging/spack/packages/halotune/package.py || echo "the recipe for Spack lacks $name"
done >>"$work/log"
"${PYTHON:-/usr/bin/python3}" -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' packaging/spack/packages/halotune/package.py >>"$work/log" 2>&1
[ ! -s "$work/log" ]
result "the recipes for Debian and Spack name what the build needs" $?
sed -n 's/^.*install .*\$(DATA_DIR)\/\([a-z]*\).*$/\1/p' Makefile | sort -u | while read -r folder; do
  grep -rqE "usr/share/halotune/$folder(\.db|$)" packaging/debian/*.install || echo "no Debian package has share/halotune/$folder"
done >"$work/log"
[ ! -s "$work/log" ]
result "the Debian packages have every folder of the installation" $?

# --- the tarball
tar -x -C "$work" -f "$work/first.tar.gz" && cd "$work/halotune-$version" && mkdir "$work/bin" &&
  printf '#!/bin/sh\necho "npm was called" >&2\nexit 1\n' >"$work/bin/npm" && cp "$work/bin/npm" "$work/bin/node" && chmod +x "$work/bin"/*
PATH="$work/bin:$PATH" make --no-print-directory build/report/page.html >"$work/log" 2>&1 && ! grep -q 'npm was called' "$work/log" &&
  cmp build/report/page.html "$work/there/moved/build/report/page.html" >>"$work/log" 2>&1
result "the tarball has the report's page, and asks no npm for it" $?
! make --no-print-directory dist >"$work/log" 2>&1 && grep -q 'no checkout' "$work/log"
result "make dist in an unpacked tarball says that it needs a checkout" $?
echo "1..$number"
[ "$failed" = 0 ]
