# If a template's rules exclude its defaults, verify takes the nearest values, as generate does.
halotune verify derivative_y --template pencil --set coefficients=literal --json | jq -c ".variants[] | [.outcome, .parameters]"
# exit 0
