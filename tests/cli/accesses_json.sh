# The counts of a whole block: 30x30 points by 32x32 threads, each with one load, and five taps in shared memory.
halotune accesses heat2d --template tile --set halo_load=overlap,tile_x=30,block_x=30,tile_y=30,block_y=30,vector=1,tile_z=1,block_z=1,padding=0 --json |
  jq -c '.variants[] | .template, .rule, .counted, .block'
# exit 0
