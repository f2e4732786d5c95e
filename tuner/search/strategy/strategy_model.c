/* strategy_model.c: learns from the results how time depends on the parameters, and proposes the variant from which
 * most is expected.
 *
 * A Gaussian process (gaussian.h) predicts the logarithm of the time of any variant, with its uncertainty. A second one
 * predicts whether the variant works at all. Of some hundred candidates, the one with the largest expected improvement
 * is proposed (J. Mockus, V. Tiesis, A. Zilinskas, The application of Bayesian methods for seeking the extremum, 1978),
 * times the probability that it works. Candidates are neighbours of the best variants, and random ones. A variant whose
 * result is not known yet counts with its predicted time, so that the variants in flight differ.
 *
 * The search ends when the next variants are expected to gain next to nothing, and random variants have not gained
 * anything either. If the process cannot be fitted, the strategy "local" goes on. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "tuner/search/strategy/coordinates.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/strategy/gaussian.h"
#include "tuner/search/strategy/neighbours.h"
#include "tuner/search/strategy/prior.h"
#include "tuner/search/strategy/strategy.h"
#include "tuner/search/strategy/templates_behind.h"
#include "tuner/search/variants/proposals.h"

enum {
  MOST_DRAWN = 64000,         /* random variants in all, */
  LEAST_OF_A_TEMPLATE = 4000, /* but at least so many of each template, */
  MOST_OF_A_TEMPLATE = 20000, /* and at most so many of it */
  FIRST_VARIANTS = 16,        /* random variants at the beginning, */
  FIRST_OF_A_TEMPLATE = 2,    /* but at least so many times the number of templates */
  FIRST_KNOWN = 12,           /* with a prior: its best variants, at the beginning */
  FEWEST_TIMED = 5,           /* variants with a time before the process is used */
  HOPELESS_AFTER = 128,       /* if so many results contain fewer times, the process is given up */
  RANDOM_EVERY = 16,          /* one of so many variants is random */
  CANDIDATES = 512,
  MOST_KNOWN = 96,    /* candidates that are the best of the prior */
  CENTRES = 6,        /* best variants whose neighbours are candidates */
  ASKED_OF_ONE = 12,  /* proposals from one list of candidates */
  KEPT_POINTS = 200,  /* timed variants in the process; its other places are for variants in flight */
  FIT_POINTS = 120,   /* of these, the variants that length scales are fitted to */
  FIRST_STEPS = 30,   /* steps of the first fit, */
  MORE_STEPS = 8,     /* and of each after that */
  BLIND_EVERY = 2,    /* with a prior: one of so many fits ignores it, in case it misleads */
  FIT_MOST = 40,      /* results until the next fit */
  NEXT_VARIANTS = 10, /* the search ends when so many variants together are expected to gain too little */
  LOW_GAINS = 32,     /* so many times in a row, */
  CHECKS = 8,         /* and when so many random variants since the best one gained nothing */
};

/* A gain below this share of the time is not worth searching for. */
static const double least_gain = 0.002;

/* A time that is worse than the best by more than this difference of logarithms counts as this difference. The
 * difference between bad and very bad variants does not help to find the best. */
static const double clipped_above = 1;

enum standing { WAITING, TIMED, FAILED };

/* A variant that was proposed or told. */
struct point {
  struct proposal proposal;
  double at[GAUSSIAN_MOST_AXES];
  struct expectation expected;
  double log_time, guess; /* guess: the predicted logarithm, until the time is known */
  enum standing standing;
  bool is_random;
  int in_process; /* its number among the points of `times`; -1: it is not there */
};

struct candidate {
  struct proposal proposal;
  double at[GAUSSIAN_MOST_AXES], solved[2][GAUSSIAN_MOST_POINTS];
  struct gaussian_place time, success;
  struct expectation expected;
  bool is_taken;
};

