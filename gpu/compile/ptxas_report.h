/* ptxas_report.h: what each kernel takes of a GPU, read from what `ptxas -v` prints. */
#ifndef GPU_COMPILE_PTXAS_REPORT_H
#define GPU_COMPILE_PTXAS_REPORT_H

#include "base/fail.h"

struct kernel_resources {
  char *name;    /* as the driver knows it: mangled unless extern "C" */
  int registers; /* a thread */
  int barriers;
  int shared_bytes;                        /* static, a block */
  int stack_bytes;                         /* a thread, with that of the functions it calls */
  int spill_store_bytes, spill_load_bytes; /* a thread: registers that had to live in memory; not those of
                                            * functions that were called instead of inlined */
};

struct resource_report {
  struct kernel_resources *kernels; /* in the order of the compiler */
  int count;
};

/* Find every kernel in a compiler's log; other lines are skipped. A log without ptxas -v gives no kernels.
 *   out  the caller's, ended with resource_report_free; empty on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status ptxas_report_read(const char *log, struct resource_report *out);

/* The kernel of that name, or NULL. */
const struct kernel_resources *resource_report_find(const struct resource_report *report, const char *name);

void resource_report_free(struct resource_report *report);

#endif
