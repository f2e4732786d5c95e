#!/bin/sh
# on_device.sh COMMAND...: runs a command on one of the GPUs that $DEVICES numbers ('0 1 2 3'). $SLOT chooses it, which
# xargs counts (--process-slot-var=SLOT). Without $DEVICES the command sees all GPUs.
set -eu
if [ -n "${DEVICES:-}" ]; then
  count=$(echo $DEVICES | wc -w)
  CUDA_VISIBLE_DEVICES=$(echo $DEVICES | cut -d ' ' -f $((${SLOT:-0} % count + 1)))
  export CUDA_VISIBLE_DEVICES
fi
exec "$@"