struct model {
  const struct search_space *space;
  struct coordinates coordinates;
  struct gaussian *times, *successes; /* the processes in use: those with or those without the prior */
  struct gaussian *processes[2][2];
  struct prior *prior; /* NULL: nothing is known of other problems, and no estimates differ */
  bool is_blind;       /* the prior is ignored until the next fit */
  double trust;        /* factor on the differences of the prior's logarithms of times */
  struct template_times best;
  struct proposal_list drawn, light; /* light: the first variants come from it */
  long drawn_next, light_next, pool_next, hint_next, known_next;
  struct visited visited, only;
  struct point *points;
  long point_count, point_capacity, timed, failed, proposed, first;
  struct candidate *candidates;
  struct visited pooled;
  int candidate_count, asked;
  bool is_pool_old, is_fitted, is_over;
  long fits, next_fit; /* the process is fitted again when so many variants have results */
  long low_gains, checks;
  double checked_best; /* the best time when `checks` was last set to 0 */
  uint64_t seed;
  void *local; /* the state of the strategy "local" that continues the search; NULL for none */
  char why[256], remark[160];
};

static void model_close(void *opened) {
  struct model *m = opened;
  if (!m) return;
  strategy_local.close(m->local);
  prior_free(m->prior);
  coordinates_free(&m->coordinates);
  for (int i = 0; i < 4; i++) gaussian_free(m->processes[i / 2][i % 2]);
  template_times_free(&m->best);
  proposals_free(&m->drawn);
  proposals_free(&m->light);
  visited_free(&m->visited);
  visited_free(&m->only);
  visited_free(&m->pooled);
  free(m->points);
  free(m->candidates);
  free(m);
}

static void use_processes(struct model *m, bool is_blind) {
  m->is_blind = is_blind;
  m->times = m->processes[is_blind][0];
  m->successes = m->processes[is_blind][1];
}

static halotune_status make_processes(struct model *m) {
  const struct coordinates *c = &m->coordinates;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < (m->prior ? 4 : 2) && status == HALOTUNE_OK; i++)
    status = gaussian_make(c->axes, c->is_category, &m->processes[i / 2][i % 2]);
  use_processes(m, false);
  return status;
}

/* How many variants of a template are drawn. More of them take time, and few are ever looked at. */
static long most_of_a_template(const struct search_space *space) {
  const long share = MOST_DRAWN / (space->count > 0 ? space->count : 1);
  if (share > MOST_OF_A_TEMPLATE) return MOST_OF_A_TEMPLATE;
  return share > LEAST_OF_A_TEMPLATE ? share : LEAST_OF_A_TEMPLATE;
}

static halotune_status model_open(const struct search_space *space, uint64_t seed, void **out) {
  struct model *m = calloc(1, sizeof *m);
  *out = NULL;
  if (!m) return fail_memory();
  m->space = space;
  m->seed = seed;
  m->checked_best = INFINITY;
  m->trust = 1;
  m->candidates = calloc(CANDIDATES, sizeof *m->candidates);
  halotune_status status = m->candidates ? coordinates_make(space, &m->coordinates) : fail_memory();
  if (status == HALOTUNE_OK) status = draw_variants(space, most_of_a_template(space), seed, &m->drawn);
  if (status == HALOTUNE_OK) status = prior_make(space, &m->coordinates, &m->drawn, &m->prior);
  if (status == HALOTUNE_OK) status = make_processes(m);
  if (status == HALOTUNE_OK) status = template_times_make(space->count, &m->best);
  if (status == HALOTUNE_OK) status = visited_add_listed(&m->only, space);
  if (status == HALOTUNE_OK) status = draw_light(space, FIRST_VARIANTS, seed, &m->light);
  m->first = FIRST_OF_A_TEMPLATE * space->count > FIRST_VARIANTS ? FIRST_OF_A_TEMPLATE * space->count : FIRST_VARIANTS;
  if (m->prior && prior_is_measured(m->prior)) m->first = FIRST_KNOWN;
  if (status == HALOTUNE_OK) {
    *out = m;
    return HALOTUNE_OK;
  }
  model_close(m);
  return status;
}

/* --- the process ------------------------------------------------------------------------------------------------- */

static double clipped_time(const struct model *m, double log_time) {
  return fmin(log_time, m->best.best_log_time + clipped_above);
}

static bool uses_prior(const struct model *m) { return m->prior && !m->is_blind; }

/* The prior's part of an expected time. The Gaussian process adds the rest. */
static double trend_of(const struct model *m, const struct expectation *expected) {
  return uses_prior(m) ? m->trust * expected->log_time : 0;
}

static void expect_time(struct model *m, const struct proposal *proposal, const double at[], struct expectation *out) {
  *out = m->prior ? prior_expect(m->prior, proposal, at) : (struct expectation){.source = -1, .chance = 1};
}

