# Only names and parameters, because values are tuned more often than the list changes.
halotune list templates | grep "^[a-z]" | cut -d: -f1 | head -n 2
halotune list templates --json | jq -c ".[] | select(.name == \"direct\") | [.name, .parameters.coefficients.values, .parameters.coefficients.default]"
# exit 0
