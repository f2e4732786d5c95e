/* fit.c: least squares with a free constant for each variant, whose speed is its own. */
#include "library/predict/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/sorted.h"
#include "db/store/query.h"
#include "db/store/sql_parts.h"
#include "library/predict/least_squares.h"
#include "library/predict/observations.h"

/* With fewer times the defaults are kept. */
enum { LEAST_TIMES = 100 };

/* The weight of a coefficient's default, in measured times. With a smaller weight, coefficients from a few hundred
 * times predict other grids worse than the defaults do. */
static const double times_of_default = 10;

/* The same for the errors' coefficients, as a share of the times: many times are of finalists that hardly differ. */
static const double share_of_default = 0.5;

/* Find where the list's entries for the same variant end: [first, end). */
static int variant_end(const struct observation *list, int first, int end) {
  int at = first + 1;
  while (at < end && list[at].variant == list[first].variant) at++;
  return at;
}

/* Logarithm of the time, without the launch, over the time for streaming the bytes. */
static double excess_of(const struct observation *o) {
  const double least_share = 0.2; /* a time hardly longer than a launch keeps at least this share */
  const double ms = fmax(o->time_ms - (double)predict_launch_ms[o->launch], least_share * o->time_ms);
  return log(ms) - (double)o->cost.log_streaming_ms;
}

/* The weight of an observation in the sums. Fast variants count more, because lookups choose among those. Times that
 * are mostly launch and start of blocks count less. */
static double weight_of(const struct observation *o) {
  const double speed = o->best_ms / o->time_ms;
  const double beyond = 1 - ((double)predict_launch_ms[o->launch] + (double)o->cost.dispatch_ms) / o->time_ms;
  return speed * speed * speed * fmax(beyond, 0.1);
}

/* Add the observations of one variant, as differences from their mean. */
static void add_variant(const struct observation *list, int count, struct least_squares *sums) {
  double mean[PREDICT_FEATURES] = {0}, value = 0, weight = 0;
  for (int i = 0; i < count; i++) {
    const double share = weight_of(&list[i]);
    for (int f = 0; f < PREDICT_FEATURES; f++) mean[f] += share * (double)list[i].cost.features[f];
    value += share * excess_of(&list[i]);
    weight += share;
  }
  for (int i = 0; i < count; i++) {
    double features[PREDICT_FEATURES];
    for (int f = 0; f < PREDICT_FEATURES; f++) features[f] = (double)list[i].cost.features[f] - mean[f] / weight;
    least_squares_add(sums, features, excess_of(&list[i]) - value / weight, weight_of(&list[i]));
  }
}

/* The cost that a model gives for the features of an observation. */
static struct predict_cost cost_with(const struct predict_model *model, const struct observation *o) {
  struct predict_cost cost = o->cost;
  predict_recost(model, &cost);
  return cost;
}

/* How well a model predicts times of variants from their times on other grids. */
struct judged {
  double *errors; /* absolute logarithms of predicted over measured time */
  int count, capacity;
  struct least_squares sums; /* sums for the fit of the errors */
};

static halotune_status judge_pair(const struct predict_model *model, const struct observation *from,
                                  const struct observation *to, struct judged *out) {
  const double mean_to_deviation = 1.2533; /* for a normal distribution */
  const struct predict_cost measured = cost_with(model, from), asked = cost_with(model, to);
  const double error =
      fabs((double)(asked.log_ms[to->launch] - measured.log_ms[from->launch]) + log(from->time_ms / to->time_ms));
  float features[PREDICT_ERRORS];
  double wide[PREDICT_ERRORS];
  if (!array_room(out->errors, out->count, out->capacity)) return fail_memory();
  predict_error_features(&measured, from->launch, &asked, to->launch, features);
  for (int i = 0; i < PREDICT_ERRORS; i++) wide[i] = (double)features[i];
  out->errors[out->count++] = error;
  least_squares_add(&out->sums, wide, mean_to_deviation * error, 1);
  return HALOTUNE_OK;
}

/* Judge a model as lookups use it: by the times of fast variants, from which those on all other grids are predicted,
 * where they may be slow. Of a variant with many times, an even sample counts: pairs grow with the square of the times.
 *   error  receives the median error; NaN without any
 *   pairs  receives the number of errors */