static int compare_times(const void *left, const void *right) {
  const struct point *a = *(struct point *const *)left, *b = *(struct point *const *)right;
  return (a->log_time > b->log_time) - (a->log_time < b->log_time);
}

/* List the points of one standing. */
static long list_standing(struct model *m, enum standing standing, struct point **out) {
  long count = 0;
  for (long i = 0; i < m->point_count; i++) {
    if (m->points[i].standing == standing) out[count++] = &m->points[i];
  }
  return count;
}

static void add_to_times(struct model *m, struct point *point, double log_time) {
  const double value = clipped_time(m, log_time) - trend_of(m, &point->expected);
  point->in_process = gaussian_add(m->times, point->at, value) ? gaussian_count(m->times) - 1 : -1;
}

/* Put timed variants into the process: in turns the best one that is left, and one of an even sample of the others.
 * The first ones, to which length scales are fitted, are then of both kinds. */
static void add_timed(struct model *m, struct point **timed, long count) {
  const long most = count < KEPT_POINTS ? count : KEPT_POINTS, others = most / 2, best = most - others;
  for (long i = 0; i < best; i++) {
    add_to_times(m, timed[i], timed[i]->log_time);
    if (i >= others) continue;
    struct point *other = timed[best + i * (count - best) / others];
    add_to_times(m, other, other->log_time);
  }
}

static void predict_waiting(struct model *m, struct point *point) {
  double solved[GAUSSIAN_MOST_POINTS], deviation;
  struct gaussian_place place = {.at = point->at, .solved = solved, .generation = -1};
  gaussian_predict(m->times, &place, &point->guess, &deviation);
  point->guess += trend_of(m, &point->expected);
}

/* Find how much a difference of the prior means here, by least squares. The more the results differ from the prior,
 * the more the factor is drawn towards 1. */
static void fit_trust(struct model *m, struct point **timed, long count) {
  static const double deviation = 0.3; /* deviation of the trust before anything is known */
  double mean_time = 0, mean_prior = 0, squares = 0, products = 0, rest = 0;
  if (!m->prior || count == 0) return;
  for (long i = 0; i < count; i++) {
    mean_time += clipped_time(m, timed[i]->log_time) / (double)count;
    mean_prior += timed[i]->expected.log_time / (double)count;
  }
  for (long i = 0; i < count; i++) {
    const double time = clipped_time(m, timed[i]->log_time) - mean_time,
                 prior = timed[i]->expected.log_time - mean_prior;
    squares += prior * prior;
    products += prior * time;
    rest += (time - prior) * (time - prior) / (double)count;
  }
  const double draw = rest / (deviation * deviation);
  if (squares + draw > 0) m->trust = fmin(fmax((products + draw) / (squares + draw), 0), 1.5);
}

/* Fit the process of times to what is known. */
static void fit_times(struct model *m, struct point **list) {
  for (long i = 0; i < m->point_count; i++) m->points[i].in_process = -1;
  gaussian_clear(m->times);
  const long timed = list_standing(m, TIMED, list);
  qsort(list, (size_t)timed, sizeof *list, compare_times);
  fit_trust(m, list, timed);
  add_timed(m, list, timed);
  m->is_fitted = gaussian_fit(m->times, FIT_POINTS, m->is_fitted && m->fits != BLIND_EVERY ? MORE_STEPS : FIRST_STEPS);
  if (!m->is_fitted) return;
  const long waiting = list_standing(m, WAITING, list);
  for (long i = 0; i < waiting; i++) {
    predict_waiting(m, list[i]);
    add_to_times(m, list[i], list[i]->guess);
  }
}

/* Fit the process of successes, if some variants failed: 1 for each that has a time, 0 for each that failed; the newest
 * ones if there are too many. */
static void fit_successes(struct model *m) {
  long kept[2] = {0};
  gaussian_clear(m->successes);
  if (m->failed == 0 && !uses_prior(m)) return;
  for (long i = m->point_count - 1; i >= 0; i--) {
    const struct point *point = &m->points[i];
    const bool has_time = point->standing == TIMED;
    if (point->standing == WAITING || kept[has_time]++ >= KEPT_POINTS / 2) continue;
    gaussian_add(m->successes, point->at, has_time - (uses_prior(m) ? point->expected.chance : 0));
  }
  gaussian_fit(m->successes, FIT_POINTS, MORE_STEPS);
}

