# An export equals the imported document except for its origin. Also the choice of a problem, and the T4 format.
HALOTUNE_DB=$TMPDIR/export.db
export HALOTUNE_DB
halotune db import --trust --yes tests/data/db/copy.json 2>/dev/null
halotune db export --cubins | diff tests/data/db/copy.json -
halotune db export -o "$TMPDIR/export.json" && jq -c '.tables | map_values(length)' "$TMPDIR/export.json"
halotune db export --problem copy,f64 2>/dev/null
echo "of a type that there is none of: exit $?"
halotune db export --problem copy,f32,512x256x128 | jq -c '.tables | map_values(length)'
halotune db export --format t4 | jq -c '.metadata, .results[]'
halotune db export --steps 1 --launch stream --cache steady | jq -c '.tables.problem | length'
halotune db export --steps 2 --launch graph --cache cold --reproducible 2>&1 | sed 's#^.*: nothing#nothing#'
for device in h200 'nvidia  H200' 'NVIDIA H200' h100; do
  echo "$device: $(halotune db export --device "$device" 2>/dev/null | jq -c '.tables.device | map(.name)')"
done
halotune db export --problem copy,f16
# exit 2
