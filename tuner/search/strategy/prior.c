/* prior.c: looks a variant up among the known ones; else two Gaussian processes of some of them tell its time, and
 * whether it works. Where nothing is known, the template's estimate of the work tells the time, or else its cost. */
#include "tuner/search/strategy/prior.h"

#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "stencil/template/access.h"

enum {
  LEAST_KNOWN = 8,   /* variants with a time */
  MOST_POINTS = 160, /* each takes time in each prediction */
  FIT_POINTS = 120,
  FIT_STEPS = 30,
  MOST_ESTIMATED = 512, /* drawn variants of a template whose least work is found: a cost takes ten microseconds */
};

struct prior {
  const struct search_space *space;
  const struct coordinates *coordinates;
  struct visited known;               /* its numbers are indices of space->known */
  const struct known_variant **order; /* variants that worked, the fastest first; then variants that failed */
  long worked, failed;
  struct gaussian *times, *successes;
  bool has_times, has_successes;
  /* The least logarithm of the work of a variant of each template; INFINITY where nothing is estimated. NULL: times of
   * other problems are known. */
  double *least_work;
};

void prior_free(struct prior *prior) {
  if (!prior) return;
  visited_free(&prior->known);
  gaussian_free(prior->times);
  gaussian_free(prior->successes);
  free(prior->order);
  free(prior->least_work);
  free(prior);
}

static int compare_known(const void *left, const void *right) {
  const struct known_variant *a = *(const struct known_variant *const *)left,
                             *b = *(const struct known_variant *const *)right;
  if (a->log_time != b->log_time) return a->log_time < b->log_time ? -1 : 1;
  return (a > b) - (a < b);
}

static void add_point(struct prior *prior, struct gaussian *to, const struct known_variant *known, double value) {
  double at[GAUSSIAN_MOST_AXES];
  coordinates_write(prior->coordinates, prior->space, &known->proposal, at);
  gaussian_add(to, at, value);
}

/* Learn from the best variants, and from as many others that are spread evenly. Both kinds take turns, so that length
 * scales are fitted to both. */
static void learn_times(struct prior *prior) {
  const long most = prior->worked < MOST_POINTS ? prior->worked : MOST_POINTS, others = most / 2, best = most - others;
  for (long i = 0; i < best; i++) {
    add_point(prior, prior->times, prior->order[i], fmin(prior->order[i]->log_time, PRIOR_MOST_LOG_TIME));
    if (i >= others) continue;
    const struct known_variant *other = prior->order[best + i * (prior->worked - best) / others];
    add_point(prior, prior->times, other, fmin(other->log_time, PRIOR_MOST_LOG_TIME));
  }
  prior->has_times = gaussian_fit(prior->times, FIT_POINTS, FIT_STEPS);
}

/* Learn 1 for a variant that worked and 0 for one that failed, from as many of both kinds if there are. */
static void learn_successes(struct prior *prior) {
  const long failed = prior->failed < MOST_POINTS / 2 ? prior->failed : MOST_POINTS / 2;
  const long rest = MOST_POINTS - failed, worked = prior->worked < rest ? prior->worked : rest;
  for (long i = 0; i < failed || i < worked; i++) {
    if (i < failed) add_point(prior, prior->successes, prior->order[prior->worked + i * prior->failed / failed], 0);
    if (i < worked) add_point(prior, prior->successes, prior->order[i * prior->worked / worked], 1);
  }
  prior->has_successes = failed > 0 && gaussian_fit(prior->successes, FIT_POINTS, FIT_STEPS);
}

static halotune_status list_known(struct prior *prior) {
  const struct known_variants *known = &prior->space->known;
  prior->order = malloc(((size_t)known->count + 1) * sizeof *prior->order);
  if (!prior->order) return fail_memory();
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < known->count && status == HALOTUNE_OK; i++) {
    prior->order[i] = &known->list[i];
    prior->worked += isfinite(known->list[i].log_time);
    status = visited_add(&prior->known, prior->space, &known->list[i].proposal, NULL);
  }
  if (status != HALOTUNE_OK) return status;
  prior->failed = known->count - prior->worked;
  qsort(prior->order, (size_t)known->count, sizeof *prior->order, compare_known);
  return HALOTUNE_OK;
}

static halotune_status learn_known(struct prior *prior) {
  halotune_status status = list_known(prior);
  const int axes = prior->coordinates->axes;
  if (status == HALOTUNE_OK) status = gaussian_make(axes, prior->coordinates->is_category, &prior->times);
  if (status == HALOTUNE_OK) status = gaussian_make(axes, prior->coordinates->is_category, &prior->successes);
  if (status != HALOTUNE_OK || prior->worked < LEAST_KNOWN) return status;
  learn_times(prior);
  learn_successes(prior);
  return HALOTUNE_OK;
}

