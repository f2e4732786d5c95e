# `help COMMAND` equals `COMMAND --help`, also for commands with parts. The general help names each command.
commands=$(halotune help | sed -n '/^usage/,/COMMAND --help/s/^  \([a-z]*\) .*/\1/p' | grep -v halotune)
echo $commands
for command in $commands; do
  halotune $command --help >"$TMPDIR/long" && halotune help $command | cmp - "$TMPDIR/long" && echo "same for $command"
done
for part in 'db forget' 'list stencils' 'cache clean'; do
  halotune $part --help >"$TMPDIR/long" && halotune help $part | cmp - "$TMPDIR/long" && echo "same for $part"
done
halotune help report | head -n 1
halotune help help-me
# exit 2
