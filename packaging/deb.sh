#!/bin/sh
# deb.sh TARBALL OUT: builds the Debian packages from a tarball of `make dist`, into the folder OUT. Needs
# dpkg-buildpackage, debhelper and dh-python, and cuda.h.
set -eu
tarball=$(readlink -f "$1") out=$2
version=$(basename "$tarball" .tar.gz)
for tool in dpkg-buildpackage dh dh_python3; do
  command -v $tool >/dev/null || { echo "halotune: make deb needs $tool: install dpkg-dev, debhelper and dh-python" >&2; exit 1; }
done
rm -rf "$out"
mkdir -p "$out"
tar -x -C "$out" -f "$tarball"
cp -R "$out/$version/packaging/debian" "$out/$version/debian"
cd "$out/$version"
# Flags of the calling make are not those of the packages.
unset MAKEFLAGS MFLAGS MAKELEVEL CFLAGS CPPFLAGS LDFLAGS
dpkg-buildpackage -us -uc -b -j"$(nproc)" >../build.log 2>&1 || { tail -n 40 ../build.log >&2; exit 1; }
