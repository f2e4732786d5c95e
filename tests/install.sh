#!/bin/sh
# install.sh: tests an installation in a scratch root: manual pages, completion of command lines in real shells,
# find_package of CMake, docs/install.md without root, and that uninstall leaves nothing. Prints TAP. Needs build/lib.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/install_blocks.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
number=0 failed=0
unset MAKEFLAGS MFLAGS MAKELEVEL HALOTUNE_PATH HALOTUNE_TEMPLATE_PATH

result() { # name status
  number=$((number + 1))
  if [ "$2" = 0 ]; then echo "ok $number - $1"; else failed=$((failed + 1)); echo "not ok $number - $1"; sed 's/^/# /' "$work/log" 2>/dev/null; fi
}

make --no-print-directory -o all -o library install PREFIX="$root" >"$work/log" 2>&1
result "install" $?
commands=$("$root/bin/halotune" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z[].*/\1/p' | grep -vx halotune)
export PATH="$root/bin:$PATH"

# --- manual pages
# mandoc looks for referenced pages in the folders of the system only, so they are looked for here.
mandoc -Tlint "$root"/share/man/man?/*.? 2>&1 | grep -v 'referenced manual not found' >"$work/log"
sed -n 's/^\.Xr \([a-z.-]*\) \([0-9]\).*/\1 \2/p' "$root"/share/man/man?/*.? | sort -u | while read -r page section; do
  [ -e "$root/share/man/man$section/$page.$section" ] || echo "no page $page($section)" >>"$work/log"
done
[ ! -s "$work/log" ]
result "mandoc has nothing to say about the manual pages" $?
echo "commands: $commands" >"$work/log"
[ "$(echo "$commands" | wc -w)" -gt 15 ] && ls "$root"/share/man/man1/halotune-*.1 | wc -l | grep -qx "$(echo "$commands" | wc -w)"
result "there is a page for each command that help lists, and no other" $?
: >"$work/log"
for command in $commands; do
  [ -s "$root/share/man/man1/halotune-$command.1" ] || echo "no page for $command" >>"$work/log"
  for option in $(halotune help "$command" | sed -n 's/^  \(-o, \)*\(--[a-z-]*\).*/\2/p'); do
    mandoc -Tascii "$root/share/man/man1/halotune-$command.1" | col -b | grep -q -- "$option" || echo "$command: $option is not in its page" >>"$work/log"
  done
done
[ ! -s "$work/log" ]
result "each command has a page with all its options" $?

# The pages of sections 3 and 5 are made from the header and from docs/: all functions, all headings, no markup left over.
read_page() { mandoc -Tutf8 "$root/share/man/man$1/$2.$1" | col -b; }
read_page 3 halotune.h >"$work/page"
: >"$work/log"
while read -r name; do
  grep -qx "     $name(.*" "$work/page" && grep -qx "   $name" "$work/page" || [ "$name" = halotune_config_parameter_at ] || echo "$name is missing" >>"$work/log"
done <tests/abi.txt
[ ! -s "$work/log" ]
result "halotune.h(3) has every function, with its comment" $?
: >"$work/log"
for name in stencil:stencil-format template:templates; do
  read_page 5 "halotune-${name%:*}" >"$work/page"
  sed -n '/^```/,/^```/d; s/^###* //p' "docs/${name#*:}.md" | while read -r heading; do
    grep -qxF "   $heading" "$work/page" || echo "${name%:*}: $heading is missing" >>"$work/log"
  done
  grep -nE '\]\(|\*\*[a-z]|^ *\|' "$work/page" >>"$work/log"
done
[ ! -s "$work/log" ]
result "halotune-stencil(5) and halotune-template(5) have every heading of the documents, and no markup" $?

# --- completion: what a shell offers for a command line. A line below has the words typed, then one that is offered and
# one that is not.
of_bash() { # words...
  bash --norc -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _halotune; printf "%s\n" "${COMPREPLY[@]}"' "$root/share/bash-completion/completions/halotune" "$@"
}
of_fish() { # words...
  fish --no-config -c 'source $argv[1]; complete -C (string join " " -- $argv[2..])' "$root/share/fish/vendor_completions.d/halotune.fish" "$@" | cut -f 1
}
of_zsh() { # words...
  zsh -f tests/complete.zsh "$root/share/zsh/site-functions" "$*"
}
for shell in bash fish zsh; do
  : >"$work/log"
  while IFS='|' read -r words offered other; do
    eval "of_$shell $(printf '%s' "$words" | sed 's/@/""/')" >"$work/out" 2>"$work/err" </dev/null
    tr -s ' \t' '\n\n' <"$work/out" | grep -qx -- "$offered" || { echo "'$words' does not offer '$offered':"; cat "$work/out" "$work/err"; } >>"$work/log"
    ! tr -s ' \t' '\n\n' <"$work/out" | grep -qx -- "$other" || echo "'$words' offers '$other'" >>"$work/log"
  done <<'LINES'
halotune qu|query|tune
halotune query --la|--launch|--source
halotune query --launch @|graph|steady
halotune query star|star7|heat2d
halotune tune --template zm|zmarch|tile
halotune db im|import|show
halotune db import READ|README.md|star7
halotune compare READ|README.md|star7
halotune trust add anna READ|README.md|list
halotune run --backend @|cpu|host
halotune tune --strategy @|model|gpu
halotune tune --dtype @|all|graph
halotune query --dtype @|f64|all
halotune completion @|fish|import
LINES
  [ ! -s "$work/log" ]
  result "completion in $shell" $?
done

# The line that a shell completes is executed: what is special in a file's name has to be quoted, which bash does for filenames.
mkdir "$work/files" && touch "$work/files/x;y \$(z).yaml"
for words in 'show x' 'generate -o x' 'query --db x'; do
  (cd "$work/files" && bash --norc -c '. "$0"; compopt() { echo "$@"; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _halotune; printf "%s\n" "${COMPREPLY[@]}"' "$root/share/bash-completion/completions/halotune" halotune $words) 2>"$work/err" | tr '\n' '|' >"$work/out"
  [ "$(cat "$work/out")" = '-o filenames|x;y $(z).yaml|' ] || { echo "'$words' offers: $(cat "$work/out" "$work/err")"; false; }
  result "completion in bash leaves it to bash to quote a file's name: $words" $?
done

# --- CMake
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(use C)
find_package(halotune 0.2 REQUIRED COMPONENTS shared static)
find_package(halotune 99 QUIET)
if(halotune_FOUND)
  message(FATAL_ERROR "a version that is not there was found")
endif()
find_package(halotune 0.2 QUIET COMPONENTS wings)
if(halotune_FOUND)
  message(FATAL_ERROR "a component that is not there was found")
endif()
foreach(kind halotune static)
  add_executable(use_${kind} use.c)
  target_link_libraries(use_${kind} halotune::${kind})
endforeach()
CMAKE
cat >"$work/cmake/use.c" <<'C'
#include <halotune.h>
#include <stdio.h>
#include <string.h>
int main(void) {
  puts(halotune_version());
  return strcmp(halotune_version(), HALOTUNE_VERSION);
}
C
cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$root" >"$work/log" 2>&1 && cmake --build "$work/cmake/build" >>"$work/log" 2>&1
result "find_package finds the version and the components, and nothing else" $?
"$work/cmake/build/use_halotune" >"$work/log" 2>&1 && "$work/cmake/build/use_static" >>"$work/log" 2>&1
result "programs that CMake links to the shared and to the static library run" $?

# --- docs/install.md without root: this installation is that of a user, whose Python is a virtual environment
# Nothing is built for it, so halotune.pc has the PREFIX of the last build; tests/makefile.sh installs the file of another one.
mkdir "$work/home" "$work/home/work" && sed -i "s|^prefix=.*|prefix=$root|" "$root/lib/pkgconfig/halotune.pc" && ln -s "$root" "$work/home/.local" && "${PYTHON:-/usr/bin/python3}" -m venv --without-pip "$root/halotune-python" >"$work/log" 2>&1 &&
  cp -R python/halotune "$root"/halotune-python/lib/python3*/site-packages && blocks user-environment try >"$work/commands" && grep -q use_f90 "$work/commands" &&
  (cd "$work/home/work" && env -i HOME="$work/home" PATH=/usr/local/bin:/usr/bin:/bin sh -ex "$work/commands") >"$work/log" 2>&1
result "docs/install.md without root by copy and paste: program, CMake, C, C++, pkg-config, Fortran, Python" $?
rm -rf "$root/halotune-python"

make --no-print-directory uninstall PREFIX="$root" >"$work/log" 2>&1
find "$root" -type f -o -type l >"$work/log"
[ ! -s "$work/log" ]
result "uninstall leaves no file" $?
echo "1..$number"
[ "$failed" = 0 ]
