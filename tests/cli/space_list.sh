# The variants, one on each line, in the order of the space.
halotune space copy --template direct --grid 63 --list | head -n 3
halotune space copy --template direct --grid 63 --list --json | tail -n 1
[ "$(halotune space copy --template direct --grid 63 --list | wc -l)" = "$(halotune space copy --template direct --grid 63 --json | jq .kept)" ]
# exit 0
