halotune generate heat2d --template direct --set block_x=33
# exit 2
