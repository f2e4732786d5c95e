# Without an argument, list shows all names.
halotune list | grep '^stencils\|^templates\|^  star7 \|^  direct \|GPUs' | sed 's/^[0-9]* GPUs/N GPUs/'
halotune list --json
# exit 2
