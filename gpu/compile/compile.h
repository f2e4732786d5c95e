/* compile.h: compiles one CUDA source to a cubin in this process. compile_pool.h compiles in other processes. */
#ifndef GPU_COMPILE_COMPILE_H
#define GPU_COMPILE_COMPILE_H

#include <stddef.h>

#include "base/files/pack.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/compile/ptxas_report.h"

struct compile_request {
  const char *source;         /* CUDA C++ */
  const char *name;           /* the source's name in messages: "star7_zmarch.cu" */
  const char *arch;           /* a real architecture: "sm_90" */
  const char *const *options; /* NVRTC's options besides compile_standard_options; may be NULL if there are none */
  int option_count;
};

struct compiled {
  char *cubin;
  size_t cubin_bytes;
  char *log;                     /* the compiler's messages: warnings and errors with their source lines; never NULL */
  struct resource_report report; /* one entry for each kernel */
  double compile_time_ms;
};

/* When a compile began and ended, by clock_ms(), and the processor time that it took. All are 0 if nothing was compiled
 * now. */
struct compile_times {
  double begin_ms, end_ms, processor_ms;
};

/* The options with which every source is compiled. */
enum { COMPILE_STANDARD_OPTIONS = 2 };
extern const char *const compile_standard_options[COMPILE_STANDARD_OPTIONS];

/* Compile a source for a real architecture.
 *   out  end with compiled_free after any outcome; after HALOTUNE_COMPILE it has no cubin, but it has the log
 * Returns HALOTUNE_OK; HALOTUNE_COMPILE if the source or an option is rejected, with the log's first error as detail;
 * HALOTUNE_ARGUMENT for an architecture that is not a real one, or that is among the options; HALOTUNE_MEMORY, or
 * HALOTUNE_NO_NVRTC for another failure of NVRTC, as where it cannot load its parts. A source can make the compiler
 * crash or run for hours. Threads: any number at once. */
halotune_status compile_source(const struct nvrtc *nvrtc, const struct compile_request *request, struct compiled *out);

void compiled_free(struct compiled *compiled);

/* Find the first line of a compiler's log that reports an error, or the log's first line if none does.
 *   length  receives the line's length, without its line end */
const char *compile_log_error(const char *log, int *length);

/* Write a result as bytes, and read it back. compiled_unpack makes a copy; end it with compiled_free. It returns
 * HALOTUNE_OK; HALOTUNE_PARSE for bytes that compiled_pack did not write; or HALOTUNE_MEMORY. */
void compiled_pack(const struct compiled *compiled, struct text *out);
halotune_status compiled_unpack(struct unpack *in, struct compiled *out);

#endif
