/* lost_member_run.c: the reason of a run marks it as lost. Two statements move lost runs to another problem. */
#include "db/store/lost_member_run.h"

#include <math.h>

#include "base/text/text.h"
#include "db/store/current_best.h"
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

static halotune_status adopt_rows(struct store *store, enum store_query query, int64_t problem) {
  struct binder binder;
  halotune_status status = store_bind(store, query, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, problem);
  return query_run(binder.query, NULL);
}

halotune_status store_adopt_lost(struct store *store, int64_t problem) {
  int64_t winner;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = adopt_rows(store, ADOPT_MEASUREMENTS, problem);
  if (status == HALOTUNE_OK) status = adopt_rows(store, ADOPT_RUNS, problem);
  if (status == HALOTUNE_OK) status = best_choose(store, problem, &winner);
  return store_end(store, status);
}
