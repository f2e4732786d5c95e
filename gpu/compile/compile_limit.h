/* compile_limit.h: a compile in a program's own process, with a limit of time. compile_pool.h compiles in other
 * processes, which can be killed. */
#ifndef GPU_COMPILE_COMPILE_LIMIT_H
#define GPU_COMPILE_COMPILE_LIMIT_H

#include "gpu/compile/compile.h"

/* Like compile_source, in a thread of its own. After the limit the thread is left alone with copies of the source and
 * its options. It uses a core and memory until NVRTC returns, and NVRTC stays loaded.
 * Returns what compile_source returns; HALOTUNE_COMPILE with NVRTC's silence as detail after the limit. */
halotune_status compile_within(const struct nvrtc *nvrtc, const struct compile_request *request, int limit_ms,
                               struct compiled *out);

#endif
