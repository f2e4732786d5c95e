/* arch_support.c: checks a GPU's architecture, and tells users of a GPU that is too old or too new what to do. */
#include "gpu/compile/arch_support.h"

#include <stddef.h>

enum { TEN = 10 };

static int capability_of(const struct arch_facts *facts) { return TEN * facts->major + facts->minor; }

/* Fail for an architecture that the table does not have. */
static halotune_status fail_unknown(const char *name, int capability) {
  enum { CUDA_12_FIRST = 50 };
  const struct arch_facts *oldest = arch_oldest(), *newest = arch_newest();
  bool is_old = capability < capability_of(oldest);
  const char *advice =
      !is_old ? "install a newer Halotune, and a CUDA Toolkit that lists the GPU in 'nvcc --list-gpu-code'"
      : capability < CUDA_12_FIRST
          ? "tune on a newer GPU"
          : "CUDA 12 is the last version that compiles for sm_50 to sm_72: compile the output of 'halotune generate' with its nvcc, or tune on a newer GPU";
  return fail(HALOTUNE_NO_GPU, "%s has compute capability %d.%d, and this Halotune knows %d.%d to %d.%d: %s", name,
              capability / TEN, capability % TEN, oldest->major, oldest->minor, newest->major, newest->minor, advice);
}

static bool compiles_for(const struct nvrtc_facts *nvrtc, int capability) {
  for (int i = 0; i < nvrtc->arch_count; i++) {
    if (nvrtc->archs[i] == capability) return true;
  }
  return nvrtc->arch_count == 0; /* NVRTC did not list its architectures */
}

halotune_status arch_support(const char *name, int capability, const struct nvrtc_facts *nvrtc,
                             const struct arch_facts **out) {
  *out = NULL;
  const struct arch_facts *facts = arch_find(capability / TEN, capability % TEN);
  if (!facts) return fail_unknown(name, capability);
  if (nvrtc && !compiles_for(nvrtc, capability)) {
    return fail(
        HALOTUNE_NO_NVRTC,
        "NVRTC %d.%d compiles for sm_%d to sm_%d, and %s is sm_%d: install %s CUDA Toolkit, or name the libnvrtc "
        "of one in $HALOTUNE_NVRTC",
        nvrtc->major, nvrtc->minor, nvrtc->archs[0], nvrtc->archs[nvrtc->arch_count - 1], name, capability,
        capability < nvrtc->archs[0] ? "an older" : "a newer");
  }
  *out = facts;
  return HALOTUNE_OK;
}