static halotune_status fit_models(struct model *m) {
  struct point **list = malloc((size_t)(m->point_count + 1) * sizeof *list);
  if (!list) return fail_memory();
  use_processes(m, m->prior && ++m->fits % BLIND_EVERY == 0);
  fit_times(m, list);
  fit_successes(m);
  free(list);
  m->is_pool_old = true;
  const long results = m->timed + m->failed, more = 4 + results / 8;
  m->next_fit = results + (more < FIT_MOST ? more : FIT_MOST);
  return HALOTUNE_OK;
}

/* Let the strategy "local" continue. It is told that the variants in flight failed, so that it does not propose them
 * again. */
static halotune_status give_up(struct model *m, const char *reason) {
  snprintf(m->remark, sizeof m->remark, "the model of times was given up (%s); the strategy 'local' went on", reason);
  halotune_status status = strategy_local.open(m->space, m->seed, &m->local);
  for (long i = 0; i < m->point_count && status == HALOTUNE_OK; i++) {
    const struct point *point = &m->points[i];
    status =
        strategy_local.tell(m->local, &point->proposal, point->standing == TIMED ? exp(point->log_time) : INFINITY);
  }
  return status;
}

/* --- candidates -------------------------------------------------------------------------------------------------- */

/* Add a candidate, unless it was proposed before or is a candidate already. */
static halotune_status pool_add(struct model *m, const struct proposal *proposal) {
  bool is_new;
  if (m->candidate_count == CANDIDATES || visited_has(&m->visited, m->space, proposal)) return HALOTUNE_OK;
  halotune_status status = visited_add(&m->pooled, m->space, proposal, &is_new);
  if (status != HALOTUNE_OK || !is_new) return status;
  struct candidate *c = &m->candidates[m->candidate_count++];
  c->proposal = *proposal;
  c->is_taken = false;
  c->time = (struct gaussian_place){.at = c->at, .solved = c->solved[0], .generation = -1};
  c->success = (struct gaussian_place){.at = c->at, .solved = c->solved[1], .generation = -1};
  coordinates_write(&m->coordinates, m->space, proposal, c->at);
  expect_time(m, proposal, c->at, &c->expected);
  return HALOTUNE_OK;
}

struct pooling {
  struct model *model;
  int template;
  halotune_status status;
};

static void pool_neighbour(void *context, const struct configuration *configuration) {
  struct pooling *pooling = context;
  struct model *m = pooling->model;
  const struct proposal proposal = {.template_index = pooling->template, .configuration = *configuration};
  if (m->space->only && !visited_has(&m->only, m->space, &proposal)) return;
  if (pooling->status == HALOTUNE_OK) pooling->status = pool_add(m, &proposal);
}

static halotune_status pool_neighbours(struct model *m, const struct point *centre) {
  const int index = centre->proposal.template_index;
  struct pooling pooling = {.model = m, .template = index};
  neighbours_visit(&m->space->bindings[index], space_fixed(m->space, index), &centre->proposal.configuration,
                   pool_neighbour, &pooling);
  return pooling.status;
}

/* The neighbours of the best variants, and of the best one of each template that is not much slower. */
static halotune_status pool_near(struct model *m, struct point **list) {
  const long timed = list_standing(m, TIMED, list);
  halotune_status status = HALOTUNE_OK;
  qsort(list, (size_t)timed, sizeof *list, compare_times);
  for (long i = 0; i < timed && status == HALOTUNE_OK; i++) {
    const int template = list[i]->proposal.template_index;
    const bool is_first = list[i]->log_time == m->best.best_of[template];
    if (i < CENTRES || (is_first && template_is_near(&m->best, template))) status = pool_neighbours(m, list[i]);
  }
  return status;
}

/* The best of the prior that were not proposed. */
static halotune_status pool_known(struct model *m) {
  halotune_status status = HALOTUNE_OK;
  const int most = m->candidate_count + MOST_KNOWN;
  const struct known_variant *known;
  for (long i = m->known_next; m->prior && m->candidate_count < most && status == HALOTUNE_OK; i++) {
    if (!(known = prior_fastest(m->prior, i))) break;
    if (m->space->only && !visited_has(&m->only, m->space, &known->proposal)) continue;
    status = pool_add(m, &known->proposal);
    if (m->candidate_count == CANDIDATES) break;
  }
  return status;
}

