/* count.h: counting the accesses of one block to memory. A variant that is compiled for counting calls the runner
 * before each access: the compiler inserts these calls (gcc's -fsanitize=thread, without its library). The emulation of
 * an asynchronous copy calls, too. Threads run one after the other here, so the lanes of a warp are aligned at the end.
 * Two lanes share an instruction of the warp if they executed the same instruction of the program equally often since
 * they last met at a barrier. */
#ifndef EMULATE_RUNTIME_COUNT_H
#define EMULATE_RUNTIME_COUNT_H

#include <stdbool.h>
#include <stddef.h>

#include "tuner/emulate/runtime/counts.h"

/* Start to count the block that has this number in the launch, see cluster_join. */
void count_begin(uint64_t block_number);

/* Note that the current thread meets others. Accesses before and after share no instruction. */
void count_meeting(void);

/* Note an asynchronous copy by the current thread.
 *   site  identifies the instruction: the return address of the function that emulates it
 *   from  NULL: the copy writes zeros */
void count_async_copy(const void *site, const void *to, const void *from, unsigned bytes);

/* Note one copy by the copy engine, and each piece of a buffer that it reads or writes. */
void count_engine_copy(void);
void count_engine_bytes(const void *in_buffer, size_t bytes, bool is_store);

/* Stop counting and add up what the block did. */
void count_end(struct emulation_counts *out);

#endif
