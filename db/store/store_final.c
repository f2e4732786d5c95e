/* store_final.c: the end of a run: finalists, the winner, and whether it is the best that is known now. */
#include <math.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "db/store/store_parts.h"

static halotune_status put_finalist(struct store *store, int64_t run, const struct finalist *finalist) {
  struct binder binder;
  halotune_status status = store_bind(store, PUT_FINALIST, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, run);
  bind_integer(&binder, finalist->variant);
  bind_integer(&binder, finalist->rank);
  bind_integer(&binder, finalist->timing.sample_count);
  bind_real(&binder, finalist->timing.median_ms);
  bind_real(&binder, finalist->timing.minimum_ms);
  bind_interval(&binder, &finalist->timing);
  bind_real(&binder, finalist->ratio);
  bind_real(&binder, isnan(finalist->ratio_low) ? finalist->ratio : finalist->ratio_low);
  bind_real(&binder, isnan(finalist->ratio_high) ? finalist->ratio : finalist->ratio_high);
  bind_samples(&binder, &finalist->timing);
  bind_integer(&binder, finalist->is_default);
  bind_integer(&binder, finalist->is_tie);
  return query_run(binder.query, NULL);
}

/* Whether a new result takes the place of the present best of its problem. One of a run that was cut short replaces none of
 * a whole run: it is the best of less.
 *   is_complete  whether its run was not cut short */
static halotune_status takes_over(struct store *store, const struct best *best, bool is_complete, bool *out) {
  struct binder binder;
  halotune_status status = store_bind(store, FIND_CURRENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, best->problem);
  int code = sqlite3_step(binder.query);
  *out = true;
  if (code == SQLITE_ROW) {
    sqlite3_stmt *row = binder.query;
    bool same_environment =
        strcmp(column_text(row, 2), best->driver) == 0 && strcmp(column_text(row, 3), best->nvrtc) == 0;
    bool same_variant = sqlite3_column_int64(row, 1) == best->variant, is_trusted = sqlite3_column_int(row, 5) != 0;
    bool slower = sqlite3_column_double(row, 4) > best->timing.median_ms;
    bool is_present_complete = sqlite3_column_int(row, 6) != 0;
    *out = !is_trusted || !same_environment || ((same_variant || slower) && (is_complete || !is_present_complete));
  } else if (code != SQLITE_DONE) {
    status = query_fail(store->connection);
  }
  sqlite3_reset(binder.query);
  sqlite3_clear_bindings(binder.query);
  return status;
}

static halotune_status retire_current(struct store *store, int64_t problem) {
  struct binder binder;
  halotune_status status = store_bind(store, RETIRE_CURRENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, problem);
  return query_run(binder.query, NULL);
}

static void bind_best(struct binder *binder, const struct best *best, bool is_current, const char *date,
                      const char *launch, const char *coefficients) {
  bind_integer(binder, best->problem);
  bind_integer(binder, best->variant);
  bind_reading(binder, best->run > 0 ? best->run : -1);
  bind_integer(binder, is_current);
  bind_text(binder, best->origin ? best->origin : "tuned");
  bind_text(binder, date);
  bind_real(binder, best->timing.median_ms);
  bind_interval(binder, &best->timing);
  bind_integer(binder, best->timing.sample_count);
  bind_real(binder, best->default_ms);
  bind_real(binder, best->roof_ms);
  bind_real(binder, best->roof_ratio);
  bind_real(binder, best->roof_ratio_low);
  bind_real(binder, best->roof_ratio_high);
  bind_real(binder, best->empty_ms);
  bind_integer(binder, best->bytes);
  bind_real(binder, best->rms_error);
  bind_real(binder, best->max_error);
  bind_real(binder, best->max_error_units);
  bind_text(binder, best->second_grid);
  bind_integer(binder, best->registers);
  bind_integer(binder, best->shared_bytes);
  bind_real(binder, best->occupancy);
  bind_text(binder, launch);
  bind_text(binder, coefficients);
  bind_text(binder, best->driver);
  bind_text(binder, best->nvrtc);
  bind_text(binder, best->arch);
  bind_text(binder, best->source);
  bind_bytes(binder, best->cubin, best->cubin_bytes);
}

static halotune_status put_best(struct store *store, const struct best *best, bool is_complete, bool *is_current) {
  struct text launch = {0}, coefficients = {0};
  struct binder binder;
  char date[DATE_BYTES];
  bool takes = false;
  halotune_status status = takes_over(store, best, is_complete, &takes);
  if (status == HALOTUNE_OK && takes) status = retire_current(store, best->problem);
  if (status == HALOTUNE_OK) status = store_bind(store, ADD_BEST, &binder);
  if (status != HALOTUNE_OK) return status;
  date_now(date);
  launch_write(best->launch, &launch);
  coefficients_write(best->coefficients, best->coefficient_count, &coefficients);
  if (text_ok(&launch) && text_ok(&coefficients)) {
    bind_best(&binder, best, takes, date, text_string(&launch), text_string(&coefficients));
    status = query_run(binder.query, NULL);
  } else {
    status = fail_memory();
  }
  if (is_current) *is_current = takes;
  text_free(&coefficients);
  text_free(&launch);
  return status;
}

halotune_status store_final(struct store *store, int64_t run, const struct finalist *finalists, int count,
                            const struct best *best, const struct run_end *end, bool *is_current) {
  bool takes = false;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = put_finalist(store, run, &finalists[i]);
  if (status == HALOTUNE_OK && best) status = put_best(store, best, end->is_complete, &takes);
  if (status == HALOTUNE_OK) status = store_run_end(store, run, end);
  status = query_finish(store->connection, status);
  if (status == HALOTUNE_OK && is_current) *is_current = takes;
  return status;
}
