# The most steps of a launch: more than one only for stencils with `iterate`. `any` is for every stencil.
halotune db import tests/data/tuned.json --trust --yes --db "$TMPDIR/query.db" >/dev/null 2>&1
for steps in 0 2 1099511627776 some 1 any; do
  halotune query gradient --db "$TMPDIR/query.db" --device sm_90 --steps $steps | grep -E '^(gradient|match)'
done
# exit 0
