#!/bin/sh
# deps.sh WHO...: installs the missing $DEPENDENCIES for those who are named, and prints nothing if there are none. The
# table has lines "who test name package". The tests look for commands, headers and folders instead of packages, because
# these may come from elsewhere.
set -u
wanted=" $* "

present() { # test name
  case $1 in
    command) command -v "$2" >/dev/null ;;
    folder) test -d "$2" ;;
    python) ${PYTHON:-/usr/bin/python3} -c "import $2" 2>/dev/null ;;
    header) printf '#include <%s>\n' "$2" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
    clang-runtime) test -e "$(clang -print-file-name="libclang_rt.$2-$(uname -m).a" 2>/dev/null)" ||
                   test -e "$(clang -print-file-name="libclang_rt.$2.a" 2>/dev/null)" ;;
  esac
}

missing_packages() {
  echo "$DEPENDENCIES" | while read -r who test name package; do
    case $wanted in *" ${who:-nobody} "*) present "$test" "$name" || echo "$package" ;; esac
  done
}

clang_version() { clang -dumpversion 2>/dev/null | cut -d. -f1; }

# Names of packages for messages. Without clang the version of its run time is not known yet.
readable() {
  version=$(clang_version)
  if [ -n "$version" ]; then sed "s/VERSION/$version/"; else sed "s/.*VERSION.*/and the run-time library of clang's version/"; fi
}

missing=$(missing_packages)
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "halotune: these Debian packages, or what they hold, are missing and only root may install them:" \
    $(echo "$missing" | readable) >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt() { # what to do, with which packages
  apt-get "$@" >build/deps.log 2>&1 && return
  tail -n 20 build/deps.log >&2
  exit 1
}
install() {
  echo "halotune: installing" "$@" >&2
  apt install -y -qq "$@"
}
mkdir -p build
apt update -qq
# Packages whose names contain clang's version are installed after clang.
first=$(echo "$missing" | grep -v VERSION)
[ -z "$first" ] || install $first
versioned=$(echo "$missing" | grep VERSION | sed "s/VERSION/$(clang_version)/")
[ -z "$versioned" ] || install $versioned
missing=$(missing_packages)
[ -z "$missing" ] || { echo "halotune: still missing after the installation:" $(echo "$missing" | readable) >&2; exit 1; }
