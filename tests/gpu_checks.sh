#!/bin/sh
# gpu_checks.sh: check_gpu.sh and sanitize.sh, in as many calls as it takes: each lasts MINUTES (9), and begins where the
# last one stopped. Results are kept in RESULTS, by default a folder of build/gpu-checks that is named after the program,
# templates, stencils, tests, GPUs, their driver and the database of winners, so that a change begins anew. gpu_queue.sh
# says the rest. Prints TAP.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
db=${HALOTUNE_DB:-${XDG_DATA_HOME:-$HOME/.local/share}/halotune/halotune.db}
gpus=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sort -u)
version=$({
  echo "$gpus ${SAMPLE:-} ${STENCILS:-}"
  cat "$program" templates/* kernels/*.yaml tests/data/mutations.txt tests/*.sh "$db"
} 2>/dev/null | cksum | cut -d ' ' -f 1)
export MINUTES="${MINUTES:-9}" RESULTS="${RESULTS:-build/gpu-checks/$version}"
if list=$(tests/check_gpu.sh list) && more=$(tests/sanitize.sh list); then
  printf '%s\n' "$list" "$more" | tests/gpu_queue.sh
else
  printf '%s\n' "${more:-$list}" # what is missing
  exit 1
fi