static halotune_status judge_model(const struct predict_model *model, const struct observation *list, int count,
                                   struct judged *out, double *error, int *pairs) {
  enum { MOST_TIMES = 64 };
  const double fast = 1.1; /* fast: up to so many times the fastest of the run */
  halotune_status status = HALOTUNE_OK;
  out->count = 0;
  out->sums = (struct least_squares){.count = PREDICT_ERRORS};
  for (int i = 0, end; i < count; i = end) {
    end = variant_end(list, i, count);
    const int step = (end - i + MOST_TIMES - 1) / MOST_TIMES;
    for (int a = i; a < end; a += step) {
      if (list[a].time_ms > fast * list[a].best_ms) continue;
      for (int b = i; b < end && status == HALOTUNE_OK; b += step) {
        if (b != a) status = judge_pair(model, &list[a], &list[b], out);
      }
    }
  }
  *pairs = out->count;
  if (out->count > 0) qsort(out->errors, (size_t)out->count, sizeof *out->errors, compare_doubles);
  *error = out->count > 0 ? out->errors[out->count / 2] : NAN;
  return status;
}

/* Fit the errors of the model that `judged` was made with; they are never smaller than a measurement's own. */
static void fit_errors(const struct judged *judged, struct predict_model *model) {
  static const double least[PREDICT_ERRORS] = {0.01};
  double *errors = &model->coefficients[PREDICT_sigma];
  const struct predict_model usual = predict_default();
  least_squares_solve(&judged->sums, &usual.coefficients[PREDICT_sigma], share_of_default, errors);
  for (int i = 0; i < PREDICT_ERRORS; i++) errors[i] = fmax(errors[i], least[i]);
}

/* Fit one model's observations. */
static halotune_status fit_model(const struct observation *list, int count, struct fit_result *out) {
  struct least_squares sums = {.count = PREDICT_FEATURES};
  struct judged judged = {0};
  const struct predict_model usual = predict_default();
  out->model = usual;
  for (int i = 0, end; i < count; i = end) {
    end = variant_end(list, i, count);
    if (end - i == 1) continue;
    add_variant(&list[i], end - i, &sums);
    out->times += end - i;
    out->variants++;
  }
  halotune_status status = judge_model(&usual, list, count, &judged, &out->error_before, &out->pairs);
  out->error_after = out->error_before;
  if (status == HALOTUNE_OK && out->times >= LEAST_TIMES) {
    const double share = times_of_default / sums.weight;
    out->is_kept = least_squares_solve(&sums, usual.coefficients, share, out->model.coefficients);
    status = judge_model(&out->model, list, count, &judged, &out->error_after, &out->pairs);
    fit_errors(&judged, &out->model);
    out->is_kept = out->is_kept && predict_is_sensible(&out->model);
  }
  free(judged.errors);
  return status;
}

/* Numbers that are stored for a model of GPU. */
struct fitted {
  const char *prefix; /* of their names */
  const char *const *names;
  const double *values;
  int count;
};

static halotune_status put_number(sqlite3_stmt *query, int64_t device, int64_t origin, const struct fitted *fitted,
                                  int number) {
  struct binder binder = {query, 0};
  char name[64];
  snprintf(name, sizeof name, "%s%s", fitted->prefix, fitted->names[number]);
  bind_integer(&binder, device);
  bind_text(&binder, name);
  bind_real(&binder, fitted->values[number]);
  bind_integer(&binder, origin);
  return query_run(query, NULL);
}

static halotune_status put_all(struct store *store, int64_t device, const struct fitted *fitted) {
  sqlite3_stmt *query = NULL;
  const int64_t origin = store_own_origin(store);
  if (origin == 0) return HALOTUNE_DB;
  halotune_status status =
      query_prepare(store_connection(store),
                    "insert into prediction (device_id, coefficient, value, origin_id) values (?, ?, ?, ?)", &query);
  for (int i = 0; i < fitted->count && status == HALOTUNE_OK; i++)
    status = put_number(query, device, origin, fitted, i);
  sqlite3_finalize(query);
  return status;
}

/* Put the numbers of a fit in the place of those that a model of GPU has.
 *   are_weights  they are weights of static costs, not coefficients */
