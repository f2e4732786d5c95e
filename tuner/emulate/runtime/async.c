/* async.c: implements async_copy, async_commit and async_wait of cuda_and_ptx_on_cpu.h. */
#include <string.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/poison.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/turn.h"

static void check_addresses(const unsigned char *to, const unsigned char *from, unsigned bytes, int line) {
  uintptr_t begin = (uintptr_t)halotune_shared, size = launch.request->shared_bytes, offset = (uintptr_t)to - begin;
  if ((uintptr_t)to % bytes != 0 || (uintptr_t)from % bytes != 0) {
    report(EMULATION_MISALIGNED, "misaligned asynchronous copy of %u bytes in line %d: from %p, to %p", bytes, line,
           (const void *)from, (const void *)to);
  }
  if ((uintptr_t)to < begin || offset + bytes > size) {
    report(EMULATION_OUT_OF_BOUNDS,
           "asynchronous copy of %u bytes in line %d to byte %lld of %llu bytes of shared memory", bytes, line,
           (long long)(intptr_t)offset, (unsigned long long)size);
  }
}

void halotune_async_copy(void *to, const void *from, unsigned bytes, int valid, int line) {
  struct copies *copies = &turn.thread->copies;
  check_addresses(to, from, bytes, line);
  count_async_copy(__builtin_return_address(0), to, valid ? from : NULL, bytes);
  *copy_add(copies) = (struct copy){.to = to, .from = valid ? from : NULL, .bytes = bytes, .group = copies->group};
  poison_fill(to, bytes, EMULATION_POISON_COPY);
}

void halotune_async_commit(void) { turn.thread->copies.group++; }

void halotune_async_wait(unsigned pending_groups) {
  struct copies *copies = &turn.thread->copies;
  for (; copies->first < copies->end; copies->first++) {
    const struct copy *copy = &copies->items[copies->first];
    if (copy->group + pending_groups >= copies->group) return;
    if (copy->from) memcpy(copy->to, copy->from, copy->bytes);
    else memset(copy->to, 0, copy->bytes);
  }
}
