for arguments in --version --help 'show --help' 'show star25 --json' 'list stencils --json' 'list templates' 'reference copy --grid 8'; do
  halotune $arguments >/dev/full && echo "$arguments: no failure"
done
halotune --version >/dev/full
# exit 1
