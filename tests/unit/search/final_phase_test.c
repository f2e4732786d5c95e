/* final_phase_test.c: from variants with a time to the stored winner, on a backend that runs nothing. */
#include "db/store/query.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/search/finals/final_phase.h"
#include "tuner/search/finals/leave_copies.h"

enum { VARIANTS = 3, MANY = 140 };

/* The words that tell one of few variants from another. The first one is the fastest, the last one the default. */
static const char *const changes[VARIANTS] = {"z_slicing=16", "z_slicing=32", "z_slicing=64"};
static const double few_ms[VARIANTS] = {0.2, 0.202, 0.204};

struct final_case {
  struct bench_case bench;
  struct backend_handle backend;
  struct store *store;
  struct task task;
  struct bindings bindings;
  struct search_space space;
  struct schedule schedule;
  struct run_rows rows;
  struct roof_inputs roof;
  struct pipeline *pipeline;
  struct timed_list timed;
  struct twins twins;
  struct tally tally;
  struct configuration configurations[MANY]; /* of each variant */
  double times_ms[MANY];
  int count;
  int in_slot[BACKEND_ALL_SLOTS]; /* the variant in each slot */
  double now_ms;
  int questions_left; /* for the time, until the user stops the run; 0: the user never does */
  volatile sig_atomic_t stop;
  int loads;
  bool forgets_rules; /* once a variant was loaded, no other can be generated any more */
  int cancelled;      /* the load of this number is cancelled, because the user stops the run; 0: none is */
  int wrong;          /* so many of the first variants are wrong on the second grid */
  double second_ms;   /* time of a run on the second grid. In the first one the user stops the run. 0: nobody does */
  long long drawn_points; /* if not 0, the user stops the run in the comparison at all points */
  /* What the crew was told. */
  int finalists[VARIANTS], won_count, won; /* variants */
};

static halotune_status set_problem(void *state, const struct backend_problem *problem) {
  (void)state, (void)problem;
  return HALOTUNE_OK;
}

/* The number of a variant. */
static int number_of_variant(const struct final_case *c, const struct configuration *configuration) {
  for (int i = 0; i < c->count; i++) {
    if (memcmp(&c->configurations[i], configuration, sizeof *configuration) == 0) return i;
  }
  return -1;
}

static halotune_status load_variant(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct final_case *c = state;
  const bool is_own_grid = candidate->spec->domain.grid.n[0] == c->task.grid.n[0];
  if (++c->loads == c->cancelled) {
    c->stop = 1;
    return fail(HALOTUNE_CANCELLED, "stopped");
  }
  if (!is_own_grid && c->second_ms > 0) c->stop = 1;
  if (!is_own_grid) c->now_ms += c->second_ms;
  c->in_slot[slot] = number_of_variant(c, &candidate->spec->configuration);
  const bool is_wrong = !is_own_grid && c->in_slot[slot] < c->wrong;
  verdict_say(verdict, is_wrong ? OUTCOME_WRONG : OUTCOME_MEASURED, is_wrong ? "1 point is wrong" : "");
  if (c->forgets_rules) c->task.limits.max_threads = 1;
  return HALOTUNE_OK;
}

static halotune_status unload(void *state, int slot) {
  (void)state, (void)slot;
  return HALOTUNE_OK;
}

static halotune_status sample(void *state, const struct sample_plan *plan, double *samples_ms, int *failed,
                              struct verdict *verdict) {
  struct final_case *c = state;
  *failed = -1;
  verdict_say(verdict, OUTCOME_MEASURED, "");
  for (int i = 0; i < plan->rounds * plan->slot_count; i++) {
    const int slot = plan->slots[i % plan->slot_count];
    samples_ms[i] = slot < BACKEND_SLOTS ? c->times_ms[c->in_slot[slot]] : 0.1;
    c->now_ms += samples_ms[i];
  }
  return HALOTUNE_OK;
}

static halotune_status recheck(void *state, int slot, struct verdict *verdict) {
  (void)state, (void)slot;
  verdict_say(verdict, OUTCOME_MEASURED, "");
  return HALOTUNE_OK;
}

