# A parameter with two values is refused.
halotune generate star7 --template direct --set vector=2,block_x=32,vector=4
halotune verify star7 --set vector=2,vector=2
# exit 2
