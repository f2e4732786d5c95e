# Ctrl-C on a terminal ends `verify` and `reference` with the results that are there. It is typed when the line of progress is there. It
# also ends a step on the CPU that would take minutes, where there is no result yet.
# A terminal without noflsh drops what nobody has read from it when Ctrl-C is typed.
mkfifo "$TMPDIR/keys"
stop_at() { # progress, command: both have more to do than any machine does meanwhile
  rm -f "$TMPDIR/screen"
  TERM=xterm script -qefc "stty cols 200 -echo noflsh; $2" /dev/null <"$TMPDIR/keys" >"$TMPDIR/screen" &
  exec 8>"$TMPDIR/keys"
  until grep -qs "$1" "$TMPDIR/screen" || ! kill -0 $! 2>/dev/null; do sleep 0.05; done
  printf '\003' >&8
  wait $!
  echo "exit $?"
  exec 8>&-
  tr '\r' '\n' <"$TMPDIR/screen" | sed 's/\x1b\[[JK]//' >"$TMPDIR/lines"
}
stop_at 'f32: [1-9][0-9]* of 1000 variants' 'halotune verify copy --template direct --sample 1000 --workers 1 --fail-fast'
rows=$(grep -c '^passed .* direct' "$TMPDIR/lines")
grep -q "$rows variants* of copy in f32: $rows passed, 0 failed" "$TMPDIR/lines" && [ "$rows" -lt 1000 ] && echo 'the rows are counted'
grep -o 'halotune: stopped;' "$TMPDIR/lines"
stop_at ' of 1000000 steps' 'halotune reference heat2d --grid 64x64 --steps 1000000'
steps=$(sed -n 's/^heat2d on 64x64 points, \([0-9]*\) steps*, .*/\1/p' "$TMPDIR/lines")
grep -q "halotune: stopped after $steps of 1000000 steps" "$TMPDIR/lines" && echo 'its steps are told'
halotune reference heat2d --grid 64x64 --steps "$steps" | sed -n 's/.*\(hash .*\)/\1/p' >"$TMPDIR/hash"
grep -c "$(cat "$TMPDIR/hash")" "$TMPDIR/lines"
# The steps that were made are compared with the formulas, too.
printf 'name: keep\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = u[0]\nboundary: skip\niterate: {v: u}\ndtypes: [f64]\ngrids: [[1048576]]\nexact: {u: x, v: x + 0*steps}\n' >"$TMPDIR/keep.yaml"
stop_at ' of 1000000 steps' "halotune reference $TMPDIR/keep.yaml --steps 1000000"
grep -o 'off its formula by 0 RMS' "$TMPDIR/lines"
# 100000 instructions for each point
{
  printf 'name: heavy\ndims: 3\ninputs: [u]\noutputs: [v]\nboundary: periodic\ndtypes: [f32]\ngrids: [[128, 128, 128]]\nupdate: v = u[0,0,0]'
  yes '+u[1,0,0]' | head -n 50000 | tr -d '\n'
  yes '*u[0,1,0]' | head -n 50000 | tr -d '\n'
  echo
} >"$TMPDIR/heavy.yaml"
stop_at 'the first step' "halotune reference $TMPDIR/heavy.yaml"
grep -o 'stopped before.*' "$TMPDIR/lines"
stop_at 'inputs and reference' "halotune tune $TMPDIR/heavy.yaml --backend host --template direct --db $TMPDIR/heavy.db"
grep -o 'interrupted$' "$TMPDIR/lines"
# exit 0
