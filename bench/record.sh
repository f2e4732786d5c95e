#!/bin/sh
# record.sh: record the sub-spaces of bench/record.txt on this machine's GPUs. Every variant is measured in full, in a
# random order. As soon as a sub-space is done, its results are written to
# RESULTS/recording-STENCIL-DTYPE-GRID-GPU.json.gz, without samples and machine code. If the time of a row ends before,
# a random sample of its variants is written, and the same command goes on with the others. A row that is done is
# skipped. Exit code 1: a row is not done. Needs no other program than gzip and those of POSIX. The environment:
#   BUDGET=120s            for each row, after its set-up of some seconds; none: no limit
#   DEVICES='0 1'          GPUs that share the rows, one row at a time each, numbered as in CUDA_VISIBLE_DEVICES; else
#                          the first visible GPU
#   ROWS='star7 heat2d'    only the rows of these stencils
#   WORKERS=15             compilers of each GPU; by default the processors are divided among the GPUs
#   TABLE=bench/record.txt other rows
#   HALOTUNE=FILE          the program halotune; build/halotune by default
#   RESULTS=bench/results  another folder
#   WORK=build/record      databases, and what tune printed
set -eu
cd "$(dirname "$0")/.."
. bench/gpu_file.sh
program=${HALOTUNE:-build/halotune}
results=${RESULTS:-bench/results}
work=${WORK:-build/record}
gpus=$(echo "${DEVICES:-0}" | wc -w)
workers=${WORKERS:-$(($(nproc) / gpus - 1))}
[ "$workers" -ge 1 ] || workers=1

# The GPU's name and the number of variants with a result in what tune printed; the size of the space in an export.
gpu_of() { sed -n 's/^ *"device": *"\(.*\)".*/\1/p' "$1" | head -n 1; }
tried_of() { sed -n 's/^ *"tried": *\([0-9]*\).*/\1/p' "$1" | head -n 1; }
space_of() { sed -n 's/^[{]"id":[0-9]*,"problem_id":.*"state":.*"space":\([0-9]*\),.*/\1/p' "$1" | tail -n 1; }

# Leave out the samples of results, and digits that no clock has: they would be most of a document. The medians stay.
shortened() {
  sed -E -e '/^[{]"id":[0-9]+,"run_id":/!b' -e 's/"samples":\[[^]]*\],//' -e 's/([0-9]\.[0-9]{7})[0-9]+/\1/g'
}

record_row() { # stencil dtype grid template set
  name=$1-$2-$(echo "$3" | tr , x)
  own=$work/$name
  [ ! -e "$own.done" ] || return 0
  [ "$4" = - ] || set -- "$@" --template "$4"
  [ "$5" = - ] || set -- "$@" --set "$5"
  stencil=$1 dtype=$2 grid=$3
  shift 5
  # Each row has a cache of its own: processes do not wait for each other.
  XDG_CACHE_HOME=$own.cache "$program" tune "$stencil" --dtype "$dtype" --grid "$grid" "$@" --steps 1 --strategy exhaustive \
    --measure full --no-hints --budget "${BUDGET:-120s}" --workers "$workers" --db "$own.db" --json >"$own.json" 2>"$own.err" </dev/null ||
    echo "$name: tune ended with exit code $?: $(tail -n 1 "$own.err")" >&2
  gpu=$(gpu_of "$own.json")
  [ -n "$gpu" ] || return 1
  file=$results/recording-$name-$(gpu_file "$gpu").json.gz
  "$program" db export --db "$own.db" --problem "$stencil,$dtype,$(echo "$grid" | tr , x)" --output "$own.export" &&
    shortened <"$own.export" | gzip -9n >"$own.gz" && mv "$own.gz" "$file" || return 1
  tried=$(tried_of "$own.json") space=$(space_of "$own.export")
  rm -f "$own.export"
  echo "$name: $tried of $space variants, $(wc -c <"$file") bytes: $file" >&2
  [ "$tried" -ge "$space" ] || return 1
  touch "$own.done"
  rm -rf "$own.cache"
}

if [ "${1:-}" = --row ]; then # the loop below starts this script for each row
  shift
  if [ -n "${DEVICES:-}" ]; then
    CUDA_VISIBLE_DEVICES=$(echo "$DEVICES" | cut -d ' ' -f $((SLOT + 1)))
    export CUDA_VISIBLE_DEVICES
  fi
  record_row "$@"
  exit
fi

mkdir -p "$work" "$results"
sed 's/#.*//' "${TABLE:-bench/record.txt}" | while read -r stencil rest; do
  case " ${ROWS:-$stencil} " in *" $stencil "*) [ -z "$stencil" ] || echo "$stencil $rest" ;; esac
done >"$work/rows"
xargs -r -P "$gpus" --process-slot-var=SLOT -L 1 bench/record.sh --row <"$work/rows" && echo "all rows are recorded" >&2 ||
  { echo "some rows are not done; the same command goes on" >&2 && exit 1; }
