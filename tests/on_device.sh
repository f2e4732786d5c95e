#!/bin/sh
# on_device.sh COMMAND...: run a command that sees one GPU of those that $DEVICES numbers ('0 1 2 3'): the one for the place in which it
# runs, $SLOT, as xargs counts them (--process-slot-var=SLOT). Without $DEVICES it sees all.
set -eu
if [ -n "${DEVICES:-}" ]; then
  count=$(echo $DEVICES | wc -w)
  CUDA_VISIBLE_DEVICES=$(echo $DEVICES | cut -d ' ' -f $((${SLOT:-0} % count + 1)))
  export CUDA_VISIBLE_DEVICES
fi
exec "$@"
