# The removed and the kept configurations add up to all. Each kept configuration counts for one value of a parameter.
halotune space star7 --template direct --json >"$TMPDIR/space.json"
jq -c "del(.time_s, .templates) | keys, [.stencil, .dtype, .arch, .grid]" "$TMPDIR/space.json"
jq -c ".templates[0] | [.template, .applies, .raw == ([.rules[].removed] | add) + .kept]" "$TMPDIR/space.json"
jq -c "(.kept) as \$kept | .templates[0].parameters | map(([.values[].kept] | add) == \$kept) | all" "$TMPDIR/space.json"
# exit 0