static halotune_status put_model(struct store *store, int64_t device, bool are_weights, const struct fitted *fitted) {
  halotune_status status = query_with(store_connection(store),
                                      are_weights ? "delete from prediction where device_id in " SQL_DEVICES_OF_MODEL
                                                    " and " SQL_IS_STATIC_WEIGHT("coefficient")
                                                  : "delete from prediction where device_id in " SQL_DEVICES_OF_MODEL
                                                    " and not " SQL_IS_STATIC_WEIGHT("coefficient"),
                                      device, NULL);
  return status == HALOTUNE_OK ? put_all(store, device, fitted) : status;
}

/* Store what a fit found for a model of GPU. A fit that is not kept leaves alone what a document brought. */
static halotune_status put_result(struct store *store, int64_t device, const struct fit_result *result) {
  const struct fitted model = {"", predict_names, result->model.coefficients, PREDICT_COEFFICIENTS};
  const struct fitted weights = {STATIC_WEIGHT_PREFIX, static_cost_names, result->costs.weights.of,
                                 STATIC_COST_FEATURES};
  halotune_status status = result->is_kept ? put_model(store, device, false, &model) : HALOTUNE_OK;
  return status == HALOTUNE_OK && result->costs.is_kept ? put_model(store, device, true, &weights) : status;
}

static halotune_status name_device(struct store *store, int64_t device, char *out, size_t bytes) {
  sqlite3_stmt *query = NULL;
  halotune_status status =
      query_prepare(store_connection(store), "select printable(name) from device where id = ?1", &query);
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_int64(query, 1, device);
  if (sqlite3_step(query) == SQLITE_ROW) snprintf(out, bytes, "%s", column_text(query, 0));
  else status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  return status;
}

/* The times of a database, in the order of their models of GPU, and those that are next. */
struct fitting {
  struct store *store;
  struct observations observations;
  struct static_times times;
  int observation, problem;
};

/* The next model: id of its first device. Returns false if there is none. */
static bool next_model(const struct fitting *f, int64_t *device) {
  const bool has_observation = f->observation < f->observations.count,
             has_problem = f->problem < f->times.problem_count;
  if (has_observation) *device = f->observations.list[f->observation].device;
  if (has_problem && (!has_observation || f->times.problems[f->problem].device < *device))
    *device = f->times.problems[f->problem].device;
  return has_observation || has_problem;
}

/* Fit what the times of a model give, and store it. */
static halotune_status fit_next(struct fitting *f, int64_t device, struct fit_result *out) {
  const int first = f->observation, first_problem = f->problem;
  halotune_status status = HALOTUNE_OK;
  while (f->observation < f->observations.count && f->observations.list[f->observation].device == device)
    f->observation++;
  while (f->problem < f->times.problem_count && f->times.problems[f->problem].device == device) f->problem++;
  static_fit_make(&f->times, first_problem, f->problem, &out->costs);
  out->error_before = out->error_after = NAN;
  if (f->observation > first) status = fit_model(&f->observations.list[first], f->observation - first, out);
  return status == HALOTUNE_OK ? put_result(f->store, device, out) : status;
}

halotune_status predict_fit(struct store *store, struct template *const *templates, int template_count,
                            void (*tell)(void *context, const struct fit_result *result), void *context) {
  const struct predict_model usual = predict_default();
  struct fitting f = {.store = store};
  int64_t device;
  halotune_status status = observations_read(store, &usual, &f.observations);
  if (status == HALOTUNE_OK) status = static_times_read(store, templates, template_count, &f.times);
  const bool is_open = status == HALOTUNE_OK;
  if (is_open) status = query_script(store_connection(store), "begin immediate");
  /* The times of a model may have been removed since its last fit. */
  if (status == HALOTUNE_OK)
    status = query_script(store_connection(store), "delete from prediction where " SQL_IS_OWN("prediction"));
  while (status == HALOTUNE_OK && next_model(&f, &device)) {
    char name[256] = "";
    struct fit_result result = {.device = name};
    status = fit_next(&f, device, &result);
    if (status == HALOTUNE_OK) status = name_device(store, device, name, sizeof name);
    if (status == HALOTUNE_OK) tell(context, &result);
  }
  if (is_open) status = query_finish(store_connection(store), status);
  observations_free(&f.observations);
  static_times_free(&f.times);
  return status;
}
