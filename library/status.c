/* status.c: halotune_strstatus, halotune_error and halotune_version. */
#include "base/fail.h"

#define AS_CASE(name, number, text) \
  case HALOTUNE_##name: return text;

const char *halotune_strstatus(halotune_status status) {
  switch (status) { HALOTUNE_STATUS_LIST(AS_CASE) }
  return "unknown status"; /* a newer library may return codes that this one does not know */
}

const char *halotune_error(const halotune_ctx *ctx) {
  (void)ctx; /* each thread has its own detail; a later version may keep one for each ctx */
  return fail_text();
}

const char *halotune_version(void) { return HALOTUNE_VERSION; }
