# Clusters along one and two axes that synchronise or signal, for stencils with each kind of boundary in x.
for stencil in star7 derivative_x advect1d; do
  halotune verify $stencil --template-dir tests/data/templates --template cluster --sample 4 --json |
    jq -c '[.variants[] | {template, outcome}] | unique'
done
# slow
# exit 0
