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

/* Save this thread's error text before an attempt that may fail without harm (fail_keep), and restore it afterwards
 * (fail_put_back). */
struct fail_kept {
  char text[FAIL_TEXT_BYTES];
};
void fail_keep(struct fail_kept *kept);
void fail_put_back(const struct fail_kept *kept);

/* Set the detail "out of memory" and return HALOTUNE_MEMORY. A macro, so that checkers of the code see which status is returned. */
#define fail_memory() (fail_memory_detail(), HALOTUNE_MEMORY)
void fail_memory_detail(void);

#endif
