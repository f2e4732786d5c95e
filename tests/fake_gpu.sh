# fake_gpu.sh: tests source it to run `halotune` on the driver of tests/fake_cuda, with a small space of variants. It
# sets $program, $work (removed at the end), $templates (a folder with the template `small`, which is `direct` with 32
# configurations), and the environment. Compiled and computed results are kept in build/fake, so that a second run of a
# test is fast. `result`, `check` and `finish` print TAP.
# The root of the tree, from tests/ and from a folder in it.
cd "$(dirname "$0")/.." && { [ -d tests ] || cd ..; } || exit 1
program=$(readlink -f "${HALOTUNE:-build/halotune}")
library=$(readlink -f "${FAKE_CUDA:-build/libfakecuda.so}")
work=$(mktemp -d)
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
export HALOTUNE_LIBCUDA="$library" HALOTUNE_LIBNVML="$library" XDG_DATA_HOME="$work/data"
export HALOTUNE_FAKE_SKIP=1 HALOTUNE_FAKE_SMS=4 HALOTUNE_FAKE_L2_MB=1 LC_ALL=C
unset HALOTUNE_DB HALOTUNE_PATH HALOTUNE_TEMPLATE_PATH HALOTUNE_FAKE_FAULT HALOTUNE_FAKE_MODEL HALOTUNE_FAKE_STATE HALOTUNE_FAKE_LOG HALOTUNE_FAKE_ENERGY HALOTUNE_FAKE_NVML

templates=$work/templates
mkdir "$templates"
cp templates/direct.cu "$templates/small.cu"
# Four parameters have some of their values, the others only their default. No rule excludes a configuration, so no time
# is spent on walking through the whole space of `direct`. A test that needs fewer configurations sets $small_blocks.
awk -F '[ :]+' -v blocks="${small_blocks:-32, 64, 128, 256}" '
  BEGIN {values["block_x"] = blocks; values["block_y"] = values["vector"] = values["points_y"] = "1, 2"}
  /^name:/ {print "name: small"; next}
  /^  [a-z_]+: [{]values:/ {
    split($0, parts, "default: ")
    split(parts[2], default_value, "[,}]")
    sub(/values: [[][^]]*[]]/, "values: [" ($2 in values ? values[$2] : default_value[1]) "]")
  }
  /^common:/ {$0 = "common: [{load_path: [plain]}, {streaming: [none]}, {coefficients: [parameter]}, {extents: [runtime]}, {min_blocks: [0]}, no_scan, one_warp, whole_vectors]"}
  {print}' templates/direct.yaml >"$templates/small.yaml"
"$program" generate star7 --grid 16,16,16 --template-dir "$templates" --template small -o "$work/small.cu" || {
  echo "not ok 1 - the template small cannot be made of templates/direct.yaml"
  exit 1
}

# Two sources may give the same cubin, and the driver of tests remembers only one source for a cubin. So each version of
# the generated source has a cache of its own.
version=$(cksum <"$work/small.cu" | cut -d ' ' -f 1)
export XDG_CACHE_HOME="$PWD/build/fake/$version" HALOTUNE_FAKE_MEMO="$PWD/build/fake/$version/memo"
mkdir -p "$XDG_CACHE_HOME"

# Seconds after which a hanging command is killed. Tests do not wait for it otherwise.
LIMIT_S=${LIMIT_S:-900}
# Options for a run that no clock may end.
patient="--budget none --hang-timeout 60s"

# Wait until a command succeeds. Fails after LIMIT_S.
await() { # command...
  rounds=$((LIMIT_S * 10))
  until "$@"; do
    [ $rounds -gt 0 ] || return 1
    rounds=$((rounds - 1))
    sleep 0.1
  done
}

# Start a tune. A given option replaces the usual one, because the program accepts none twice. No clock ends a search or
# its finals, and a call of the driver hangs only if it takes more than a minute. So a busy machine changes no result.
start_tune() { # how DB option...
  how=$1 db=$2
  shift 2
  for usual in grid=16,16,16 dtype=f32 template-dir="$templates" template=small strategy=exhaustive budget=none hang-timeout=60s; do
    case " $* " in
    *" --${usual%%=*} "*) ;;
    *) set -- "$@" "--$usual" ;;
    esac
  done
  $how "$program" tune star7 --db "$db" "$@"
}
tune() { # DB option...
  start_tune "timeout $LIMIT_S" "$@"
}

# Print results as TAP.
number=0 failed=0
result() { # name status [file]
  number=$((number + 1))
  if [ "$2" = 0 ]; then
    echo "ok $number - $1"
  else
    failed=$((failed + 1))
    echo "not ok $number - $1"
    [ $# -lt 3 ] || tail -n 8 "$3" | sed 's/^/# /'
  fi
}
# Run a command, whose output is printed if it fails.
check() { # name command...
  name=$1
  shift
  number=$((number + 1))
  if "$@" >"$work/log" 2>&1; then echo "ok $number - $name"; else failed=$((failed + 1)); echo "not ok $number - $name"; sed 's/^/# /' "$work/log"; fi
}
finish() {
  echo "1..$number"
  [ "$failed" = 0 ]
}
