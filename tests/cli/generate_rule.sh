# If a rule excludes a configuration, the message says why.
halotune generate heat2d --template direct --set block_z=2
# exit 2
