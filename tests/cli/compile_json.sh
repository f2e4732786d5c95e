# Only figures that do not depend on the compiler.
halotune compile heat2d --template tile --set halo_load=overlap,tile_x=14,block_x=14,tile_y=14,block_y=14 --no-cache --json |
  jq -c ".variants[] | [.template, .outcome, .threads_per_block, .dynamic_shared_bytes, .loads_per_point, .over_read, .computing_share, .bank_conflicts, .cached]"
# exit 0