/* Add random variants until the pool is full, each time other ones. Those of templates that are far behind are left
 * out. */
static halotune_status pool_random(struct model *m) {
  halotune_status status = HALOTUNE_OK;
  for (long seen = 0; seen < m->drawn.count && m->candidate_count < CANDIDATES && status == HALOTUNE_OK; seen++) {
    const struct proposal *proposal = &m->drawn.list[m->pool_next++ % m->drawn.count];
    if (!template_is_far_behind(&m->best, proposal->template_index)) status = pool_add(m, proposal);
  }
  return status;
}

static halotune_status pool_fill(struct model *m) {
  struct point **list = malloc((size_t)(m->point_count + 1) * sizeof *list);
  if (!list) return fail_memory();
  m->candidate_count = m->asked = 0;
  m->is_pool_old = false;
  visited_free(&m->pooled);
  halotune_status status = pool_near(m, list);
  if (status == HALOTUNE_OK) status = pool_known(m);
  if (status == HALOTUNE_OK) status = pool_random(m);
  free(list);
  return status;
}

/* --- proposals --------------------------------------------------------------------------------------------------- */

/* How much a variant is expected to improve on the best: the mean of a normal distribution's part above 0. */
static double expected_gain(double mean, double deviation, double best) {
  if (deviation <= 0) return fmax(best - mean, 0);
  const double z = (best - mean) / deviation;
  return deviation * (z * 0.5 * erfc(-z * M_SQRT1_2) + exp(-z * z / 2) * (M_2_SQRTPI * M_SQRT1_2 / 2));
}

/* The probability that a variant works: that a prediction between 0 and 1 is above a half. */
static double chance_of(struct model *m, struct candidate *c) {
  double mean = 1, deviation = 0;
  if (gaussian_count(m->successes) == 0 && !uses_prior(m)) return 1;
  if (gaussian_count(m->successes) > 0) gaussian_predict(m->successes, &c->success, &mean, &deviation);
  else mean = 0;
  if (uses_prior(m)) mean += c->expected.chance;
  return 0.5 * erfc(-(mean - 0.5) / (deviation + 0.15) * M_SQRT1_2);
}

/* What is expected of a candidate. */
struct outlook {
  double mean, deviation, chance; /* mean and deviation of the logarithm of its time; chance that it works */
  double gain;
};

static struct candidate *find_best(struct model *m, struct outlook *out) {
  struct candidate *best = NULL;
  *out = (struct outlook){.gain = 0};
  for (int i = 0; i < m->candidate_count; i++) {
    struct candidate *c = &m->candidates[i];
    struct outlook here;
    if (c->is_taken) continue;
    gaussian_predict(m->times, &c->time, &here.mean, &here.deviation);
    here.mean += trend_of(m, &c->expected);
    here.chance = chance_of(m, c);
    here.gain = expected_gain(here.mean, here.deviation, m->best.best_log_time) * here.chance;
    if (best && here.gain <= out->gain) continue;
    best = c;
    *out = here;
  }
  return best;
}

/* Say what is expected of a candidate, and what of that is from other problems. */
static void explain_choice(struct model *m, const struct candidate *c, const struct outlook *outlook) {
  char known[128] = "";
  if (uses_prior(m) && c->expected.source >= 0)
    snprintf(known, sizeof known, "; known from %.100s", m->space->known.sources[c->expected.source]);
  else if (uses_prior(m) && prior_is_measured(m->prior))
    snprintf(known, sizeof known, "; other problems know variants like it");
  else if (uses_prior(m) && space_estimates_work(m->space, c->proposal.template_index))
    snprintf(known, sizeof known, "; the template estimates its work");
  else if (uses_prior(m)) snprintf(known, sizeof known, "; its bytes, loads and blocks count in advance");
  snprintf(m->why, sizeof m->why, "expected: %.4g ms +- %.2g %%, a gain of %.2g %%, %.0f %% likely to work%s",
           exp(outlook->mean), 100 * outlook->deviation, 100 * outlook->gain, 100 * outlook->chance, known);
}

static struct point *point_find(struct model *m, const struct proposal *proposal) {
  for (long i = m->point_count - 1; i >= 0; i--) {
    if (proposal_equals(m->space, &m->points[i].proposal, proposal)) return &m->points[i];
  }
  return NULL;
}

