# stencil_file.sh: scripts source it to get the file of a stencil that a table names.
# Print the path. If kernels/ does not have the stencil, bench/stencil.sh writes it to the folder.
stencil_file() { # folder name
  if [ -e "kernels/$2.yaml" ]; then
    echo "kernels/$2.yaml"
  else
    bench/stencil.sh "$2" >"$1/$2.yaml" && echo "$1/$2.yaml"
  fi
}
