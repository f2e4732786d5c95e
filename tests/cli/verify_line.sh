# A stencil along y with ends of 0, and with inputs that are read only at the computed point. kernels/ has no such
# stencil.
halotune verify tests/data/conduction.yaml --template line --sample 4 --json | jq -c "[.variants[].outcome]"
halotune verify tests/data/conduction.yaml --template line --sample 4 --dtype f64 --json | jq -c "[.variants[].outcome]"
# slow
# exit 0
