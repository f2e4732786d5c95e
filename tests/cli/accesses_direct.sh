# The counts of one block on the CPU, and the template's rules of thumb.
halotune accesses star7 --template direct --set vector=4,block_x=32,block_y=8,load_path=readonly
halotune accesses heat2d --template tile --set halo_load=overlap,tile_x=14,block_x=14,tile_y=14,block_y=14,vector=1
# exit 0
