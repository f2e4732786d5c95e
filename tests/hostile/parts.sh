# parts.sh: what the harnesses of this folder share. A harness sets `work` to an empty folder first.
halotune=${HALOTUNE:-build/halotune}
case $halotune in /*) ;; *) halotune=$PWD/$halotune ;; esac
export HOME="$work" XDG_CACHE_HOME="$work/cache"
unset HALOTUNE_DB HALOTUNE_TEMPLATE_PATH HALOTUNE_PATH
n=0 failures=0
result() { # what status
  n=$((n + 1))
  if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1" && failures=$((failures + 1)); fi
}
skip() { # what reason
  n=$((n + 1))
  echo "ok $n - $1 # SKIP $2"
}
# Run the program on something hostile. It may refuse, with one of its exit codes, and must neither crash nor hang: the limit only
# guards against hanging. Its output goes to $work/said.
survives() { # argument...
  timeout -k 10 300 "$halotune" "$@" >"$work/out" 2>"$work/said" </dev/null
  code=$?
  [ $code -lt 100 ] && ! grep -q 'AddressSanitizer\|runtime error:' "$work/said"
}
finish() {
  echo "1..$n"
  [ "$failures" = 0 ]
}
