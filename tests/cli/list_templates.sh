# Names and parameters; what is tuned changes more often than how it is listed.
halotune list templates | grep "^[a-z]" | cut -d: -f1 | head -n 2
halotune list templates --json | jq -c ".[] | select(.name == \"direct\") | [.name, .parameters.coefficients.values, .parameters.coefficients.default]"
# exit 0
