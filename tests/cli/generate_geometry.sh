# A launch geometry that no GPU supports is an error of the template. The message has the number.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp templates/direct.cu "$folder/odd.cu"
for grid in points_in_x/3 0-1 1e12; do
  printf 'name: odd\nabout: x\nparameters:\n  block_x: {values: [32], default: 32, about: x}\nrules: []\nblock: [block_x, 1, 1]\ngrid: [%s, 1, 1]\nshared_bytes: 0\n' "$grid" >"$folder/odd.yaml"
  halotune generate heat2d --template-dir "$folder" --template odd
done
# exit 2
