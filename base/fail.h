/* fail.h: how an error travels. A function returns a halotune_status; the detail (which file, which line, what the
 * system said) is kept beside it, one text per thread, until the next failure of that thread. */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include "include/halotune.h"

enum { FAIL_TEXT_BYTES = 4096 };

/* Remember the detail, at most FAIL_TEXT_BYTES of it, and return `status`: `return fail(HALOTUNE_IO, "%s: ...", path)`. */
halotune_status fail(halotune_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The detail of this thread's last failure; "" before the first. Valid until the thread fails again. */
const char *fail_text(void);

/* Around what is tried and may fail, where the caller has not failed then: the detail that there was before, kept and put back. */
struct fail_kept {
  char text[FAIL_TEXT_BYTES];
};
void fail_keep(struct fail_kept *kept);
void fail_put_back(const struct fail_kept *kept);

/* What a failed allocation returns. A macro, so that checkers see which status comes back. */
#define fail_memory() (fail_memory_detail(), HALOTUNE_MEMORY)
void fail_memory_detail(void);

#endif
