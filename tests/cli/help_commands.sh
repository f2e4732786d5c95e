for command in list show reference; do halotune $command --help || exit; done
# exit 0
