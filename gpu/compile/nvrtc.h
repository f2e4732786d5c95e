/* nvrtc.h: NVIDIA's run-time compiler, libnvrtc, which is found and loaded at run time. */
#ifndef GPU_COMPILE_NVRTC_H
#define GPU_COMPILE_NVRTC_H

#include <nvrtc.h>

#include "base/fail.h"

/* The functions that we use: member, exported name, result, parameters. */
#define NVRTC_LIST(X)                                                                                            \
  X(error_string, nvrtcGetErrorString, const char *, (nvrtcResult result))                                       \
  X(version, nvrtcVersion, nvrtcResult, (int *major, int *minor))                                                \
  X(arch_count, nvrtcGetNumSupportedArchs, nvrtcResult, (int *count))                                            \
  X(archs, nvrtcGetSupportedArchs, nvrtcResult, (int *archs))                                                    \
  X(create, nvrtcCreateProgram, nvrtcResult,                                                                     \
    (nvrtcProgram * program, const char *source, const char *name, int header_count, const char *const *headers, \
     const char *const *include_names))                                                                          \
  X(destroy, nvrtcDestroyProgram, nvrtcResult, (nvrtcProgram * program))                                         \
  X(compile, nvrtcCompileProgram, nvrtcResult, (nvrtcProgram program, int count, const char *const *options))    \
  X(cubin_size, nvrtcGetCUBINSize, nvrtcResult, (nvrtcProgram program, size_t * bytes))                          \
  X(cubin, nvrtcGetCUBIN, nvrtcResult, (nvrtcProgram program, char *cubin))                                      \
  X(log_size, nvrtcGetProgramLogSize, nvrtcResult, (nvrtcProgram program, size_t * bytes))                       \
  X(log, nvrtcGetProgramLog, nvrtcResult, (nvrtcProgram program, char *log))

enum { NVRTC_MAX_ARCHS = 64 };

struct nvrtc_facts {
  int major, minor;           /* its version: 13, 0 */
  int arch_count;             /* number of architectures that NVRTC compiles for */
  int archs[NVRTC_MAX_ARCHS]; /* these architectures, ascending: 75 is sm_75, 100 is sm_100 */
};

struct nvrtc {
  void *library;
  struct nvrtc_facts facts;
#define AS_MEMBER(member, symbol, result, params) result(*member) params;
  NVRTC_LIST(AS_MEMBER)
#undef AS_MEMBER
};

/* Load libnvrtc. If $HALOTUNE_NVRTC is set, only the file that it names is tried. Otherwise libnvrtc.so, .so.13 and
 * .so.12 are searched in lib64 of $CUDA_HOME, of $CUDA_PATH and of /usr/local/cuda, then where the loader searches.
 *   out  receives the library and its facts; after any outcome nvrtc_close() tidies up
 * Returns HALOTUNE_OK, or HALOTUNE_NO_NVRTC with a sentence that says what to install. Threads: not while another
 * thread changes the environment. */
halotune_status nvrtc_open(struct nvrtc *out);

void nvrtc_close(struct nvrtc *nvrtc);

#endif
