/* store_final.c: the end of a run: finalists, the winner, and whether it is the best that is known now. */
#include <math.h>
#include <string.h>

#include "base/text/date.h"
#include "db/store/columns.h"
#include "db/store/current_best.h"
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

/* The row of `best` that a result becomes. */
struct best_row {
  struct best best;
  char date[DATE_TEXT_BYTES];
  struct text launch, coefficients;
};

static void bind_best(struct binder *binder, const struct best_row *stored) {
  const struct best *row = &stored->best;
  bind_text(binder, stored->date);
  bind_text(binder, text_string(&stored->launch));
  bind_text(binder, text_string(&stored->coefficients));
  bind_bytes(binder, row->cubin, row->cubin_bytes);
  BEST_COLUMNS(COLUMN_BIND)
  sqlite3_bind_int64(binder->query, sqlite3_bind_parameter_index(binder->query, ":run"), row->run);
}

/*   id  receives the new row's */
static halotune_status put_best(struct store *store, const struct best *best, int64_t *id) {
  struct best_row row = {.best = *best};
  struct binder binder;
  if (!row.best.objective) row.best.objective = objective_names[OBJECTIVE_TIME];
  row.best.energy_mj = measured_or_nan(best->energy_mj);
  halotune_status status = store_bind(store, ADD_BEST, &binder);
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
    *id = sqlite3_last_insert_rowid(store->connection);
  } else {
    status = fail_memory();
  }
  text_free(&row.coefficients);
  text_free(&row.launch);
  return status;
}

/* The problem of a run. A run without a winner has times of other winners, too. */
static halotune_status choose_best(struct store *store, int64_t run, int64_t *winner) {
  int64_t problem = 0;
  const halotune_status status =
      query_with(store->connection, "select problem_id from run where id = ?1", run, &problem);
  return status == HALOTUNE_OK ? best_choose(store, problem, winner) : status;
}

halotune_status store_final(struct store *store, int64_t run, const struct finalist *finalists, int count,
                            const struct best *best, const struct run_end *end, bool *is_current) {
  int64_t id = 0, winner = 0;
  halotune_status status = store_begin(store);
  if (status != HALOTUNE_OK) return status;
  status = store_require_open(store, run);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = put_finalist(store, run, &finalists[i]);
  if (status == HALOTUNE_OK && best) status = put_best(store, best, &id);
  if (status == HALOTUNE_OK) status = store_run_end(store, run, end);
  if (status == HALOTUNE_OK) status = choose_best(store, run, &winner);
  status = store_end(store, status);
  if (status == HALOTUNE_OK && is_current) *is_current = id > 0 && winner == id;
  return status;
}
