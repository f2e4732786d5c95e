/* static_fit.c: least squares on logarithms of times, with a free constant for each problem. */
#include "library/predict/static_fit.h"

#include <math.h>
#include <string.h>

#include "db/store/query.h"
#include "db/store/sql_parts.h"

static const double most_log_time = 1;

/* The weight of the built-in weights, in measured times: as much as one problem. With 30 and less, weights from one to
 * six recordings rank the recordings of other stencils worse than the built-in weights do. */
static const double times_of_built_in = STATIC_OF_A_PROBLEM;

double static_clipped(const struct static_time *time) { return fmin(time->log_time, most_log_time); }

void static_learn(const struct static_times *times, const struct static_problem *problem, double most,
                  struct least_squares *sums) {
  const double count = (double)(problem->end - problem->first), weight = fmin(count, most) / count;
  double means[STATIC_COST_FEATURES] = {0}, mean_time = 0;
  for (long i = problem->first; i < problem->end; i++) {
    mean_time += static_clipped(&times->list[i]) / count;
    for (int f = 0; f < STATIC_COST_FEATURES; f++) means[f] += times->list[i].features[f] / count;
  }
  for (long i = problem->first; i < problem->end; i++) {
    double features[STATIC_COST_FEATURES];
    for (int f = 0; f < STATIC_COST_FEATURES; f++) features[f] = times->list[i].features[f] - means[f];
    least_squares_add(sums, features, static_clipped(&times->list[i]) - mean_time, weight);
  }
}

/* Pairs of variants. */
struct pairs {
  long count, ordered; /* ordered: the cost of the slower one is higher */
};

/* Compare the variants of a problem with each other. Of many variants, an even sample counts: pairs grow with the
 * square of the variants. */
static void add_pairs(const struct static_times *times, const struct static_problem *problem,
                      const struct static_weights *weights, struct pairs *out) {
  enum { MOST_VARIANTS = 128 };
  const double least_difference = log(1.05);
  const long step = (problem->end - problem->first + MOST_VARIANTS - 1) / MOST_VARIANTS;
  for (long a = problem->first; a < problem->end; a += step) {
    for (long b = problem->first; b < problem->end; b += step) {
      const struct static_time *fast = &times->list[a], *slow = &times->list[b];
      if (!(slow->log_time - fast->log_time >= least_difference)) continue;
      out->count++;
      out->ordered += static_cost_sum(weights, slow->features) > static_cost_sum(weights, fast->features);
    }
  }
}

static double ordered_share(const struct static_times *times, int first, int end,
                            const struct static_weights *weights) {
  struct pairs pairs = {0};
  for (int p = first; p < end; p++) add_pairs(times, &times->problems[p], weights, &pairs);
  return pairs.count > 0 ? (double)pairs.ordered / (double)pairs.count : NAN;
}

void static_fit_make(const struct static_times *times, int first, int end, struct static_fit *out) {
  struct least_squares sums = {.count = STATIC_COST_FEATURES};
  const struct static_weights *built_in = &static_weights_built_in;
  *out =
      (struct static_fit){.problems = end - first, .ordered_before = NAN, .ordered_after = NAN, .weights = *built_in};
  for (int p = first; p < end; p++) {
    static_learn(times, &times->problems[p], STATIC_OF_A_PROBLEM, &sums);
    out->times += times->problems[p].end - times->problems[p].first;
  }
  if (out->times < STATIC_LEAST_TIMES) return;
  const bool is_solved = least_squares_solve(&sums, built_in->of, times_of_built_in / sums.weight, out->weights.of);
  out->ordered_before = ordered_share(times, first, end, built_in);
  out->ordered_after = ordered_share(times, first, end, &out->weights);
  out->is_kept = is_solved && static_weights_are_sensible(&out->weights) && out->ordered_after > out->ordered_before;
}

/* Weights hold for all devices of a model. */
static const char weights_sql[] =
    "select p.coefficient, p.value from prediction p join device d on d.id = p.device_id where " SQL_IS_STATIC_WEIGHT(
        "p.coefficient") " and d.name = ?1 and d.capability = ?2 and d.sm_count = ?3 and not d.is_emulation order by"
                         " p.id";

halotune_status static_weights_read(const struct store *store, const char *name, int capability, int sm_count,
                                    enum static_stored *found, struct static_weights *out) {
  struct static_weights weights;
  sqlite3_stmt *query = NULL;
  bool has_rows = false;
  int code;
  *found = STATIC_NONE;
  for (int i = 0; i < STATIC_COST_FEATURES; i++) weights.of[i] = NAN; /* missing ones make no sense */
  halotune_status status = query_prepare(store_connection(store), weights_sql, &query);
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
  sqlite3_bind_int(query, 2, capability);
  sqlite3_bind_int(query, 3, sm_count);
  while ((code = sqlite3_step(query)) == SQLITE_ROW) {
    const char *feature = column_text(query, 0) + strlen(STATIC_WEIGHT_PREFIX);
    has_rows = true;
    for (int i = 0; i < STATIC_COST_FEATURES; i++) {
      if (strcmp(static_cost_names[i], feature) == 0) weights.of[i] = sqlite3_column_double(query, 1);
    }
  }
  if (code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  if (status != HALOTUNE_OK || !has_rows) return status;
  *found = static_weights_are_sensible(&weights) ? STATIC_STORED : STATIC_NONSENSE;
  if (*found == STATIC_STORED) *out = weights;
  return HALOTUNE_OK;
}
