# A configuration that a rule leaves out says why.
halotune generate heat2d --template direct --set block_z=2
# exit 2