static long long drawn_points(void *state) { return ((const struct final_case *)state)->drawn_points; }

static halotune_status verify_all(void *state, int slot, struct verdict *verdict) {
  (void)slot, (void)verdict;
  ((struct final_case *)state)->stop = 1;
  return fail(HALOTUNE_CANCELLED, "stopped");
}

static int one_other(void *state) { return (void)state, 1; }

static halotune_status keep_warm(void *state, double time_ms) {
  ((struct final_case *)state)->now_ms += time_ms;
  return HALOTUNE_OK;
}

static double now(void *state) {
  struct final_case *c = state;
  if (c->questions_left > 0 && --c->questions_left == 0) c->stop = 1;
  return c->now_ms;
}

static const struct backend still_backend = {.name = "still",
                                             .set_problem = set_problem,
                                             .load = load_variant,
                                             .unload = unload,
                                             .sample = sample,
                                             .recheck = recheck,
                                             .read = backend_read_nothing,
                                             .drawn_points = drawn_points,
                                             .verify_all = verify_all,
                                             .keep_warm = keep_warm,
                                             .others = one_other,
                                             .now_ms = now};

/* Store a variant's result, and list it among those with a time. */
static void put_variant(struct final_case *c, const struct configuration *configuration, double time_ms,
                        bool is_default) {
  struct proposal proposal;
  struct trial *trial;
  const int i = c->count++;
  memset(&proposal, 0, sizeof proposal);
  proposal.configuration = c->configurations[i] = *configuration;
  c->times_ms[i] = time_ms;
  CHECK_OK(trial_begin(&c->task, c->bench.template, &proposal, &c->task.grid, &trial));
  struct measurement measurement = case_measurement(i + 1);
  measurement.timing.median_ms = time_ms;
  struct timed_variant timed = {.proposal = proposal,
                                .number = i + 1,
                                .outcome = OUTCOME_MEASURED,
                                .median_ms = time_ms,
                                .minimum_ms = time_ms,
                                .scale = 1,
                                .registers = 40,
                                .is_default = is_default};
  const struct variant_key key = run_rows_key(&c->rows, trial);
  CHECK_OK(store_measurement(c->store, c->rows.run, &key, &measurement, &timed.variant));
  CHECK_OK(timed_put(&c->timed, &timed));
  c->tally.outcomes[OUTCOME_MEASURED]++;
  trial_free(trial);
}

/* Put a variant with these words. */
static void put_words(struct final_case *c, const char *words, double time_ms, bool is_default) {
  char set[256];
  snprintf(set, sizeof set,
           "storage=registers prefetch=none vector=1 block_x=32 block_y=8 points_y=1 unroll=1 cluster_y=1 band=0"
           " padding=0 load_path=plain streaming=none min_blocks=0 %s",
           words);
  const struct configuration configuration = configuration_of(c->bench.template, set);
  put_variant(c, &configuration, time_ms, is_default);
}

static void put_few(struct final_case *c) {
  for (int i = 0; i < VARIANTS; i++) put_words(c, changes[i], few_ms[i], i == VARIANTS - 1);
}

static bool put_one_of_many(void *context, const struct configuration *configuration) {
  struct final_case *c = context;
  put_variant(c, configuration, c->count == MANY - 1 ? 0.2 : 0.204, c->count == 0);
  return c->count < MANY;
}

/* Put the first variants of the space. The last one of these is the fastest. */
static void put_many(struct final_case *c) { space_walk(&c->bindings, NULL, NULL, put_one_of_many, c, NULL); }