/* Remember a variant. NULL when memory is out. */
static struct point *point_add(struct model *m, const struct proposal *proposal) {
  if (!array_room(m->points, m->point_count, m->point_capacity)) return NULL;
  struct point *point = &m->points[m->point_count++];
  *point = (struct point){.proposal = *proposal, .standing = WAITING, .in_process = -1};
  coordinates_write(&m->coordinates, m->space, proposal, point->at);
  expect_time(m, proposal, point->at, &point->expected);
  return point;
}

/* A variant is in flight: it counts with its predicted time. */
static halotune_status wait_for(struct model *m, const struct proposal *proposal, bool is_random) {
  struct point *point = point_add(m, proposal);
  if (!point) return fail_memory();
  point->is_random = is_random;
  if (!m->is_fitted || gaussian_count(m->times) == GAUSSIAN_MOST_POINTS) return HALOTUNE_OK;
  predict_waiting(m, point);
  add_to_times(m, point, point->guess);
  return HALOTUNE_OK;
}

/* Each function next_... proposes a variant that was not proposed before, if there is one. */
static halotune_status next_hint(struct model *m, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && !*have && m->hint_next < m->space->hint_count) {
    snprintf(m->why, sizeof m->why, "%s", space_hint_why(m->space, m->hint_next));
    *out = m->space->hints[m->hint_next++];
    status = visited_add(&m->visited, m->space, out, have);
  }
  return status;
}

/* Propose the fastest variant of the prior. */
static halotune_status next_known(struct model *m, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  const struct known_variant *known;
  while (m->prior && status == HALOTUNE_OK && !*have && (known = prior_fastest(m->prior, m->known_next))) {
    m->known_next++;
    *out = known->proposal;
    snprintf(m->why, sizeof m->why, "among the best of %.100s", m->space->known.sources[known->source]);
    if (!m->space->only || visited_has(&m->only, m->space, out)) status = visited_add(&m->visited, m->space, out, have);
  }
  return status;
}

/* Templates that are far behind come last. */
static halotune_status next_of_list(struct model *m, struct proposal_list *drawn, long *next, struct proposal *out,
                                    bool *have) {
  halotune_status status = HALOTUNE_OK;
  struct proposal *list = drawn->list;
  while (status == HALOTUNE_OK && !*have && *next < drawn->count) {
    long at = *next;
    while (at < drawn->count && template_is_far_behind(&m->best, list[at].template_index)) at++;
    if (at == drawn->count) at = *next;
    *out = list[at];
    list[at] = list[*next];
    list[(*next)++] = *out;
    status = visited_add(&m->visited, m->space, out, have);
  }
  return status;
}

static halotune_status next_light(struct model *m, struct proposal *out, bool *have) {
  halotune_status status = next_of_list(m, &m->light, &m->light_next, out, have);
  if (*have)
    snprintf(m->why, sizeof m->why, "%s",
             space_estimates_work(m->space, out->template_index) ? "little work, by its template's estimate"
                                                                 : "random, the one of two that should cost less");
  return status;
}

static halotune_status next_random(struct model *m, struct proposal *out, bool *have) {
  snprintf(m->why, sizeof m->why, "random");
  return next_of_list(m, &m->drawn, &m->drawn_next, out, have);
}

/* Whether the search should end: little gain is expected, and random variants gained nothing. */
static bool is_over(struct model *m, double gain) {
  m->low_gains = gain * NEXT_VARIANTS < least_gain ? m->low_gains + 1 : 0;
  if (m->low_gains < LOW_GAINS || m->checks < CHECKS) return false;
  snprintf(m->remark, sizeof m->remark,
           "the search ended early: the next %d variants together were expected to gain less than %.1f %%",
           NEXT_VARIANTS, least_gain * 100);
  return true;
}

static halotune_status next_expected(struct model *m, struct proposal *out, bool *have) {
  halotune_status status = HALOTUNE_OK;
  struct outlook outlook;
  if (m->timed + m->failed >= m->next_fit) status = fit_models(m);
  if (status == HALOTUNE_OK && !m->is_fitted) status = give_up(m, "times are equal, or their matrix is singular");
  if (status != HALOTUNE_OK || m->local) return status;
  if (m->is_pool_old || m->asked >= ASKED_OF_ONE) status = pool_fill(m);
  if (status != HALOTUNE_OK) return status;
  struct candidate *best = find_best(m, &outlook);
  if (!best) return HALOTUNE_OK;
  m->is_over = is_over(m, outlook.gain);
  if (m->is_over) return HALOTUNE_OK;
  explain_choice(m, best, &outlook);
  m->asked++;
  best->is_taken = true;
  *out = best->proposal;
  return visited_add(&m->visited, m->space, out, have);
}

