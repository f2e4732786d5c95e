/* compile.h: one CUDA source to a cubin, in this process. compile_pool.h does it in others. */
#ifndef GPU_COMPILE_COMPILE_H
#define GPU_COMPILE_COMPILE_H

#include <stddef.h>

#include "base/pack.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/compile/ptxas_report.h"

struct compile_request {
  const char *source;         /* CUDA C++ */
  const char *name;           /* what messages call the source: "star7_zmarch.cu" */
  const char *arch;           /* a real one: "sm_90" */
  const char *const *options; /* NVRTC's, beside compile_standard_options; may be NULL when there are none */
  int option_count;
};

struct compiled {
  char *cubin;
  size_t cubin_bytes;
  char *log;                     /* what the compiler said, warnings and errors with their source lines; never NULL */
  struct resource_report report; /* one entry a kernel */
  double compile_time_ms;
};

/* What every source is compiled with. */
enum { COMPILE_STANDARD_OPTIONS = 2 };
extern const char *const compile_standard_options[COMPILE_STANDARD_OPTIONS];

/* Compile a source for a real architecture.
 *   out  ended with compiled_free after any outcome; after HALOTUNE_COMPILE it has no cubin, but the log
 * Returns HALOTUNE_OK; HALOTUNE_COMPILE, the detail being the log's first error; HALOTUNE_ARGUMENT for an architecture
 * that is not a real one, or one among the options; HALOTUNE_MEMORY. A source can make the compiler crash or run for
 * hours. Threads: any number at once. */
halotune_status compile_source(const struct nvrtc *nvrtc, const struct compile_request *request, struct compiled *out);

void compiled_free(struct compiled *compiled);

/* The first line of a compiler's log that speaks of an error; of any other log its first line.
 *   length  receives its length, without the line's end */
const char *compile_log_error(const char *log, int *length);

/* To bytes and back; what is read is a copy, ended with compiled_free.
 * compiled_unpack returns HALOTUNE_OK; HALOTUNE_PARSE for bytes that compiled_pack did not write; HALOTUNE_MEMORY. */
void compiled_pack(const struct compiled *compiled, struct text *out);
halotune_status compiled_unpack(struct unpack *in, struct compiled *out);

#endif
