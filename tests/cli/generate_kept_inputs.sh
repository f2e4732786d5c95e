# What is the same in all stages of a line is found once, before them: which points are computed, and inputs that no stage changes.
halotune generate examples/solvers/upwind.yaml --template fused_line | grep -nE 'is_computed\(g|load_kept<EDGE>|p\.kept|p\.computed' | sed 's/^[0-9]*: *//'
# exit 0
