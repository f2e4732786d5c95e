#!/bin/sh
# roof_table.sh DATABASE TABLE FOLDER [NAME]: writes how the current winners of a database compare with the
# targets of a table such as bench/roof.txt, to FOLDER/NAME-GPU.json and .md, for each model of GPU. NAME is roof by
# default. If several GPUs of a model tuned a row, the fastest counts. Exit code 1: a row has no winner. Needs the
# programs jq and sqlite3.
set -eu
db=${1:?usage: bench/roof_table.sh DATABASE TABLE FOLDER [NAME]} table=$2 folder=$3 name=${4:-roof}
here=$(dirname "$0")
. "$here/gpu_file.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# classic.ratio: time of the classic variant over the winner's time in the same rounds.
sqlite3 -json -cmd '.timeout 10000' "file:$db?mode=ro" "
select d.name gpu, s.name stencil, p.dtype, p.nx || ',' || p.ny || ',' || p.nz grid, p.launch,
       b.time_ms, b.low_ms, b.high_ms, b.roof_ratio, b.roof_ratio_low, b.roof_ratio_high, b.empty_ms,
       b.date, b.driver, b.nvrtc, r.memcpy_ms, r.warnings, r.space, t.name template, v.parameters,
       (select count(*) from measurement m join run mr on mr.id = m.run_id where mr.problem_id = p.id) tried,
       (select sum(julianday(ended) - julianday(started))*86400 from run where problem_id = p.id) tuning_s,
       classic.median_ms classic_ms, classic.ratio classic_ratio, classic.ratio_low classic_ratio_low,
       classic.ratio_high classic_ratio_high, classic.parameters classic_parameters
  from best b
  join problem p on p.id = b.problem_id
  join device d on d.id = p.device_id
  join stencil s on s.id = p.stencil_id
  join variant v on v.id = b.variant_id
  join template t on t.id = v.template_id
  left join run r on r.id = b.run_id
  left join (select f.*, fv.parameters from finalist f join variant fv on fv.id = f.variant_id
             join template ft on ft.id = fv.template_id where f.is_default and ft.name = 'classic') classic
    on classic.run_id = b.run_id
  where b.is_current and not d.is_emulation" >"$work/winners.json"

jq -r 'map(.gpu) | unique[]' "$work/winners.json" >"$work/gpus"
[ -s "$work/gpus" ] || { echo "$db has no winner of a GPU" >&2 && exit 1; }
code=0
while read -r gpu; do
  file=$folder/$name-$(gpu_file "$gpu")
  jq --raw-input --null-input --slurpfile winners "$work/winners.json" --arg gpu "$gpu" --arg name "$name" -f "$here/roof.jq" "$table" \
    >"$work/roof.json"
  jq -L "$here" -r -f "$here/roof_markdown.jq" "$work/roof.json" >"$work/roof.md"
  mv "$work/roof.json" "$file.json" && mv "$work/roof.md" "$file.md"
  jq -r '(.rows | map(select(.time_ms == null)) | length) as $without
    | "\(.gpu): \(.reached) of \(.targets) targets reached, \($without) rows without a winner"' "$file.json" >&2
  jq -e '.rows | all(.time_ms)' "$file.json" >/dev/null || code=1
done <"$work/gpus"
exit $code