static void case_open(struct final_case *c) {
  *c = (struct final_case){.now_ms = 0};
  case_load(&c->bench);
  CHECK_OK(store_open_memory(&c->store));
  case_put(&c->bench, c->store, 256);
  c->backend = (struct backend_handle){.table = &still_backend, .state = c};
  c->schedule = (struct schedule){.time = backend_time(&c->backend),
                                  .stop = &c->stop,
                                  .deadline_ms = INFINITY,
                                  .search_end_ms = INFINITY,
                                  .end_ms = INFINITY};
  c->task = (struct task){.stencil = c->bench.stencil,
                          .analysis = c->bench.analysis,
                          .grid = {{64, 48, 40}},
                          .coefficients = case_coefficients,
                          .limits = case_device.limits,
                          .arch = arch_find(9, 0),
                          .arch_name = "sm_90"};
  CHECK_OK(task_bindings(&c->task, c->bench.template, &c->bindings));
  c->space = (struct search_space){.templates = &c->bench.template, .bindings = &c->bindings, .count = 1};
  c->rows = (struct run_rows){.store = c->store,
                              .stencil = c->bench.stencil_id,
                              .problem = c->bench.problem,
                              .run = case_run(&c->bench, c->store, "580.1"),
                              .templates = &c->bench.template_id,
                              .driver = "580.1",
                              .warnings = "",
                              .nvrtc = "13.0"};
  CHECK_OK(pipeline_make(NULL, &c->pipeline));
  c->roof = (struct roof_inputs){.schedule = &c->schedule, .backend = &c->backend, .pipeline = c->pipeline};
}

static void case_close(struct final_case *c) {
  timed_free(&c->timed);
  twins_free(&c->twins);
  pipeline_free(c->pipeline);
  bindings_free(&c->bindings);
  store_close(c->store);
  case_free(&c->bench);
}

/* Run the phase.
 *   crew  NULL for none */
static void case_run_finals(struct final_case *c, const struct crew *crew, struct final_winner *out) {
  const struct final_inputs in = {.task = &c->task,
                                  .space = &c->space,
                                  .schedule = &c->schedule,
                                  .rows = &c->rows,
                                  .twins = &c->twins,
                                  .roof = &c->roof,
                                  .scale = 1,
                                  .memcpy_ms = 0.125,
                                  .seed = 1,
                                  .backend = &c->backend,
                                  .pipeline = c->pipeline,
                                  .crew = crew,
                                  .timed = &c->timed,
                                  .tally = &c->tally};
  char reason[256] = "";
  *out = (struct final_winner){.exists = false};
  CHECK_OK(final_phase_run(&in, NULL, out, reason));
  CHECK_EQ(c->wrong < c->count && (!c->stop || c->second_ms > 0), out->exists, "%s", reason);
}

/* A finalist that could not be compiled once more, as where the compiler crashes, would end the task without a
 * winner. */
TEST(a_winner_is_stored_as_it_was_compiled_for_the_rounds) {
  struct final_winner winner;
  struct final_case c;
  case_open(&c);
  put_few(&c);
  c.backend.facts.is_recording = true; /* it has no second grid, which is compiled after the rounds */
  c.forgets_rules = true;
  case_run_finals(&c, NULL, &winner);
  CHECK(strstr(winner.parameters, changes[0]), "the fastest: %s", winner.parameters);
  CHECK_EQ(1, number_of(c.store, "select count(*) from best where is_current and source like '%__global__%'"),
           "with its source");
  CHECK_EQ(1, number_of(c.store, "select count(*) from run where memcpy_ms = 0.125"), "the copy before the search");
  case_close(&c);
}

/* All of these may enter by their times, more than can enter. Those that are not compiled before the first is loaded
 * cannot be compiled any more. */
TEST(the_fastest_are_compiled_before_the_first_is_loaded) {
  struct final_winner winner;
  struct final_case c;
  case_open(&c);
  put_many(&c);
  CHECK_EQ(MANY, c.count, "the space has as many");
  c.backend.facts.is_recording = true;
  c.forgets_rules = true;
  case_run_finals(&c, NULL, &winner);
  CHECK_NEAR(0.2, winner.timing.median_ms, 1e-6, "the fastest, whatever its place in the space");
  case_close(&c);
}

static halotune_status finals_begin(void *state, const struct proposal *proposals, int count, uint64_t seed) {
  struct final_case *c = state;
  (void)seed;
  for (int i = 0; i < count; i++) c->finalists[i] = number_of_variant(c, &proposals[i].configuration);
  return HALOTUNE_OK;
}

