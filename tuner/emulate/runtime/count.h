/* count.h: counts the memory accesses of one block. A variant that is compiled for counting calls the runner before
 * each access. The compiler inserts these calls (gcc's -fsanitize=thread, without its library). The emulation of
 * asynchronous copies calls the runner, too. Threads run one after the other here, so accesses are assigned to
 * instructions of a warp at the end: two lanes share an instruction if they executed it equally often since they last
 * met at a barrier. */
#ifndef EMULATE_RUNTIME_COUNT_H
#define EMULATE_RUNTIME_COUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/emulate/runtime/counts.h"

/* Start counting for the block with this number in the launch; see cluster_join. */
void count_begin(uint64_t block_number);

/* Note that the current thread meets others. Accesses before and after this share no instruction. */
void count_meeting(void);

/* Note an asynchronous copy by the current thread.
 *   site  identifies the instruction: the return address of the function that emulates it
 *   from  NULL: the copy writes zeros */
void count_async_copy(const void *site, const void *to, const void *from, unsigned bytes);

/* Note one copy by the copy engine, and each piece of a buffer that it reads or writes. */
void count_engine_copy(void);
void count_engine_bytes(const void *in_buffer, size_t bytes, bool is_store);

/* Stop counting, and sum up the accesses of the block. */
void count_end(struct emulation_counts *out);

#endif
