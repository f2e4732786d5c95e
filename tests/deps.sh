#!/bin/sh
# deps.sh: install what is missing of $DEPENDENCIES, a table of lines "test name package"; silent where nothing is.
# It asks for commands and headers, not for packages, because they may have come from elsewhere.
set -u

present() { # test name
  case $1 in
    command) command -v "$2" >/dev/null ;;
    header) printf '#include <%s>\n' "$2" | ${CC:-cc} -E -x c - >/dev/null 2>&1 ;;
    clang-runtime) test -e "$(clang -print-file-name="libclang_rt.$2-$(uname -m).a" 2>/dev/null)" ||
                   test -e "$(clang -print-file-name="libclang_rt.$2.a" 2>/dev/null)" ;;
  esac
}

missing_packages() {
  echo "$DEPENDENCIES" | while read -r test name package; do
    [ -n "$test" ] && ! present "$test" "$name" && echo "$package"
  done
}

missing=$(missing_packages)
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "halotune: these Debian packages, or what they hold, are missing and only root may install them:" $missing >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
install() { echo "halotune: installing" "$@" >&2; apt-get install -y -qq "$@" >build/deps.log 2>&1 || { tail -n 20 build/deps.log >&2; exit 1; }; }
mkdir -p build
apt-get update -qq >build/deps.log 2>&1 || { tail -n 20 build/deps.log >&2; exit 1; }
# The compiler's run time is named after the compiler's version, which is known once the compiler is there.
first=$(echo "$missing" | grep -v VERSION)
[ -z "$first" ] || install $first
if ! present clang-runtime fuzzer; then
  install "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
fi
missing=$(missing_packages)
[ -z "$missing" ] || { echo "halotune: still missing after the installation:" $missing >&2; exit 1; }