static halotune_status finals_take(void *state, const double *own_ms, double *ratio) {
  return (void)state, (void)own_ms, (void)ratio, HALOTUNE_OK;
}

static void take_winner(void *state, int finalist, double own_ms, struct text *words) {
  struct final_case *c = state;
  c->won = c->finalists[finalist];
  c->won_count++;
  text_printf(words, "won with %g ms\n", own_ms);
}

/* A finalist that is wrong on the second grid is no winner, whatever its time on other GPUs. */
TEST(a_crew_is_told_the_winner_after_its_last_checks) {
  static const struct crew_table table = {.finals_begin = finals_begin, .finals_take = finals_take, .won = take_winner};
  for (int wrong = 0; wrong <= VARIANTS; wrong++) {
    struct final_winner winner;
    struct final_case c;
    char want[96];
    case_open(&c);
    put_few(&c);
    const struct crew crew = {&table, &c};
    c.wrong = wrong;
    c.won = -1;
    case_run_finals(&c, &crew, &winner);
    const bool exists = wrong < VARIANTS;
    CHECK_EQ(exists, c.won_count, "%d wrong: told once, or never", wrong);
    CHECK_EQ(exists ? wrong : -1, c.won, "%d wrong: the first that is right", wrong);
    snprintf(want, sizeof want, "select count(*) from run where warnings like '%%won with %g ms%%'",
             exists ? few_ms[wrong] : 0);
    CHECK_EQ(exists, number_of(c.store, want), "%d wrong: the run has the crew's words", wrong);
    case_close(&c);
  }
}

/* The first question is the phase's own, before it begins. */
TEST(finals_that_are_stopped_before_their_rounds_load_nothing) {
  for (int questions = 1; questions <= VARIANTS; questions++) {
    struct final_winner winner;
    struct final_case c;
    case_open(&c);
    put_few(&c);
    c.questions_left = questions;
    case_run_finals(&c, NULL, &winner);
    CHECK_EQ(0, c.loads, "stopped after question %d", questions);
    CHECK(pipeline_is_empty(c.pipeline), "no compile is left");
    CHECK_EQ(1, number_of(c.store, "select count(*) from run where state = 'partial' and reason = 'interrupted'"),
             "the run says why it ended");
    case_close(&c);
  }
}

/* A run that was stopped after its rounds began has what they measured, and their warnings. */
static void check_stopped_run(const struct final_case *c) {
  CHECK_EQ(1, number_of(c->store, "select count(*) from run where state = 'partial' and reason = 'interrupted'"),
           "the run says why it ended");
  CHECK_EQ(1, number_of(c->store, "select count(*) from run where abs(empty_ms - 0.1) < 1e-6 and memcpy_ms > 0"),
           "an empty kernel, and a copy");
  CHECK_EQ(1, number_of(c->store, "select count(*) from run where warnings like '1 other process computed on%'"),
           "a warning of the finals");
}

TEST(finals_whose_load_is_cancelled_end_the_run) {
  for (int cancelled = 1; cancelled <= VARIANTS; cancelled++) {
    struct final_winner winner;
    struct final_case c;
    case_open(&c);
    put_few(&c);
    c.cancelled = cancelled;
    case_run_finals(&c, NULL, &winner);
    CHECK_EQ(cancelled, c.loads, "nothing is loaded afterwards");
    check_stopped_run(&c);
    case_close(&c);
  }
}

TEST(finals_whose_comparison_at_all_points_is_cancelled_end_the_run) {
  struct final_winner winner;
  struct final_case c;
  case_open(&c);
  put_few(&c);
  c.drawn_points = 1000;
  case_run_finals(&c, NULL, &winner);
  CHECK_EQ(VARIANTS + 1, c.loads, "no second grid");
  check_stopped_run(&c);
  case_close(&c);
}

