#!/bin/sh
# hooks.sh install: writes a pre-commit hook that calls this script. hooks.sh: runs before a commit: `make form`, and
# the unit tests of the folders whose files are staged. `git commit --no-verify` skips the hook.
set -eu
if [ "${1:-}" = install ]; then
  hook=$(git rev-parse --git-path hooks)/pre-commit
  if [ -e "$hook" ] && ! grep -q tests/hooks.sh "$hook"; then
    echo "halotune: $hook exists already: add the line 'exec sh tests/hooks.sh' to it" >&2
    exit 1
  fi
  mkdir -p "$(dirname "$hook")"
  printf '#!/bin/sh\nexec sh tests/hooks.sh\n' >"$hook"
  chmod +x "$hook"
  echo "$hook runs before each commit: make form, and the unit tests of the folders that changed"
  exit
fi

# Git passes its folder to hooks. Tests that make their own repository must not use it.
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
cd "$(dirname "$0")/.."
# The tests of stencil/template are in tests/unit/stencil and tests/unit/template, so each part of a path may name a
# folder of tests.
rooms=$(git diff --cached --name-only --diff-filter=ACMRD | grep '\.[ch]$' | tr / '\n' | sort -u |
  while read -r part; do [ ! -d "tests/unit/$part" ] || echo "$part"; done)
make --no-print-directory form
[ -z "$rooms" ] || make --no-print-directory -j"$(nproc)" unit ROOMS="$(echo $rooms)"
