/* lost_run.c: the reason of a run marks it as lost or killed. Two statements move lost runs to another problem. */
#include "db/store/lost_run.h"

#include <math.h>
#include <stdio.h>

#include "base/text/text.h"
#include "db/store/store_parts.h"

halotune_status store_run_lose(struct store *store, int64_t run, const char *why) {
  struct text reason = {0};
  text_printf(&reason, LOST_RUN_REASON "%s", why);
  const struct run_end end = {.reason = text_string(&reason), .empty_ms = NAN, .copy_ms = NAN, .memcpy_ms = NAN};
  bool was_open; /* false: the run has already ended */
  const halotune_status status = text_ok(&reason) ? store_run_close(store, run, &end, &was_open) : fail_memory();
  text_free(&reason);
  return status;
}

/* Find the newest open run of this user and host below `id`.
 *   uuid  receives the GPU, of DEVICE_UUID_BYTES
 * Returns 0 in `id` if there is none. */
static halotune_status find_open_below(struct store *store, int64_t *id, char *uuid) {
  struct binder binder;
  const halotune_status status = store_bind(store, FIND_OPEN_BELOW, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, *id);
  const int code = sqlite3_step(binder.query);
  *id = code == SQLITE_ROW ? sqlite3_column_int64(binder.query, 0) : 0;
  snprintf(uuid, DEVICE_UUID_BYTES, "%s", code == SQLITE_ROW ? column_text(binder.query, 1) : "");
  sqlite3_reset(binder.query);
  sqlite3_clear_bindings(binder.query);
  return code == SQLITE_ROW || code == SQLITE_DONE ? HALOTUNE_OK : query_fail(store->connection);
}

static halotune_status run_end_killed(struct store *store, int64_t run) {
  struct binder binder;
  const halotune_status status = store_bind(store, END_KILLED, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  return query_run(binder.query, NULL);
}

halotune_status store_end_killed(struct store *store, bool (*has_ended)(void *context, const char *uuid),
                                 void *context) {
  char uuid[DEVICE_UUID_BYTES];
  int64_t run = INT64_MAX;
  halotune_status status = find_open_below(store, &run, uuid);
  while (status == HALOTUNE_OK && run > 0) {
    if (has_ended(context, uuid)) status = run_end_killed(store, run);
    if (status == HALOTUNE_OK) status = find_open_below(store, &run, uuid);
  }
  return status;
}

static halotune_status adopt_rows(struct store *store, enum store_query query, int64_t problem) {
  struct binder binder;
  halotune_status status = store_bind(store, query, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, problem);
  return query_run(binder.query, NULL);
}

halotune_status store_adopt_lost(struct store *store, int64_t problem) {
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = adopt_rows(store, ADOPT_MEASUREMENTS, problem);
  if (status == HALOTUNE_OK) status = adopt_rows(store, ADOPT_RUNS, problem);
  return store_end(store, status);
}
