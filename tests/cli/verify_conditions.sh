# Conditions, choices and all functions: each template that takes them computes what the reference does, and NVRTC compiles
# the sources. Both rounded and contracted code is checked.
halotune verify tests/data/limiter.yaml --template direct --sample 1 --json | jq -c "[.variants[].outcome]"
halotune verify tests/data/limiter.yaml --template fused_tile --set steps=2 --sample 1 --json | jq -c "[.variants[].outcome]"
halotune verify tests/data/limiter.yaml --template direct --sample 1 --dtype f64 --reproducible --json | jq -c "[.variants[].outcome]"
halotune compile tests/data/limiter.yaml --template direct --sample 1 --json | jq -c "[.variants[].outcome]"
halotune compile tests/data/limiter.yaml --template direct --sample 1 --dtype f64 --reproducible --json | jq -c "[.variants[].outcome]"
# slow
# exit 0
