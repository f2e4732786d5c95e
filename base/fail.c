/* fail.c: keeps the error text of each thread. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char detail[FAIL_TEXT_BYTES];

halotune_status fail(halotune_status status, const char *format, ...) {
  /* Format into a copy first, since callers may include the current text: fail(st, "...: %s", fail_text()). */
  char text[FAIL_TEXT_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  snprintf(detail, sizeof detail, "%s", text);
  return status;
}

const char *fail_text(void) { return detail; }

void fail_keep(struct fail_kept *kept) { snprintf(kept->text, sizeof kept->text, "%s", detail); }

void fail_put_back(const struct fail_kept *kept) { snprintf(detail, sizeof detail, "%s", kept->text); }

void fail_memory_detail(void) { (void)fail(HALOTUNE_MEMORY, "out of memory"); }
