# fake_gpu.sh: for tests that source it: `halotune` on the driver of tests/fake_cuda, with a small space of variants. Sets
# $program, $work (removed at the end), $templates (a folder with the template `small`: `direct` with 32 configurations), and the environment;
# what is compiled is kept in build/fake, so that a second run of a test is fast.
cd "$(dirname "$0")/.." || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
library=$(readlink -f "${FAKE_CUDA:-build/libfakecuda.so}")
work=$(mktemp -d)
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p build/fake
export HALOTUNE_LIBCUDA="$library" HALOTUNE_LIBNVML="$library" XDG_CACHE_HOME="$PWD/build/fake" XDG_DATA_HOME="$work/data"
export HALOTUNE_FAKE_SKIP=1 HALOTUNE_FAKE_MEMO="$PWD/build/fake/memo" HALOTUNE_FAKE_SMS=4 HALOTUNE_FAKE_L2_MB=1 LC_ALL=C
unset HALOTUNE_DB HALOTUNE_PATH HALOTUNE_TEMPLATE_PATH HALOTUNE_FAKE_FAULT HALOTUNE_FAKE_MODEL HALOTUNE_FAKE_STATE HALOTUNE_FAKE_LOG

templates=$work/templates
mkdir "$templates"
cp templates/direct.cu "$templates/small.cu"
sed -e 's/^name: direct/name: small/' \
  -e 's/^\(  block_x: {values: \)[^]]*]/\1[32, 64, 128, 256]/' -e 's/^\(  block_y: {values: \)[^]]*]/\1[1, 2]/' \
  -e 's/^\(  vector: {values: \)[^]]*]/\1[1, 2]/' -e 's/^\(  points_y: {values: \)[^]]*]/\1[1, 2]/' \
  -e '/^  \(block_z\|points_[xz]\|load_path\|coefficients\|extents\|min_blocks\):/s/values: [^]]*], default: \([^,]*\)/values: [\1], default: \1/' \
  templates/direct.yaml >"$templates/small.yaml"

tune() { # DB option...
  db=$1
  shift
  timeout 100 "$program" tune star7 --grid 16,16,16 --dtype f32 --template-dir "$templates" --template small --strategy exhaustive \
    --budget 20s --db "$db" "$@"
}
