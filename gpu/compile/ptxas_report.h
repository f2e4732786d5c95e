/* ptxas_report.h: the resources of each kernel, read from the output of `ptxas -v`. */
#ifndef GPU_COMPILE_PTXAS_REPORT_H
#define GPU_COMPILE_PTXAS_REPORT_H

#include "base/fail.h"

struct kernel_resources {
  char *name;    /* the name for the driver: mangled unless extern "C" */
  int registers; /* per thread */
  int barriers;
  int shared_bytes; /* static, per block */
  int stack_bytes;  /* per thread, including that of called functions */
  /* per thread: registers that are kept in memory; without those of functions that were not inlined */
  int spill_store_bytes, spill_load_bytes;
};

struct resource_report {
  struct kernel_resources *kernels; /* in the order of the compiler */
  int count;
};

/* Find every kernel in a compiler's log. Other lines are skipped. A log without the output of ptxas -v gives no
 * kernels.
 *   out  the caller ends it with resource_report_free; empty on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status ptxas_report_read(const char *log, struct resource_report *out);

/* Find the kernel with this name. Returns NULL if there is none. */
const struct kernel_resources *resource_report_find(const struct resource_report *report, const char *name);

void resource_report_free(struct resource_report *report);

#endif
