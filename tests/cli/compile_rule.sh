# The only requested variant breaks a rule.
halotune compile star7 --template direct --grid 63,63,63 --set vector=2 --no-cache
# exit 2