/* Propose a variant by the model. */
static halotune_status next_of_model(struct model *m, struct proposal *out, bool *have) {
  const long number = m->proposed++;
  const bool is_first = number < m->first || m->timed < FEWEST_TIMED;
  const bool is_random = is_first || number % RANDOM_EVERY == 0;
  halotune_status status = next_hint(m, out, have);
  /* The first variants are those that were fast on other problems. If fewer than FEWEST_TIMED of them work, every
   * second one after them is random. */
  if (status == HALOTUNE_OK && !*have && is_first && (number < m->first || number % 2)) {
    status = next_known(m, out, have);
  }
  if (status == HALOTUNE_OK && !*have && !is_random) status = next_expected(m, out, have);
  if (status != HALOTUNE_OK || m->local || m->is_over) return status;
  const bool is_known = *have;
  if (!*have && is_first) status = next_light(m, out, have);
  const bool is_light = !is_known && *have && space_estimates_work(m->space, out->template_index);
  if (status == HALOTUNE_OK && !*have) status = next_random(m, out, have);
  return status == HALOTUNE_OK && *have ? wait_for(m, out, !is_known && !is_light) : status;
}

static halotune_status model_next(void *opened, struct proposal *out, bool *have) {
  struct model *m = opened;
  halotune_status status = HALOTUNE_OK;
  *have = false;
  if (!m->local && m->timed < FEWEST_TIMED && m->timed + m->failed >= HOPELESS_AFTER)
    status = give_up(m, "too few variants work");
  if (status == HALOTUNE_OK && !m->local) status = next_of_model(m, out, have);
  if (status != HALOTUNE_OK || !m->local) return status;
  snprintf(m->why, sizeof m->why, "local");
  return strategy_local.next(m->local, out, have);
}

/* Count random variants that were not faster than the best. */
static void note_check(struct model *m, const struct point *point) {
  if (m->best.best_log_time < m->checked_best - least_gain) {
    m->checked_best = m->best.best_log_time;
    m->checks = m->low_gains = 0;
  } else {
    m->checks += point->is_random;
  }
}

static halotune_status model_tell(void *opened, const struct proposal *proposal, double time_ms) {
  struct model *m = opened;
  halotune_status status = visited_add(&m->visited, m->space, proposal, NULL);
  struct point *point = point_find(m, proposal);
  if (!point) point = point_add(m, proposal);
  if (status != HALOTUNE_OK || !point) return status == HALOTUNE_OK ? fail_memory() : status;
  point->standing = isfinite(time_ms) ? TIMED : FAILED;
  m->timed += isfinite(time_ms);
  m->failed += !isfinite(time_ms);
  if (m->local && (status = strategy_local.tell(m->local, proposal, time_ms)) != HALOTUNE_OK) return status;
  if (!isfinite(time_ms)) {
    note_check(m, point);
    return HALOTUNE_OK;
  }
  point->log_time = log(time_ms);
  if (template_times_add(&m->best, proposal->template_index, point->log_time)) m->is_pool_old = true;
  if (point->in_process >= 0)
    gaussian_change(m->times, point->in_process, clipped_time(m, point->log_time) - trend_of(m, &point->expected));
  else if (m->is_fitted) add_to_times(m, point, point->log_time);
  note_check(m, point);
  return HALOTUNE_OK;
}

static const char *model_why(const void *opened) { return ((const struct model *)opened)->why; }

static const char *model_remark(const void *opened) { return ((const struct model *)opened)->remark; }

const struct strategy strategy_model = {.name = "model",
                                        .about = "what a model of all results expects to be fastest",
                                        .takes_hints = true,
                                        .takes_known = true,
                                        .ends_early = true,
                                        .open = model_open,
                                        .next = model_next,
                                        .tell = model_tell,
                                        .why = model_why,
                                        .remark = model_remark,
                                        .close = model_close};
