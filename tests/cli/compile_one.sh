# One variant with the calculation of its occupancy. Registers depend on the compiler.
halotune compile derivative_x --template pencil --set pencils=32,block_x=32,block_y=8 --no-cache 2>/dev/null |
  sed "s/registers: .*; shared/registers: ...; shared/; s/limit: .*/limit: .../; /^ok/d"
# exit 0
