for file in kernels/*.yaml; do halotune show "$file" --json | jq -c "[.name, .kind, .dims, .shape, .radius, .taps, .flops_per_point, .bytes_per_point.f32, .linear]"; done
# exit 0
