/* tuning_lock.c: the key of the lock, and what its absence says. */
#include "tuner/cli/tune/tuning_lock.h"

#include "base/text/text.h"
#include "db/store/lost_run.h"
#include "tuner/cli/tune/tune_site.h"

/* Append the key of the lock. */
static void key_add(const char *database, const char *uuid, struct text *out) {
  text_printf(out, "tunes\n");
  database_place(database, out);
  text_printf(out, "%s\n", uuid);
}

bool tuning_lock_is_held(const char *database, const char *uuid) {
  struct text key = {0};
  key_add(database, uuid, &key);
  const bool is_held = text_ok(&key) && tune_lock_is_held(text_string(&key));
  text_free(&key);
  return is_held;
}

/* A process begins a run when it has the lock. One that has another cache folder has another lock: where nobody has had
 * this one, nothing is known. */
static bool has_ended(void *context, const char *uuid) {
  const struct store *store = context;
  struct text key = {0};
  key_add(store_path(store), uuid, &key);
  const bool is_left = text_ok(&key) && tune_lock_is_left(text_string(&key));
  text_free(&key);
  return is_left;
}

halotune_status tuning_lock_take(struct store *store, const char *uuid, struct tune_lock *lock) {
  struct text key = {0};
  const halotune_status status = store_end_killed(store, has_ended, store);
  if (status != HALOTUNE_OK) return status;
  key_add(store_path(store), uuid, &key);
  if (text_ok(&key)) tune_lock_try(text_string(&key), true, lock);
  text_free(&key);
  return HALOTUNE_OK;
}
