# Each example of help parses: with --help behind it the program knows all of its options. Every command has some, and
# its options are in groups. The last group takes what no other group names, so it is printed.
for command in $(halotune help | sed -n '/^usage/,/COMMAND --help/s/^  \([a-z]*\) .*/\1/p' | grep -v halotune); do
  halotune help $command >"$TMPDIR/help"
  sed -n 's/^  \(halotune [^|>]*\).*/\1/p' "$TMPDIR/help" >"$TMPDIR/examples"
  while read -r line; do
    $line --help | cmp - "$TMPDIR/help" || echo "not understood: $line"
  done <"$TMPDIR/examples"
  echo "$command: $(wc -l <"$TMPDIR/examples"); $(grep '^[A-Za-z, ]*:$' "$TMPDIR/help" | paste -sd' ')"
  sed -n '/^Files and output:/,$s/^  \(-o, \)*\(--[a-z-]*\).*/\2/p' "$TMPDIR/help" | paste -sd' ' | sed '/./!d; s/^/  /'
done
# exit 0
