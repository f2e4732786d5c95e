halotune list stencils --json | jq -r '.[] | [.name, .kind, .bytes_per_point.f32] | @tsv'
# exit 0
