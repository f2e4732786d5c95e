/* bench_protocol_test.c: the whole protocol, search phase and finals, finds the best variant on a GPU with each kind of
 * noise. */
#include <stdlib.h>

#include "tests/unit/measure/bench_model.h"
#include "tests/unit/unit.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/sampling/anchor.h"

enum { VARIANTS = 300, SEEDS = 100, GOOD_SEEDS = 95, DEFAULT = 0, ANCHOR_SLOT = 0, TEST_SLOT = 1 };
#define GOOD_RATIO 1.005

struct session {
  struct model model;
  struct backend_handle backend;
  struct time_source time;
  struct anchor *anchor;
  struct final_candidate candidates[VARIANTS];
  double best_ms;            /* divided by the anchor's scale */
  double first_ms[VARIANTS]; /* median of the first measurement */
};

/* Of 300 variants about 5 are within 0.5 % of the best, 20 within 3 %, and the slowest take twice as long. */
static void true_times(struct model *model) {
  for (int i = 0; i < VARIANTS; i++) {
    model->true_ms[i] = 0.3 * (1 + pow(model_uniform(model), 1.3));
    model->clock_share[i] = 0.6 + 0.4 * model_uniform(model);
  }
  model->true_ms[DEFAULT] = 0.42;
}

static void measure_one(struct session *session, int variant) {
  struct model *model = &session->model;
  struct final_candidate *candidate = &session->candidates[variant];
  struct verdict verdict;
  struct measured measured;
  if (model_uniform(model) < 0.05) model_idle(model, 200); /* the compiler was slower than the GPU */
  if (anchor_due(session->anchor)) CHECK_OK(anchor_take(session->anchor, &verdict));
  if (variant != DEFAULT) model_load(model, TEST_SLOT, variant);
  const struct measure_request request = {
      .slot = variant == DEFAULT ? ANCHOR_SLOT : TEST_SLOT,
      .best_ms = variant == DEFAULT ? 0 : session->best_ms * anchor_scale(session->anchor, 0)};
  CHECK_OK(measure_slot(&session->backend, &request, &measured));
  CHECK(outcome_has_time(measured.verdict.outcome), "variant %d", variant);
  anchor_busy(session->anchor);
  CHECK_OK(anchor_cover(session->anchor, variant + 1, measured.is_marked));
  if (session->first_ms[variant] == 0) session->first_ms[variant] = measured.timing.median_ms;
  *candidate = (struct final_candidate){.outcome = measured.verdict.outcome,
                                        .median_ms = measured.timing.median_ms,
                                        .minimum_ms = measured.timing.minimum_ms,
                                        .registers = 32 + (int)(random_bits(model->seed, (uint64_t)variant) % 64),
                                        .order = variant,
                                        .is_default = variant == DEFAULT};
  const double time_ms = measured.timing.median_ms / anchor_scale(session->anchor, 0);
  if (measured.verdict.outcome == OUTCOME_MEASURED && !measured.is_marked &&
      (session->best_ms == 0 || time_ms < session->best_ms)) {
    session->best_ms = time_ms;
  }
  measured_free(&measured);
}

static void search(struct session *session) {
  struct verdict verdict;
  long again;
  model_load(&session->model, ANCHOR_SLOT, DEFAULT);
  CHECK_OK(anchor_make(&session->backend, ANCHOR_SLOT, &session->time, &verdict, &session->anchor));
  for (int i = 0; i < VARIANTS; i++) {
    measure_one(session, i);
    while ((again = anchor_next_again(session->anchor)) != 0) measure_one(session, (int)again - 1);
  }
  do {
    CHECK_OK(anchor_take(session->anchor, &verdict));
    while ((again = anchor_next_again(session->anchor)) != 0) measure_one(session, (int)again - 1);
  } while (anchor_due(session->anchor));
  CHECK_OK(anchor_take(session->anchor, &verdict));
  for (int i = 0; i < VARIANTS; i++) session->candidates[i].scale = anchor_scale(session->anchor, i + 1);
}

static halotune_status load_candidate(void *state, int candidate, int slot, struct verdict *verdict) {
  model_load(&((struct session *)state)->model, slot, candidate);
  verdict->outcome = OUTCOME_MEASURED;
  return HALOTUNE_OK;
}

/* True times over the best one: of the winner, and of the variant with the lowest median in a single pass. */
struct choice {
  double protocol, single_pass;
};

static double single_pass(const struct session *session) {
  int best = 0;
  for (int i = 0; i < VARIANTS; i++) {
    if (session->first_ms[i] < session->first_ms[best]) best = i;
  }
  return session->model.true_ms[best];
}

static struct choice run_session(enum model_noise noise, uint64_t seed) {
  struct session *session = calloc(1, sizeof *session);
  struct finals finals;
  assert_non_null(session);
  model_make(&session->model, noise, 1000 * (uint64_t)noise + seed);
  session->backend = model_handle(&session->model);
  session->time = model_time(&session->model);
  true_times(&session->model);
  search(session);
  const int roof = SLOT_MEMCPY;
  const struct finals_request request = {.backend = &session->backend,
                                         .time = session->time,
                                         .seed = seed,
                                         .budget_ms = finals_budget_ms(20e3),
                                         .scale = anchor_scale(session->anchor, 0),
                                         .candidates = session->candidates,
                                         .candidate_count = VARIANTS,
                                         .roofs = &roof,
                                         .roof_count = 1,
                                         .load = load_candidate,
                                         .state = session};
  CHECK_OK(finals_run(&request, &finals));
  CHECK(finals.ranked > 0, "%s, seed %d", noise_names[noise], (int)seed);
  double best_ms = INFINITY;
  for (int i = 0; i < VARIANTS; i++) best_ms = fmin(best_ms, session->model.true_ms[i]);
  const struct choice choice = {.protocol = session->model.true_ms[finals.entries[0].candidate] / best_ms,
                                .single_pass = single_pass(session) / best_ms};
  if (getenv("BENCH_VERBOSE")) {
    printf("# %s %d: %.4f, %.1f s, %ld samples, %d entrants\n", noise_names[noise], (int)seed, choice.protocol,
           session->model.now_ms / 1e3, session->model.samples, finals.count);
  }
  finals_free(&finals);
  anchor_free(session->anchor);
  free(session);
  return choice;
}

TEST(the_winner_is_within_half_a_percent_of_the_best) {
  for (int noise = NOISE_NONE; noise < NOISE_COUNT; noise++) {
    int good = 0, single_pass_good = 0;
    double worst = 1;
    for (int seed = 0; seed < SEEDS; seed++) {
      const struct choice choice = run_session((enum model_noise)noise, (uint64_t)seed);
      good += choice.protocol <= GOOD_RATIO;
      single_pass_good += choice.single_pass <= GOOD_RATIO;
      worst = fmax(worst, choice.protocol);
    }
    print_message("# %s: %d of %d, the worst is %.2f %% slower; a single pass: %d\n", noise_names[noise], good, SEEDS,
                  100 * (worst - 1), single_pass_good);
    CHECK(good >= GOOD_SEEDS, "%s: %d of %d", noise_names[noise], good, SEEDS);
    /* The noise is strong enough: on a GPU that changes during the run, one good measurement of each variant is not
     * enough. */
    const bool changes = noise == NOISE_CORRELATED || noise == NOISE_DRIFT;
    CHECK(!changes || single_pass_good < GOOD_SEEDS, "%s: a single pass is right %d times", noise_names[noise],
          single_pass_good);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_winner_is_within_half_a_percent_of_the_best)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