/* The first two are wrong. The third is right, and stands without a second grid where the others took all the time. */
TEST(the_winners_that_a_stopped_run_tries_share_the_time_of_their_checks) {
  static const struct {
    double second_ms;
    bool has_grid;
  } rows[] = {{1000, true}, {2400, true}, {2600, false}, {4000, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct final_winner winner;
    struct final_case c;
    case_open(&c);
    put_few(&c);
    c.wrong = 2;
    c.second_ms = rows[i].second_ms;
    case_run_finals(&c, NULL, &winner);
    CHECK(strstr(winner.parameters, changes[2]), "row %zu: the third: %s", i, winner.parameters);
    CHECK_EQ(rows[i].has_grid, winner.second_grid[0] != '\0', "row %zu: %s", i, winner.second_grid);
    case_close(&c);
  }
}

/* In a run that goes on with the results of an earlier one, nothing tells before the compile that variants are one
 * kernel. The last three variants here are. */
TEST(copies_of_a_kernel_enter_once) {
  enum { FOUR = 4 };
  static const char *const words[FOUR] = {"z_slicing=64", "z_slicing=16", "z_slicing=32", "z_slicing=8"};
  static const struct {
    double times_ms[FOUR];
    int standard, served; /* -1: none of them */
    bool want[FOUR];      /* whether each may enter */
  } rows[] = {{{0.204, 0.2, 0.201, 0.202}, 0, -1, {true, true, false, false}},
              {{0.204, 0.202, 0.2, 0.201}, 0, -1, {true, false, true, false}},
              {{0.204, 0.2, 0.201, 0.202}, 2, -1, {true, false, true, false}},
              {{0.204, 0.2, 0.201, 0.202}, 0, 3, {true, false, false, true}},
              {{0.204, 0.2, 0.201, 0.202}, 1, 3, {true, true, false, true}}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct final_candidate candidates[FOUR];
    struct trial *built[FOUR];
    struct final_case c;
    int count;
    case_open(&c);
    for (int v = 0; v < FOUR; v++) put_words(&c, words[v], rows[i].times_ms[v], v == rows[i].standard);
    const struct timed_variant **fastest = timed_by_time(&c.timed);
    CHECK(fastest, "memory");
    for (int v = 0; v < FOUR; v++) {
      const struct proposal *proposal = &c.timed.list[v].proposal;
      const bool is_other = v == 0;
      CHECK_OK(trial_begin(&c.task, c.bench.template, proposal, &c.task.grid, &built[v]));
      built[v]->has_code = true;
      built[v]->code = identity_of("code", &is_other, sizeof is_other);
      candidates[v] = (struct final_candidate){
          .outcome = OUTCOME_MEASURED, .is_default = v == rows[i].standard, .is_served = v == rows[i].served};
    }
    CHECK_OK(leave_copies(&c.timed, fastest, built, candidates, &count));
    for (int v = 0; v < FOUR; v++)
      CHECK_EQ(rows[i].want[v], candidates[v].outcome == OUTCOME_MEASURED, "row %zu: %s", i, words[v]);
    CHECK_EQ(i == COUNT(rows) - 1 ? 1 : 2, count, "row %zu: those that leave", i);
    CHECK_OK(leave_copies(&c.timed, fastest, built, candidates, &count));
    CHECK_EQ(0, count, "row %zu: no others the next time", i);
    for (int v = 0; v < FOUR; v++) trial_free(built[v]);
    free(fastest);
    case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_winner_is_stored_as_it_was_compiled_for_the_rounds),
      cmocka_unit_test(the_fastest_are_compiled_before_the_first_is_loaded),
      cmocka_unit_test(a_crew_is_told_the_winner_after_its_last_checks),
      cmocka_unit_test(finals_that_are_stopped_before_their_rounds_load_nothing),
      cmocka_unit_test(finals_whose_load_is_cancelled_end_the_run),
      cmocka_unit_test(finals_whose_comparison_at_all_points_is_cancelled_end_the_run),
      cmocka_unit_test(the_winners_that_a_stopped_run_tries_share_the_time_of_their_checks),
      cmocka_unit_test(copies_of_a_kernel_enter_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
