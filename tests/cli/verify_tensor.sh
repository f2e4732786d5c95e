# Tensor maps of two and three dimensions, with results stored by threads and by the copy engine. Every variant passes.
for stencil in star7 wave25 box2d9; do
  halotune verify $stencil --template-dir tests/data/templates --template tensor --sample 4 --json |
    jq -c '[.variants[] | {template, stores: .parameters.stores, outcome}] | unique'
done
# slow
# exit 0
