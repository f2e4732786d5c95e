# Texts in another encoding, Latin-1: the name of a stencil's file, a comment of a template that an older Halotune stored, and a reason. They
# make no row invalid, and an export of the database can be imported into it. A template in a file must be UTF-8.
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
mkdir "$d/templates" && cp templates/common.* templates/wrappers* templates/direct.yaml "$d/templates"
refuse() { # SED COMMAND
  LC_ALL=C sed "$1" templates/direct.cu >"$d/templates/direct.cu"
  halotune space heat2d --template direct --template-dir "$d/templates" 2>&1 | sed "s|$d|FOLDER|g"
}
refuse "1i// $(printf 'f\374r') alle"
refuse '1i//\x00 hidden'
cp templates/direct.cu "$d/templates"
file=$(printf '%s/w\344rme.yaml' "$d")
cp kernels/heat2d.yaml "$file"
halotune tune "$file" --backend host --dtype f32 --grid 40,30 --template direct --template-dir "$d/templates" --max-variants 2 --budget none \
  --db "$d/t.db" >"$d/out" 2>&1 || cat "$d/out"
sqlite3 "$d/t.db" 'select command from run' | sed "s|$d|FOLDER|g"
sqlite3 "$d/t.db" "update template set cuda = cast('// ' || cast(x'66fc72' as text) || char(10) || cuda as text)"
sqlite3 "$d/t.db" "update measurement set reason = cast(x'66fc72' as text)"
halotune db check --db "$d/t.db" 2>&1 | sed "s|$d|FOLDER|g"
halotune db export --db "$d/t.db" -o "$d/t.json"
take() { # merge|import DB FILE
  halotune db "$1" --trust --yes --db "$d/$2" "$d/$3" 2>&1 | grep -e added -e conflict | sed "s|$d|FOLDER|g"
}
take import t.db t.json
take import new.db t.json
take merge new.db t.db
# An older Halotune stored such a name in the command line of a run.
sqlite3 "$d/t.db" "update run set command = replace(command, 'w?rme', cast(x'77e4726d65' as text))"
halotune db check --db "$d/t.db" 2>/dev/null | sed "s|$d|FOLDER|g"
halotune db refresh --dry-run --db "$d/t.db" 2>/dev/null | grep command
halotune db refresh --db "$d/t.db" 2>/dev/null | grep command
halotune db check --db "$d/t.db" 2>&1 | sed "s|$d|FOLDER|g"
take merge new.db t.db
# An installed template with such bytes, which would generate the same source, does not get into the database, either.
LC_ALL=C sed "\$a__device__ int unused() { return '$(printf '\344')'; }" templates/direct.cu >"$d/templates/direct.cu"
# Whether the slower of two variants is a finalist depends on their times.
HALOTUNE_TEMPLATE_PATH=$d/templates halotune db refresh --db "$d/t.db" | sed 's/1 variant stays/N variants stay/; s/2 variants/N variants/'
# exit 0
