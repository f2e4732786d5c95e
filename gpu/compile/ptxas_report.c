/* ptxas_report.c: reads the output of `ptxas -v`, as CUDA 12 and 13 write it:
 *
 *   ptxas info    : Compiling entry function 'k1' for 'sm_90'
 *   ptxas info    : Function properties for k1
 *   ptxas         .     184 bytes stack frame, 524 bytes spill stores, 580 bytes spill loads
 *   ptxas info    : Used 32 registers, used 1 barriers, 184 bytes cumulative stack size, 1024 bytes smem
 *
 * A device function that was not inlined has properties, too. Its registers are included in those of its callers. */
#include "gpu/compile/ptxas_report.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"

/* Find what follows `words` in [line, end). Returns NULL if the words do not occur. */
static const char *find_after(const char *line, const char *end, const char *words) {
  const char *found = memmem(line, (size_t)(end - line), words, strlen(words));
  return found ? found + strlen(words) : NULL;
}

static bool is_name(const char *at, const char *end, const char *name) {
  return (size_t)(end - at) == strlen(name) && strncmp(at, name, (size_t)(end - at)) == 0;
}

/* Read the number before `unit` in [line, end). Returns false if there is none. */
static bool number_before(const char *line, const char *end, const char *unit, int *number) {
  const char *at = memmem(line, (size_t)(end - line), unit, strlen(unit));
  if (!at) return false;
  const char *digits = at;
  while (digits > line && digits[-1] >= '0' && digits[-1] <= '9') digits--;
  if (digits == at) return false;
  *number = (int)strtol(digits, NULL, 10);
  return true;
}

static halotune_status add_kernel(struct resource_report *report, int *capacity, const char *name, size_t length) {
  struct kernel_resources *kernels = array_grow(report->kernels, report->count, capacity, sizeof *kernels);
  if (!kernels) return fail_memory();
  report->kernels = kernels;
  char *copy = strndup(name, length);
  if (!copy) return fail_memory();
  kernels[report->count++] = (struct kernel_resources){.name = copy};
  return HALOTUNE_OK;
}

static void read_stack_line(const char *line, const char *end, struct kernel_resources *kernel) {
  number_before(line, end, " bytes stack frame", &kernel->stack_bytes);
  number_before(line, end, " bytes spill stores", &kernel->spill_store_bytes);
  number_before(line, end, " bytes spill loads", &kernel->spill_load_bytes);
}

static void read_used_line(const char *line, const char *end, struct kernel_resources *kernel) {
  if (!number_before(line, end, " registers", &kernel->registers)) return;
  number_before(line, end, " barriers", &kernel->barriers);
  number_before(line, end, " bytes cumulative stack size", &kernel->stack_bytes);
  number_before(line, end, " bytes smem", &kernel->shared_bytes);
}

halotune_status ptxas_report_read(const char *log, struct resource_report *out) {
  int capacity = 0;
  bool of_kernel = false; /* whether the next line of properties describes the kernel itself */
  halotune_status status = HALOTUNE_OK;
  *out = (struct resource_report){0};
  for (const char *line = log, *end; *line && status == HALOTUNE_OK; line = *end ? end + 1 : end) {
    end = strchrnul(line, '\n');
    if (strncmp(line, "ptxas", strlen("ptxas")) != 0) continue;
    const char *name = find_after(line, end, "Compiling entry function '");
    if (name) {
      status = add_kernel(out, &capacity, name, strcspn(name, "'"));
      continue;
    }
    if (out->count == 0) continue;
    struct kernel_resources *kernel = &out->kernels[out->count - 1];
    name = find_after(line, end, "Function properties for ");
    if (name) of_kernel = is_name(name, end, kernel->name);
    if (!name && of_kernel) read_stack_line(line, end, kernel);
    if (!name) read_used_line(line, end, kernel);
  }
  if (status != HALOTUNE_OK) resource_report_free(out);
  return status;
}

const struct kernel_resources *resource_report_find(const struct resource_report *report, const char *name) {
  for (int i = 0; i < report->count; i++) {
    if (strcmp(report->kernels[i].name, name) == 0) return &report->kernels[i];
  }
  return NULL;
}

void resource_report_free(struct resource_report *report) {
  for (int i = 0; i < report->count; i++) free(report->kernels[i].name);
  free(report->kernels);
  *report = (struct resource_report){0};
}
