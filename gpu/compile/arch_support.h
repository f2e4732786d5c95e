/* arch_support.h: whether variants can be compiled for a GPU. Both Halotune and NVRTC must know its architecture. */
#ifndef GPU_COMPILE_ARCH_SUPPORT_H
#define GPU_COMPILE_ARCH_SUPPORT_H

#include "gpu/architecture/arch.h"
#include "gpu/compile/nvrtc.h"

/* Find the facts of a GPU's architecture.
 *   name        the GPU's name, for messages
 *   capability  its compute capability: 90 is 9.0
 *   nvrtc       the compiler to check; NULL to skip this check
 *   out         NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU for an architecture that is not in Halotune's table; HALOTUNE_NO_NVRTC for one
 * that this NVRTC cannot compile for. The detail says what to do about it. */
halotune_status arch_support(const char *name, int capability, const struct nvrtc_facts *nvrtc,
                             const struct arch_facts **out);

#endif
