#!/bin/sh
# docs.sh: tests the stencils in the documents. $HALOTUNE must show each ```yaml block that begins with "name:" without
# an error. It must refuse each ```yaml bad block, with the text of the ```text block right after it, if there is one.
# Links between documents must lead somewhere.
# CASE=docs/FILE.md tests one document. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Write block number n of a document to $work/n/NAME.yaml, where NAME is that of its first line, with the files `kind`
# (good or bad), `line` (where the block begins) and `message`.
split() { # document
  rm -rf "${work:?}"/[0-9]*
  awk -v work="$work" '
    /^```yaml *$/     { inside = "yaml"; kind = "good"; first = 1; next }
    /^```yaml bad *$/ { inside = "yaml"; kind = "bad"; first = 1; next }
    /^```text *$/     { inside = behind == NR - 1 ? "message" : "other"; next }
    /^```[a-z]/       { inside = "other"; next }
    /^``` *$/ && inside { if (inside == "yaml" && kind == "bad" && !first) behind = NR; inside = ""; next }
    inside == "yaml" && first {
      if (kind == "good" && $1 != "name:") { inside = "other"; next }
      folder = sprintf("%s/%03d", work, ++count)
      system("mkdir " folder)
      print kind > (folder "/kind"); print NR > (folder "/line")
      file = folder "/" ($1 == "name:" ? $2 : "stencil") ".yaml"
      first = 0
    }
    inside == "yaml" { print > file }
    inside == "message" { print > (folder "/message") }
  ' "$1"
}

number=0 failed=0
check() { # folder name
  number=$((number + 1))
  (cd "$1" && "$program" show ./*.yaml) >"$1/out" 2>"$1/err"
  status=$? problem=
  if [ "$(cat "$1/kind")" = good ]; then
    [ $status = 0 ] || problem="exit status $status"
  else
    { [ $status != 0 ] && [ $status -lt 126 ]; } || problem="exit status $status"
    # Each line of the message must occur in the output, after any prefix of the program.
    if [ -e "$1/message" ]; then
      while IFS= read -r line; do
        grep -qF -e "$line" "$1/err" || problem="$problem; not found: $line"
      done <"$1/message"
    fi
  fi
  # A solver in a document is a file of examples/solvers, which tests compare with exact solutions.
  solver=examples/solvers/$(basename "$1"/*.yaml)
  case $2 in docs/boundaries.md*) cmp -s "$1"/*.yaml "$solver" || problem="$problem; differs from $solver" ;; esac
  if [ -z "$problem" ]; then
    echo "ok $number - $2"
  else
    failed=$((failed + 1))
    echo "not ok $number - $2: $problem"
    sed 's/^/# /' "$1/err"
  fi
}

# The template that docs/templates.md builds must be right for stencils of each dimension, and the page must name every
# fact of facts.h.
check_template() { # stencil
  number=$((number + 1))
  if "$program" verify "$1" --template-dir "$work/template" --template simple --sample 3 >"$work/out" 2>&1; then
    echo "ok $number - docs/templates.md: simple for $1"
  else
    failed=$((failed + 1))
    echo "not ok $number - docs/templates.md: simple for $1"
    sed 's/^/# /' "$work/out"
  fi
}
is_wanted() { [ -z "${CASE:-}" ] || [ "$1" = "$CASE" ]; } # document
mkdir "$work/template"
awk -v folder="$work/template" '
  /^```cuda *$/ { file = folder "/simple.cu"; next }
  /^```yaml template *$/ { file = folder "/simple.yaml"; next }
  /^``` *$/ { file = ""; next }
  file { print > file }
' docs/templates.md
is_wanted docs/templates.md && for stencil in advect1d heat2d wave25; do check_template $stencil; done
is_wanted docs/templates.md && for fact in $(sed -n 's/^  X(\([a-z_0-9]*\), .*/\1/p' stencil/template/facts.h); do
  grep -q "^| \`$fact\` |" docs/templates.md && continue
  failed=$((failed + 1)) number=$((number + 1))
  echo "not ok $number - docs/templates.md does not know the fact $fact"
done

# docs/stencil-format.md must describe every field, function and boundary rule that the parser knows, and docs/boundaries.md
# name every rule.
check_words() { # document pattern words...
  document=$1 pattern=$2
  shift 2
  [ $# -gt 4 ] || { failed=$((failed + 1)) number=$((number + 1)) && echo "not ok $number - $document: where are the parser's words?"; }
  for word in "$@"; do
    grep -q -e "$(printf "$pattern" "$word")" "$document" && continue
    failed=$((failed + 1)) number=$((number + 1))
    echo "not ok $number - $document does not know $word"
  done
}
rules=$(sed -n 's/^ *\[BOUNDARY_[A-Z_]*\] = "\([a-z_]*\)".*/\1/p' stencil/file/boundary.c)
if is_wanted docs/stencil-format.md; then
  check_words docs/stencil-format.md '^| `%s` |' $rules
  check_words docs/stencil-format.md '^|.*`%s(' $(grep -oE '\] = \{"[a-z0-9]+", [0-9]' stencil/expression/expr.c | cut -d'"' -f2)
  check_words docs/stencil-format.md '^| [[]*`%s`.*| [ro][ep][qt][ui]' $(sed -n 's/^ *{"\([a-z_]*\)", [A-Z_]*, field_.*/\1/p' stencil/file/stencil_file.c)
fi
is_wanted docs/boundaries.md && check_words docs/boundaries.md '`%s`' $rules

# docs/templates.md must list exactly the functions that the emulation's header defines.
check_emulated() {
  header=tuner/emulate/runtime/cuda_and_ptx_on_cpu.h
  {
    sed -nE 's/(.*static inline|^__attribute__.* static) [^(]*[ *&]([A-Za-z_0-9]+)\(.*/\2/p' $header | grep -vE '^(halotune_|make_|name$)'
    sed -n '/^#define HALOTUNE_MATH_1/,/^#define HALOTUNE_1/p' $header | grep -oE 'X\([a-z0-9]+\)' | sed 's/X(\(.*\))/\1/'
    echo fma
  } | sort -u >"$work/defined"
  sed -n '/^## What the emulation knows/,/^## Testing/p' docs/templates.md | grep '^`[^ ]*`\( `\|$\)' | grep -oE '`[A-Za-z_0-9]+`' | tr -d '`' | sort -u >"$work/listed"
  number=$((number + 1))
  if [ -s "$work/listed" ] && diff "$work/defined" "$work/listed" >"$work/diff"; then
    echo "ok $number - docs/templates.md: what the emulation knows"
  else
    failed=$((failed + 1))
    echo "not ok $number - docs/templates.md: < is not listed, > is not in $header"
    sed 's/^/# /' "$work/diff"
  fi
}
is_wanted docs/templates.md && check_emulated

# The commands at the top of docs/boundaries.md, on the arrays that its program makes.
check_boundaries() {
  mkdir "$work/boundaries" "$work/boundaries/bin" && ln -s "$program" "$work/boundaries/bin/halotune" && ln -s "$PWD/examples" "$work/boundaries/examples"
  awk '/^```python/ { inside = 1; next } /^```/ { inside = 0 } inside' docs/boundaries.md >"$work/boundaries/arrays.py"
  sed '/^```/,$d' docs/boundaries.md | sed -n 's/^    //p' >"$work/boundaries/commands"
  number=$((number + 1))
  if (cd "$work/boundaries" && "${PYTHON:-/usr/bin/python3}" arrays.py && PATH="$work/boundaries/bin:$PATH" sh -e commands && [ -s b.npy ]) >"$work/out" 2>&1; then
    echo "ok $number - docs/boundaries.md: its commands"
  else
    failed=$((failed + 1))
    echo "not ok $number - docs/boundaries.md: its commands"
    sed 's/^/# /' "$work/out"
  fi
}
is_wanted docs/boundaries.md && check_boundaries

# The loop over two halves of a staggered grid, in a small box.
check_halves() {
  awk '/^```sh/ { inside = 1; next } /^```/ { inside = 0 } inside' docs/boundaries.md >"$work/boundaries/halves"
  cat >"$work/boundaries/box.py" <<'PYTHON'
import numpy
for name in ("ex", "ey", "ez", "hx", "hy", "hz"):
    numpy.save(name + ".npy", numpy.zeros((9, 10, 11)))
e = numpy.zeros((9, 10, 11))
e[:8, 4, 5] = 1
numpy.save("ez.npy", e)
PYTHON
  cat >"$work/boundaries/energy.py" <<'PYTHON'
import numpy
energy = sum((numpy.load(name + ".npy") ** 2).sum() for name in ("ex", "ey", "ez", "hx", "hy", "hz"))
assert 4 < energy < 16, energy                # of 8, half a step between the halves apart
assert numpy.load("ez.npy")[4, 4, 5] != 1
PYTHON
  number=$((number + 1)) python=${PYTHON:-/usr/bin/python3}
  if (cd "$work/boundaries" && "$python" box.py && PATH="$work/boundaries/bin:$PATH" sh -e halves && "$python" energy.py) >"$work/out" 2>&1; then
    echo "ok $number - docs/boundaries.md: the halves of a staggered grid in turn"
  else
    failed=$((failed + 1))
    echo "not ok $number - docs/boundaries.md: the halves of a staggered grid in turn"
    sed 's/^/# /' "$work/out"
  fi
}
is_wanted docs/boundaries.md && check_halves

# The README must contain the output of `show` for a stencil, indented, below the line that calls it.
check_transcript() { # folder
  file=$(cd "$1" && echo *.yaml)
  awk -v command="    build/halotune show ./$file" '
    $0 == command { waits = 1; next }
    waits && /^    / { waits = 0; inside = 1 }
    inside && /^[^ ]/ { exit }
    inside { print substr($0, 5) }
  ' README.md | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$work/transcript"
  [ -s "$work/transcript" ] || return
  transcripts=$((transcripts + 1)) number=$((number + 1))
  if diff -u "$work/transcript" "$1/out" >"$work/diff"; then
    echo "ok $number - README.md: halotune show ./$file"
  else
    failed=$((failed + 1))
    echo "not ok $number - README.md: halotune show ./$file prints something else"
    sed 's/^/# /' "$work/diff"
  fi
}
transcripts=0

for document in README.md docs/*.md; do
  is_wanted "$document" || continue
  split "$document"
  for folder in "$work"/[0-9]*; do
    [ -d "$folder" ] || continue
    check "$folder" "$document:$(cat "$folder/line")"
    [ "$document" != README.md ] || check_transcript "$folder"
  done
done
# A link to a file of the repository must lead to it, and one with #NAME to a heading of that name.
names_of() { # document: its headings, as links name them
  awk '
    /^```/ { inside = !inside }
    !inside && /^#+ / { sub(/^#+ +/, ""); $0 = tolower($0); gsub(/[^a-z0-9 _-]/, ""); gsub(/ /, "-"); print }
  ' "$1"
}
links_of() { # document: for each link its line and where it leads
  awk '{
    for (rest = $0; match(rest, /\]\([^) ]+\)/); rest = substr(rest, RSTART + RLENGTH)) print NR, substr(rest, RSTART + 2, RLENGTH - 3)
  }' "$1" | grep -v '://'
}
check_links() { # document
  number=$((number + 1))
  links_of "$1" | while read -r line link; do
    path=${link%%#*} file=$1
    [ -z "$path" ] || file=$(dirname "$1")/$path
    case $link in
      *'#'*) [ -f "$file" ] && names_of "$file" | grep -qxF -e "${link#*#}" ;;
      *) [ -e "$file" ] ;;
    esac || echo "# line $line leads nowhere: $link"
  done >"$work/links"
  if [ ! -s "$work/links" ]; then
    echo "ok $number - $1: its links lead somewhere"
  else
    failed=$((failed + 1))
    echo "not ok $number - $1: its links lead somewhere"
    cat "$work/links"
  fi
}
for document in *.md docs/*.md bench/results/*.md; do
  is_wanted "$document" && check_links "$document"
done
echo "1..$number"
if [ "$transcripts" = 0 ] && is_wanted README.md; then
  echo "not ok - README.md: no transcript was found"
  exit 1
fi
[ "$failed" = 0 ] && [ "$number" -gt 0 ]
