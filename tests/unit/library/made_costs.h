/* made_costs.h: databases whose times follow weights of static costs that are made up. */
#ifndef LIBRARY_MADE_COSTS_H
#define LIBRARY_MADE_COSTS_H

#include "db/store/query.h"
#include "library/predict/static_cost.h"
#include "tests/unit/library/tuned.h"

#define MADE_USUAL LAUNCH_STREAM, CACHE_STEADY, false

enum { MADE_PROBLEMS = 12, MADE_VARIANTS = 36 /* of each problem, at most */ };

/* What is cheap by the built-in weights is dear by these. */
static inline struct static_weights made_weights(void) {
  struct static_weights made;
  for (int i = 0; i < STATIC_COST_FEATURES; i++) made.of[i] = -2 * static_weights_built_in.of[i];
  return made;
}

/* A time of a variant of star7 in f32 with the template `direct`, by the weights. */
static inline double made_cost_ms(const struct tuned *t) {
  struct stencil *stencil;
  struct analysis *analysis;
  struct grid grid = {{t->n[0], t->n[1], t->n[2]}};
  struct bindings bindings;
  double facts[FACT_COUNT];
  const struct static_weights weights = made_weights();
  CHECK_OK(stencil_of_kernels(t->stencil, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  const struct variant_spec spec = {.stencil = stencil,
                                    .analysis = analysis,
                                    .template = tuned_template(t->template),
                                    .dtype = t->dtype,
                                    .domain = domain_dense(stencil, analysis, &grid),
                                    .limits = tuned_device(t->gpu).limits};
  const struct configuration configuration = configuration_for(&spec, t->set);
  facts_fill(stencil, analysis, t->dtype, &spec.domain, &spec.limits, false, facts);
  CHECK_OK(bindings_make(spec.template, facts, &bindings));
  bindings_configure(&bindings, &configuration);
  const double cost = static_cost_log(&bindings, &weights);
  bindings_free(&bindings);
  analysis_free(analysis);
  stencil_free(stencil);
  return exp(cost);
}

/* Put the problems with so many variants each. */
static inline void made_costs_put(struct store *store, int variants) {
  static const int block_x[] = {32, 64, 128, 256}, block_y[] = {1, 2, 4}, points_y[] = {1, 2, 4};
  for (int i = 0; i < MADE_PROBLEMS * variants; i++) {
    const long n = 128 + 8 * (i / variants);
    const int v = i % variants;
    char set[96];
    snprintf(set, sizeof set, "block_x=%d block_y=%d points_y=%d", block_x[v % 4], block_y[v / 4 % 3],
             points_y[v / 12]);
    struct tuned row = {GPU_H200, "star7", "direct", set, DTYPE_F32, {n, n, n}, MADE_USUAL, 1};
    row.time_ms = made_cost_ms(&row);
    tuned_put(store, &row);
  }
}

/* Store weights for the model of the database's first device, as a fit does. */
static inline void made_weights_store(struct store *store, const struct static_weights *weights) {
  for (int i = 0; i < STATIC_COST_FEATURES; i++) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "insert into prediction (device_id, coefficient, value, origin_id) select min(id), 'static_%s', %.17g,"
             " origin_id from device",
             static_cost_names[i], weights->of[i]);
    CHECK_OK(query_script(store_connection(store), sql));
  }
}

#endif
