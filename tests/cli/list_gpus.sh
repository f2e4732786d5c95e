halotune list gpus | head -4
halotune list gpus --json | jq -c '.[] | select(.short_name == "H100")'
# exit 0
