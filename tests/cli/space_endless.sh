# One rule ties 30 parameters of 32 values together, and keeps nothing. Every walk ends; the limit of time only guards against hanging.
mkdir "$TMPDIR/endless" && cp templates/direct.cu "$TMPDIR/endless/endless.cu"
awk 'BEGIN {
  for (v = 1; v <= 32; v++) values = values (v > 1 ? ", " : "") v
  print "name: endless\nabout: its rule keeps nothing\nparameters:"
  for (p = 0; p < 30; p++) { print "  p" p ": {values: [" values "], default: 1, about: x}"; sum = sum (p ? "+" : "") "p" p }
  print "rules:\n  - {keep: " sum " == 0.5, otherwise: x}\nblock: [32, 1, 1]\ngrid: [points_in_x, points_in_y, points_in_z]\nshared_bytes: 0"
}' >"$TMPDIR/endless/endless.yaml"
for command in space 'space --list' generate; do
  # The words of a command are words.
  timeout 500 halotune $command star7 --template-dir "$TMPDIR/endless" --template endless 2>&1
  echo "$command: exit $?"
done
# slow
# exit 0
