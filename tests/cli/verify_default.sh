# As generate does, verify takes the nearest values where a template's rules leave out its defaults.
halotune verify derivative_y --template pencil --set coefficients=literal --json | jq -c ".variants[] | [.outcome, .parameters]"
# exit 0
