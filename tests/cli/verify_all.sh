# Every asymmetric stencil to which a template applies, in each element type. A template for scans gets the scans.
halotune verify --all --template scan_segments --sample 1 2>/dev/null
halotune verify --all --template scan_segments --sample 1 --dtype f32 --json | jq -c '[[.stencils[] | [.stencil, .dtype, .passed]], .passed, .failed]'
halotune verify --all --template direct --set block_x=2 --sample 1
halotune verify --all --template direct --sample 1 --grid 8,8,8
halotune verify star7 --all
halotune verify
# exit 2
