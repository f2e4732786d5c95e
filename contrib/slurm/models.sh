#!/bin/bash
# models.sh: a job of tune.sbatch for each model of GPU, and one that merges their databases when all have ended well.
# Models have the names that Slurm has for them (sinfo -o %G). An array cannot ask for another GPU in each of its tasks.
#
#   FOLDER=$HOME/tuned NODES=1 TASKS=4 contrib/slurm/models.sh h200 h100 a100 -- --plan "$HOME/all.yml" --resume
#
# FOLDER receives h200.db, h100.db, a100.db and merged.db. NODES and TASKS are nodes, and tasks on each, of every job.
# SBATCH_ARGS are more arguments of sbatch, such as --account=physics.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${FOLDER:?the folder for the databases}
models=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do models+=("$1"); shift; done
[ $# -gt 0 ] && shift
[ ${#models[@]} -gt 0 ] || { echo "models.sh: name the models, then --, then the arguments of halotune tune" >&2; exit 2; }
mkdir -p "$folder"

ids= databases=()
for model in "${models[@]}"; do
  # shellcheck disable=SC2086
  id=$(sbatch --parsable ${SBATCH_ARGS:-} --job-name="halotune-$model" --nodes="${NODES:-1}" --ntasks-per-node="${TASKS:-1}" \
    --gpus-per-task="$model:1" --output="$folder/$model.log" "$here/tune.sbatch" "$@" --db "$folder/$model.db")
  ids=$ids:${id%%;*}
  databases+=("$folder/$model.db")
done
# Words that only bash reads may be among the quoted ones. If a model's job fails, this one is cancelled.
# shellcheck disable=SC2086
printf '#!/bin/bash\n%s\n' "$(printf '%q ' "${HALOTUNE:-halotune}" db merge --db "$folder/merged.db" --yes --trust "${databases[@]}")" |
  sbatch --parsable ${SBATCH_ARGS:-} --job-name=halotune-merge --ntasks=1 --output="$folder/merge.log" \
    --dependency="afterok$ids" --kill-on-invalid-dep=yes
