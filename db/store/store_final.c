/* store_final.c: the end of a run: finalists, the winner, and whether it is the best that is known now. */
#include <math.h>
#include <string.h>

#include "db/store/columns.h"
#include "db/store/launch_text.h"
#include "db/store/store_parts.h"

/* A column is NULL where nothing was measured. */
static double measured_or_nan(double energy) { return energy > 0 ? energy : NAN; }

static halotune_status put_finalist(struct store *store, int64_t run, const struct finalist *finalist) {
  struct finalist stored = *finalist, *row = &stored;
  struct binder places, *binder = &places;
  halotune_status status = store_bind(store, PUT_FINALIST, binder);
  if (status != HALOTUNE_OK) return status;
  stored.timing = timing_to_store(&finalist->timing);
  stored.energy_mj = measured_or_nan(finalist->energy_mj);
  stored.energy_low_mj = measured_or_nan(finalist->energy_low_mj);
  stored.energy_high_mj = measured_or_nan(finalist->energy_high_mj);
  if (isnan(stored.ratio_low)) stored.ratio_low = finalist->ratio;
  if (isnan(stored.ratio_high)) stored.ratio_high = finalist->ratio;
  bind_integer(binder, run);
  FINALIST_COLUMNS(COLUMN_BIND)
  return query_run(places.query, NULL);
}

/* The number by which results of one objective are ranked, the lowest first. */
static double score_of(const char *objective, double time_ms, double energy_mj) {
  if (strcmp(objective, objective_names[OBJECTIVE_ENERGY]) == 0) return energy_mj;
  return strcmp(objective, objective_names[OBJECTIVE_EDP]) == 0 ? energy_mj * time_ms : time_ms;
}

/* Whether a new result replaces the present best of its problem. If the run's final rounds measured the present best,
 * too, the new result is faster beside it, whatever time the present best once had, or claims. A result of a run that
 * was cut short replaces no result of a whole run, because it is the best of fewer variants.
 *   is_complete  its run was not cut short */
static halotune_status takes_over(struct store *store, const struct best *best, bool is_complete, bool *out) {
  struct binder binder;
  halotune_status status = store_bind(store, FIND_CURRENT, &binder);
  if (status != HALOTUNE_OK) return status;
  bind_integer(&binder, best->problem);
  bind_integer(&binder, best->run);
  int code = sqlite3_step(binder.query);
  *out = true;
  if (code == SQLITE_ROW) {
    sqlite3_stmt *row = binder.query;
    bool same_environment =
        strcmp(column_text(row, 2), best->driver) == 0 && strcmp(column_text(row, 3), best->nvrtc) == 0;
    bool same_variant = sqlite3_column_int64(row, 1) == best->variant;
    /* Another objective has another winner. */
    bool other_objective = strcmp(column_text(row, 6), best->objective) != 0;
    bool slower = score_of(best->objective, sqlite3_column_double(row, 4), sqlite3_column_double(row, 7)) >
                  score_of(best->objective, best->timing.median_ms, best->energy_mj);
    bool is_present_complete = sqlite3_column_int(row, 5) != 0;
    const bool lost_here = sqlite3_column_int(row, 8) != 0;
    slower = slower || lost_here;
    *out = !same_environment || ((same_variant || slower || other_objective) && (is_complete || !is_present_complete));
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

/* The row of `best` that a result becomes. */
struct best_row {
  struct best best;
  bool is_current;
  char date[DATE_BYTES];
  struct text launch, coefficients;
};

static void bind_best(struct binder *binder, const struct best_row *stored) {
  const struct best *row = &stored->best;
  bind_integer(binder, stored->is_current);
  bind_text(binder, stored->date);
  bind_text(binder, text_string(&stored->launch));
  bind_text(binder, text_string(&stored->coefficients));
  bind_bytes(binder, row->cubin, row->cubin_bytes);
  BEST_COLUMNS(COLUMN_BIND)
  sqlite3_bind_int64(binder->query, sqlite3_bind_parameter_index(binder->query, ":run"), row->run);
}

static halotune_status put_best(struct store *store, const struct best *best, bool is_complete, bool *is_current) {
  struct best_row row = {.best = *best};
  struct binder binder;
  if (!row.best.objective) row.best.objective = objective_names[OBJECTIVE_TIME];
  row.best.energy_mj = measured_or_nan(best->energy_mj);
  halotune_status status = takes_over(store, &row.best, is_complete, &row.is_current);
  if (status == HALOTUNE_OK && row.is_current) status = retire_current(store, best->problem);
  if (status == HALOTUNE_OK) status = store_bind(store, ADD_BEST, &binder);
  if (status != HALOTUNE_OK) return status;
  row.best.steps = best->launch->steps > 1 ? best->launch->steps : 1;
  row.best.timing = timing_to_store(&best->timing);
  if (best->run <= 0) row.best.run = -1;
  if (strcmp(row.best.objective, objective_names[OBJECTIVE_TIME]) == 0) row.best.objective = "";
  date_now(row.date);
  launch_write(best->launch, &row.launch);
  coefficients_write(best->coefficients, best->coefficient_count, &row.coefficients);
  if (text_ok(&row.launch) && text_ok(&row.coefficients)) {
    bind_best(&binder, &row);
    status = query_run(binder.query, NULL);
  } else {
    status = fail_memory();
  }
  *is_current = row.is_current;
  text_free(&row.coefficients);
  text_free(&row.launch);
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
  status = store_end(store, status);
  if (status == HALOTUNE_OK && is_current) *is_current = takes;
  return status;
}