/* The logarithm of a variant's work: its template's estimate, or else its cost. NAN where there is neither. */
static double log_work_of(const struct search_space *space, const struct proposal *proposal) {
  struct bindings *bindings = &space->bindings[proposal->template_index];
  bindings_configure(bindings, &proposal->configuration);
  return space_estimates_work(space, proposal->template_index) ? log(access_work(bindings))
                                                               : static_cost_log(bindings, space->weights);
}

/* Find the least work of each template among the drawn variants.
 *   differ  receives whether there are two of one template whose work differs */
static halotune_status find_least_work(struct prior *prior, const struct proposal_list *drawn, bool *differ) {
  const int count = prior->space->count;
  long *seen = calloc((size_t)count + 1, sizeof *seen);
  prior->least_work = malloc(((size_t)count + 1) * sizeof *prior->least_work);
  if (!prior->least_work || !seen) {
    free(seen);
    return fail_memory();
  }
  for (int i = 0; i < count; i++) prior->least_work[i] = INFINITY;
  for (long i = 0; i < drawn->count; i++) {
    const int template = drawn->list[i].template_index;
    double *least = &prior->least_work[template];
    if (seen[template]++ >= MOST_ESTIMATED && !space_estimates_work(prior->space, template)) continue;
    const double log_work = log_work_of(prior->space, &drawn->list[i]);
    *differ |= isfinite(*least) && isfinite(log_work) && log_work != *least;
    *least = fmin(*least, log_work); /* fmin ignores NAN */
  }
  free(seen);
  return HALOTUNE_OK;
}

halotune_status prior_make(const struct search_space *space, const struct coordinates *coordinates,
                           const struct proposal_list *drawn, struct prior **out) {
  halotune_status status = HALOTUNE_OK;
  *out = NULL;
  struct prior *prior = calloc(1, sizeof *prior);
  if (!prior) return fail_memory();
  prior->space = space;
  prior->coordinates = coordinates;
  if (space->known.count >= LEAST_KNOWN) status = learn_known(prior);
  const bool is_measured = prior->worked >= LEAST_KNOWN;
  bool differ = false;
  if (status == HALOTUNE_OK && !is_measured) status = find_least_work(prior, drawn, &differ);
  if (status == HALOTUNE_OK && (is_measured || differ)) *out = prior;
  else prior_free(prior);
  return status;
}

bool prior_is_measured(const struct prior *prior) { return !prior->least_work; }

/* The logarithm of the time of a typical variant among those that worked. */
static double usual_log_time(const struct prior *prior) {
  return fmin(prior->order[prior->worked / 2]->log_time, PRIOR_MOST_LOG_TIME);
}

/* The logarithm of the time by the template's estimate or the cost. A variant without one gets half of the worst. */
static double expected_of_work(const struct prior *prior, const struct proposal *proposal) {
  const double log_time = log_work_of(prior->space, proposal) - prior->least_work[proposal->template_index];
  return isfinite(log_time) ? fmin(fmax(log_time, 0), PRIOR_MOST_LOG_TIME) : PRIOR_MOST_LOG_TIME / 2;
}

struct expectation prior_expect(struct prior *prior, const struct proposal *proposal, const double at[]) {
  /* chance of a variant that failed on another problem: another GPU has other limits */
  static const double least_chance = 0.3;
  struct expectation out = {.source = -1, .chance = 1};
  if (!prior_is_measured(prior)) {
    out.log_time = expected_of_work(prior, proposal);
    return out;
  }
  const int number = visited_number(&prior->known, prior->space, proposal);
  const struct known_variant *known = number >= 0 ? &prior->space->known.list[number] : NULL;
  if (known && isfinite(known->log_time)) {
    out.source = known->source;
    out.log_time = fmin(known->log_time, PRIOR_MOST_LOG_TIME);
    return out;
  }
  out.log_time = prior->has_times ? gaussian_mean(prior->times, at) : usual_log_time(prior);
  out.log_time = fmin(out.log_time, PRIOR_MOST_LOG_TIME);
  if (known) out.chance = least_chance;
  else if (prior->has_successes) out.chance = gaussian_mean(prior->successes, at);
  out.chance = fmax(fmin(out.chance, 1), least_chance);
  return out;
}

const struct known_variant *prior_fastest(const struct prior *prior, long number) {
  return prior_is_measured(prior) && number < prior->worked ? prior->order[number] : NULL;
}
