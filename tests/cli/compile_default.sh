# If a template's rules exclude its defaults, the nearest configuration replaces them. The parameters of --set keep
# their values.
halotune generate wave25 --template tile | grep "^// values"
halotune generate wave25 --template tile --set tile_x=64 | grep "^// values"
halotune generate derivative_y --template pencil | grep "^// values"
halotune generate scan_x --template scan | grep "^// values"
halotune compile wave25 --template tile --set tile_x=64 --no-cache --json | jq -c ".variants[] | [.outcome, .parameters]"
# exit 0
