halotune show ./missing.yaml
# exit 4
