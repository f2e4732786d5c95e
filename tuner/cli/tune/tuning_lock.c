/* tuning_lock.c: the key of the lock. */
#include "tuner/cli/tune/tuning_lock.h"

#include "base/text/text.h"
#include "gpu/driver/device.h"
#include "tuner/cli/tune/tune_site.h"

static void key_add(const char *database, const char *uuid, struct text *out) {
  text_printf(out, "tunes\n");
  database_place(database, out);
  text_printf(out, "%.*s\n", (int)device_uuid_length(uuid), uuid);
}

bool tuning_lock_is_held(const char *database, const char *uuid) {
  struct text key = {0};
  key_add(database, uuid, &key);
  const bool is_held = text_ok(&key) && tune_lock_is_held(text_string(&key));
  text_free(&key);
  return is_held;
}

void tuning_lock_take(const char *database, const char *uuid, struct tune_lock *lock) {
  struct text key = {0};
  key_add(database, uuid, &key);
  if (text_ok(&key)) tune_lock_try(text_string(&key), true, lock);
  text_free(&key);
}
