# One variant, with the arithmetic of its occupancy; registers are the compiler's business.
halotune compile derivative_x --template pencil --set pencils=32,block_x=32,block_y=8 --no-cache 2>/dev/null |
  sed "s/registers: .*; shared/registers: ...; shared/; s/limit: .*/limit: .../; /^ok/d"
# exit 0
