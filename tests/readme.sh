#!/bin/sh
# readme.sh: runs the story of README.md: each of its commands, with the stencil that it shows, and its program, on the
# driver of tests/fake_cuda. Options that make a command small are in the table below. A command that the table does not
# have is an error. Prints TAP. Needs build/lib.
set -u
. "$(dirname "$0")/fake_gpu.sh"
unset HALOTUNE_FAKE_SKIP
cuda=${CUDA_HOME:-/usr/local/cuda} cc=${CC:-gcc} root=$PWD fake=$(dirname "$library")
export HALOTUNE_DB="$work/tuned.db" LD_LIBRARY_PATH="$root/build/lib:$fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
mkdir "$work/bin" "$work/story" && ln -s "$program" "$work/bin/halotune" && cd "$work/story" || exit 1
PATH=$work/bin:$PATH

# The commands: lines of the README that are indented, and words between backquotes that have no placeholders in capitals.
{
  sed -nE 's/^    (\$ )?(build\/)?(halotune [^#]*[^ #]) *(#.*)?$/\3/p' "$root/README.md"
  grep -oE '`halotune [a-z]+ [^`]*`' "$root/README.md" | tr -d '`' | grep -vE '[A-Z]{2,}|^halotune (selftest|list$)'
} | tr -s ' ' | sort -u >"$work/commands"
while IFS='|' read -r command options; do
  grep -qxF "$command" "$work/commands" || { echo "README.md has no '$command'" >>"$work/unknown"; continue; }
  grep -vxF "$command" "$work/commands" >"$work/others"
  mv "$work/others" "$work/commands"
  echo "$command $options" >>"$work/story/run"
done <<LINES
halotune tune star7|--grid 16,16,16 --template-dir $templates --template small --max-variants 1 $patient
halotune query star7 --grid 512,512,512 --device h200|
halotune show ./heat.yaml|
halotune reference ./heat.yaml --grid 512,512 --steps 100|
halotune run ./heat.yaml --steps 100 --input u=a.npy --output v=b.npy|--backend cpu
halotune space ./heat.yaml|
halotune generate ./heat.yaml --template tile|
halotune compile ./heat.yaml --arch sm_90|--sample 1
halotune verify ./heat.yaml|--sample 1
halotune report -o report.html|
halotune cache show|
halotune db info|
LINES
cat "$work/commands" >>"$work/unknown"
check "the table of this test has the commands of README.md, and no others" test ! -s "$work/unknown"
[ ! -s "$work/unknown" ] || sed 's/^/# /' "$work/unknown"

# The table of commands begins each row with a command's name.
"$program" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Za-z[].*/\1/p' | grep -vx halotune | sort -u >"$work/of_help"
sed -n '/^## Commands/,/^## /s/^| \(`[^|]*`\) |.*/\1/p' "$root/README.md" | grep -oE '`halotune [a-z]+' | cut -d' ' -f2 | sort -u >"$work/of_table"
check "the table of commands has those of halotune --help, and no others" diff "$work/of_help" "$work/of_table"

awk '/^```yaml/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" >heat.yaml
perl "$root/tests/npy.pl" write a.npy '<f4' 40,50 '$x + 2*$y' || exit 1
while read -r command; do check "$command" sh -c "$command"; done <run
check "a step of the array was computed" test -s b.npy

# The program: the calls of the README between declarations.
{
  printf '#include <halotune.h>\n#include "tests/cookbook/field.h"\n'
  printf 'int main(void) {\n  static float state[4096], next[4096];\n  halotune_ctx *ctx;\n  halotune_config config;\n  halotune_kernel *kernel;\n'
  printf '  const halotune_problem problem = {.stencil = "star7", .grid = {16, 16, 16}};\n  make_context_current();\n  fill(state, 4096);\n'
  printf '  const CUdeviceptr u = upload(state, 4096), v = upload(state, 4096);\n  CUstream stream = 0;\n'
  printf '  const void *inputs[] = {(void *)u};\n  void *outputs[] = {(void *)v}, *fields[] = {(void *)u, (void *)v};\n'
  awk '/^```c$/ { inside = 1; next } /^```/ { inside = 0 } inside' "$root/README.md" | sed 's/^\(halotune_[a-z_]*(.*)\);/  halotune(\1);/'
  printf '  (void)next;\n  cuCtxSynchronize();\n  halotune_kernel_free(kernel);\n  halotune_close(ctx);\n  return 0;\n}\n'
} >heat.c
check "the program of README.md is built" "$cc" -Wall -Wextra -Werror -Wno-int-to-pointer-cast -Wno-unused-function -I"$root" -I"$root/include" -isystem "$cuda/include" \
  heat.c -L"$root/build/lib" -L"$fake" -lhalotune -lfakecuda -lm -o heat
check "it runs" env HALOTUNE_TEMPLATE_PATH="$templates" ./heat
check "it makes the five calls" test "$(grep -c '^  halotune(halotune_[a-z_]*(' heat.c)" = 5
finish
