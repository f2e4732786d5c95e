#!/bin/sh
# packages.sh: `make check-packages`. lintian over the Debian packages of build/deb; then docs/install.md by copy and paste
# in a fresh Debian root: the packages are installed, used from C, C++, Fortran and Python, and purged. FROM=source builds
# from the tarball of `make dist` in another fresh root, which takes longer. Prints TAP. Needs root, mmdebstrap, lintian
# and Debian's archive. SUITE=bookworm names the release. CUDA comes from this machine, as a user would have it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/install_blocks.sh
cuda=$(readlink -f "${CUDA_HOME:-/usr/local/cuda}") suite=${SUITE:-bookworm} from=${FROM:-debian}
sources=/etc/apt/sources.list.d/debian.sources here=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
version=$(sed -n 's/^#define HALOTUNE_VERSION "\(.*\)"/\1/p' include/halotune.h)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
number=0 failed=0

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; tail -n 40 "$work/log" | sed 's/^/# /'; fi
}
# Run commands in the root, in a namespace whose mounts end with it.
in_root() { # commands
  printf 'set -e\n%s\n' "$1" >"$root/root/commands"
  unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/usr/local/cuda" &&
    exec chroot "$1" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      sh -c "cd /root/work && sh -x /root/commands"' in_root "$root" "$cuda" >"$work/log" 2>&1
}

if [ "$from" = debian ]; then
  lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs build/deb/*.changes >"$work/log" 2>&1
  result "lintian finds neither an error nor a warning" $?
fi
# Another release comes from the same archive as this machine's.
[ ! -e $sources ] || sed "/^Suites:/s/$here/$suite/g" $sources >"$work/suite.sources"
mmdebstrap --quiet --variant=apt --aptopt='Apt::Install-Recommends "false"' "$suite" "$root" "$([ -e $sources ] && echo "$work/suite.sources")" >"$work/log" 2>&1
result "a fresh root of $suite" $?
mkdir -p "$root/root/work" "$root/usr/local/cuda"
in_root 'apt-get update -qq && apt-get install -y -qq cmake gcc g++ gfortran libc6-dev make man-db pkg-config python3 bash-completion'
result "compilers and man, which a user has" $?

if [ "$from" = debian ]; then
  mkdir -p "$root/root/work/build" && cp -R build/deb "$root/root/work/build" && rm -rf "$root/root/work/build/deb/halotune-$version"
  in_root "$(blocks debian)"
  result "the packages are installed" $?
  in_root 'cd /usr/share/doc/halotune && test -e docs/library.md && test -e docs/images/report-charts.png && test -e examples/01_launch.c && ldd /usr/bin/halotune | grep -c "not found" | grep -qx 0'
  result "documents and examples are there" $?
else
  tar -x -C "$root/root/work" --strip-components=1 -f "build/dist/halotune-$version.tar.gz"
  in_root "$(blocks source)"
  result "the program is built from the tarball and installed" $?
  in_root "$(blocks source-python)"
  result "the wheel is built and installed" $?
fi
in_root "$(blocks "$from-environment" try)"
result "docs/install.md by copy and paste: program, CMake, C, C++, pkg-config, Fortran, Python" $?
in_root 'for page in halotune halotune-tune halotune.h halotune-stencil halotune-template; do man "$page" | grep -qi "^$page(\|^NAME"; done'
result "man shows the pages" $?
in_root "bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader halotune; COMP_WORDS=(halotune tu) COMP_CWORD=1; _halotune; [ \"\${COMPREPLY[*]}\" = tune ]'"
result "bash completes commands" $?
in_root 'halotune verify star7 --template direct --sample 1 && halotune report -o report.html && grep -q "<script" report.html'
result "verify and report work" $?

if [ "$from" = debian ]; then
  in_root "rm -rf /root/work; apt-get purge -y -qq '*halotune*'"
  result "the packages are purged" $?
else
  in_root 'make uninstall && cd / && rm -rf /root/work /opt/halotune-python'
  result "make uninstall" $?
fi
find "$root" -path "$root/root" -prune -o -path "$root/proc" -prune -o -path "$root/var/cache" -prune -o -name '*halotune*' -print >"$work/log"
[ ! -s "$work/log" ]
result "nothing of them is left" $?
echo "1..$number"
[ "$failed" = 0 ]
