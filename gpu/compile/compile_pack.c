/* compile_pack.c: writes the result of a compile as bytes, for messages of the pool and files of the cache. */
#include <stdlib.h>
#include <string.h>

#include "gpu/compile/compile.h"

/* The numbers of a kernel, in the order in which they are written. */
#define NUMBER_LIST(X) X(registers) X(barriers) X(shared_bytes) X(stack_bytes) X(spill_store_bytes) X(spill_load_bytes)

void compiled_pack(const struct compiled *compiled, struct text *out) {
  pack_double(out, compiled->compile_time_ms);
  pack_text(out, compiled->log);
  pack_bytes(out, compiled->cubin, compiled->cubin_bytes);
  pack_u64(out, (uint64_t)compiled->report.count);
  for (int i = 0; i < compiled->report.count; i++) {
    const struct kernel_resources *kernel = &compiled->report.kernels[i];
    pack_text(out, kernel->name);
#define AS_PACK(number) pack_u64(out, (uint64_t)kernel->number);
    NUMBER_LIST(AS_PACK)
  }
}

static halotune_status unpack_report(struct unpack *in, struct resource_report *report) {
  uint64_t count = unpack_u64(in);
  if (count > in->left) in->failed = true; /* each kernel takes more than one byte */
  if (in->failed) return fail(HALOTUNE_PARSE, "the bytes are not a compiled source");
  report->kernels = calloc(count + 1, sizeof *report->kernels);
  if (!report->kernels) return fail_memory();
  for (uint64_t i = 0; i < count; i++) {
    struct kernel_resources *kernel = &report->kernels[i];
    kernel->name = strdup(unpack_text(in));
    if (!kernel->name) return fail_memory();
    report->count++;
#define AS_UNPACK(number) kernel->number = (int)unpack_u64(in);
    NUMBER_LIST(AS_UNPACK)
  }
  return HALOTUNE_OK;
}

halotune_status compiled_unpack(struct unpack *in, struct compiled *out) {
  *out = (struct compiled){.compile_time_ms = unpack_double(in)};
  out->log = strdup(unpack_text(in));
  const char *cubin = unpack_bytes(in, &out->cubin_bytes);
  out->cubin = malloc(out->cubin_bytes + 1);
  halotune_status status = HALOTUNE_OK;
  if (!out->log || !out->cubin) {
    status = fail_memory();
    goto done;
  }
  memcpy(out->cubin, cubin, out->cubin_bytes);
  if ((status = unpack_report(in, &out->report)) != HALOTUNE_OK) goto done;
  if (in->failed) status = fail(HALOTUNE_PARSE, "the bytes are not a compiled source");
done:
  if (status != HALOTUNE_OK) compiled_free(out);
  return status;
}
