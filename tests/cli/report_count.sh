# With --count the report has the counted accesses of winner and finalists. Only installed templates are executed for this, and those of
# $HALOTUNE_TEMPLATE_PATH: a template of the database may come from others.
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
export HALOTUNE_TEMPLATE_PATH=templates
figures='[.problems[] | .winner.figures, .finalists[].figures] | [length > 1, all(.is_counted), any(.is_counted)]'
tune() { # DB option...
  halotune tune heat2d --backend host --dtype f32 --grid 40,30 --template direct --max-variants 3 --budget none --db "$@" >"$d/out" 2>&1 || cat "$d/out"
}
tune "$d/t.db"
halotune report --db "$d/t.db" --json | jq -c "$figures"
halotune report --db "$d/t.db" --count --json | jq -c "$figures"
echo '--- a template that makes a folder where it is executed on the CPU'
mkdir "$d/templates" && cp templates/common.* templates/wrappers* templates/direct.yaml "$d/templates"
sed -e "s|^extern \"C\" __global__.*|#ifndef __CUDACC_RTC__\nextern \"C\" int mkdir(const char *, unsigned);\n#define TELL mkdir(\"$d/executed\", 0700)\n#else\n#define TELL 0\n#endif\n&\n  TELL;|" \
  templates/direct.cu >"$d/templates/direct.cu"
tune "$d/other.db" --template-dir "$d/templates"
rmdir "$d/executed"
halotune report --db "$d/other.db" --count --json | jq -c "$figures"
[ ! -e "$d/executed" ] || echo "it was executed"
HALOTUNE_TEMPLATE_PATH=$d/templates halotune report --db "$d/other.db" --count --json | jq -c "$figures"
# slow
# exit 0
