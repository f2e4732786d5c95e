/* fail.h: how errors are reported. A function returns a halotune_status. The detail (which file, which line, what the
 * system said) is a text that each thread keeps until its next failure. */
#ifndef BASE_FAIL_H
#define BASE_FAIL_H

#include "include/halotune.h"

enum { FAIL_TEXT_BYTES = 4096 };

/* Keep the detail, cut to FAIL_TEXT_BYTES, and return `status`: `return fail(HALOTUNE_IO, "%s: ...", path)`. */
halotune_status fail(halotune_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The detail of this thread's last failure; "" before the first. Valid until the thread's next failure. */
const char *fail_text(void);

/* Save this thread's error text before an attempt that may fail (fail_keep), and restore it afterwards
 * (fail_put_back). */
struct fail_kept {
  char text[FAIL_TEXT_BYTES];
};
void fail_keep(struct fail_kept *kept);
void fail_put_back(const struct fail_kept *kept);

/* Set the detail "out of memory" and return HALOTUNE_MEMORY. It is a macro so that static analysers see the status. */
#define fail_memory() (fail_memory_detail(), HALOTUNE_MEMORY)
void fail_memory_detail(void);

#endif
