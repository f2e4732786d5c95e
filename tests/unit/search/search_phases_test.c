/* search_phases_test.c: the requests of a run's phases to store and backend: earlier results, the second grid, trials
 * without a source. The backend of this test runs nothing, and nothing is compiled. */
#include <pthread.h>
#include <time.h>

#include "db/store/query.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/search/finals/second_grid.h"
#include "tuner/search/hints/earlier_runs.h"
#include "tuner/search/tune/results.h"
#include "tuner/search/tune/search_phase.h"
#include "tuner/search/variants/trial_runner.h"

struct witness {
  struct grid grid; /* of the last problem */
  double first_coefficient;
  struct grid loaded; /* of the last variant */
  bool lacks_fields;  /* the last problem came without fields */
  enum outcome outcome;
  double now_ms; /* a load takes 10 ms */
};

static halotune_status set_problem(void *state, const struct backend_problem *problem) {
  struct witness *witness = state;
  witness->grid = problem->scene->request.domain.grid;
  witness->lacks_fields = !scene_has_fields(problem->scene);
  witness->first_coefficient = problem->scene->request.coefficients[0];
  return HALOTUNE_OK;
}

static halotune_status load_candidate(void *state, int slot, const struct candidate *candidate,
                                      struct verdict *verdict) {
  struct witness *witness = state;
  (void)slot;
  witness->loaded = candidate->spec->domain.grid;
  witness->now_ms += 10;
  *verdict = (struct verdict){.outcome = witness->outcome};
  return HALOTUNE_OK;
}

static halotune_status unload(void *state, int slot) {
  (void)state, (void)slot;
  return HALOTUNE_OK;
}

static const struct backend witness_backend = {
    .name = "witness", .set_problem = set_problem, .load = load_candidate, .unload = unload};

struct phase_case {
  struct bench_case bench;
  struct witness witness;
  struct backend_handle backend;
  struct store *store;
  struct task task;
  struct bindings bindings;
  struct search_space space;
  struct schedule schedule;
  struct run_rows rows;
  struct trial *first;
  struct pipeline *pipeline;
  struct timed_list timed;
  struct twins twins;
  struct tally tally;
  struct run_progress progress;
  struct text warnings;
  int loads, most_in_flight; /* that load_wrong saw */
  int served_in_flight;      /* variants in flight when load_wrong saw the one with z_slicing=32 */
  struct configuration first_loaded;
};

static void case_open(struct phase_case *c) {
  *c = (struct phase_case){.witness = {.outcome = OUTCOME_MEASURED}};
  case_load(&c->bench);
  CHECK_OK(store_open_memory(&c->store));
  case_put(&c->bench, c->store, 256);
  c->backend = (struct backend_handle){.table = &witness_backend, .state = &c->witness};
  c->schedule.deadline_ms = INFINITY;
  c->task = (struct task){.stencil = c->bench.stencil,
                          .analysis = c->bench.analysis,
                          .grid = {{64, 48, 40}},
                          .coefficients = case_coefficients,
                          .limits = case_device.limits,
                          .arch = arch_find(9, 0),
                          .arch_name = "sm_90"};
  CHECK_OK(task_bindings(&c->task, c->bench.template, &c->bindings));
  c->space = (struct search_space){.templates = &c->bench.template, .bindings = &c->bindings, .count = 1};
  c->rows = (struct run_rows){.store = c->store, .stencil = c->bench.stencil_id, .templates = &c->bench.template_id};
  CHECK_OK(pipeline_make(NULL, &c->pipeline));
}

/* What a search of the case reads and changes, without hints and starts. */
static struct search_inputs inputs_of(struct phase_case *c, const struct strategy *strategy) {
  static const struct proposal_list none = {.count = 0};
  return (struct search_inputs){.task = &c->task,
                                .space = &c->space,
                                .schedule = &c->schedule,
                                .rows = &c->rows,
                                .first = c->first,
                                .first_ms = 700,
                                .hints = &none,
                                .starts = &none,
                                .strategy = strategy,
                                .backend = &c->backend,
                                .pipeline = c->pipeline,
                                .timed = &c->timed,
                                .twins = &c->twins,
                                .tally = &c->tally,
                                .progress = &c->progress};
}

static void case_close(struct phase_case *c) {
  text_free(&c->warnings);
  timed_free(&c->timed);
  twins_free(&c->twins);
  pipeline_free(c->pipeline);
  trial_free(c->first);
  bindings_free(&c->bindings);
  store_close(c->store);
  case_free(&c->bench);
}

/* A variant of zmarch that the rules keep on every grid, with some parameters changed: "name=value ...". */
static struct proposal proposal_with(const struct phase_case *c, const char *changes) {
  struct proposal proposal;
  char set[256];
  snprintf(set, sizeof set,
           "storage=registers prefetch=none vector=1 block_x=32 block_y=8 points_y=1 unroll=1 cluster_y=1 band=0"
           " z_slicing=8 padding=0 load_path=plain streaming=none min_blocks=0 %s",
           changes ? changes : "");
  memset(&proposal, 0, sizeof proposal);
  proposal.configuration = configuration_of(c->bench.template, set);
  return proposal;
}

static struct trial *trial_of(struct phase_case *c, const struct proposal *proposal) {
  struct trial *trial;
  CHECK_OK(trial_begin(&c->task, c->bench.template, proposal, &c->task.grid, &trial));
  return trial;
}

static const struct ending never = {.flag = NULL};

TEST(a_trial_that_has_no_source_has_a_row_of_its_own) {
  struct phase_case c;
  case_open(&c);
  struct proposal bad = proposal_with(&c, "block_x=128 block_y=16"), worse = proposal_with(&c, "block_x=16 block_y=1");
  struct trial *one = trial_of(&c, &bad), *again = trial_of(&c, &bad), *other = trial_of(&c, &worse);
  CHECK(one->is_over && one->result.outcome == OUTCOME_PRUNED && one->reason[0], "pruned: %s", one->reason);
  CHECK(!one->generated.source, "no source");
  CHECK(identity_compare(one->generated.hash, again->generated.hash) == 0, "named by what it would have been");
  CHECK(identity_compare(one->generated.hash, other->generated.hash) != 0, "another one");
  trial_free(one), trial_free(again), trial_free(other);
  case_close(&c);
}

TEST(a_recording_compiles_nothing) {
  struct phase_case c;
  case_open(&c);
  struct proposal first = proposal_with(&c, NULL);
  struct trial *trial;
  CHECK_OK(pipeline_build(c.pipeline, &c.task, c.bench.template, &first, &never, &trial));
  CHECK(trial && !trial->is_over && trial->generated.source && !trial->compiled.cubin, "a source, and no cubin");
  trial_free(trial);
  case_close(&c);
}

static double witness_now(void *state) { return ((const struct witness *)state)->now_ms; }

/* The time between the end of a trial and the taking of its result is a gap in the device's work. */
TEST(a_runner_tells_when_a_trial_had_ended) {
  struct phase_case c;
  struct runner *runner;
  struct trial *taken;
  double end_ms;
  case_open(&c);
  const struct proposal first = proposal_with(&c, NULL);
  const struct time_source time = {.now_ms = witness_now, .state = &c.witness};
  c.witness.outcome = OUTCOME_WRONG;
  c.witness.now_ms = 1000;
  CHECK_OK(runner_make(&c.backend, 1, &time, &runner));
  runner_put(runner, trial_of(&c, &first), 0);
  c.witness.now_ms += 500;
  CHECK(runner_has_ended(runner), "it has ended");
  CHECK_OK(runner_take(runner, &taken, &end_ms));
  CHECK_NEAR(1010, end_ms, 0, "before its result was taken");
  trial_free(taken);
  CHECK_OK(runner_take(runner, &taken, &end_ms));
  CHECK(!taken && end_ms == 0, "there is no other");
  runner_free(runner);
  case_close(&c);
}

/* How slow the GPU was in an earlier run. */
static double scale_of(const struct phase_case *c, int64_t variant, const struct variant_key *standard,
                       double default_ms) {
  double scale;
  CHECK_OK(earlier_scale(c->store, c->rows.run, variant, standard, default_ms, &scale));
  return scale;
}

static int64_t put_result(struct phase_case *c, int64_t run, const struct proposal *proposal, long number,
                          double median_ms) {
  struct trial *trial = trial_of(c, proposal);
  struct measurement measurement = case_measurement(number);
  measurement.timing.median_ms = median_ms;
  struct variant_key key = run_rows_key(&c->rows, trial);
  int64_t variant = 0;
  CHECK_OK(store_measurement(c->store, run, &key, &measurement, &variant));
  trial_free(trial);
  return variant;
}

TEST(earlier_results_are_found_with_how_slow_the_gpu_was) {
  struct phase_case c;
  case_open(&c);
  struct proposal first = proposal_with(&c, NULL), fast = proposal_with(&c, "z_slicing=32"),
                  slow = proposal_with(&c, "block_x=64");
  int64_t before = case_run(&c.bench, c.store, "580.1"), foreign = case_run(&c.bench, c.store, "999.9");
  put_result(&c, before, &first, 1, 0.44);
  int64_t variant = put_result(&c, before, &fast, 2, 0.3);
  put_result(&c, foreign, &slow, 1, 0.2);
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  const struct variant_key standard = run_rows_key(&c.rows, c.first);
  struct proposal_list earlier;
  CHECK_OK(earlier_variants(c.store, c.rows.run, &c.space, EARLIER_ALL, &earlier));
  CHECK_EQ(2, earlier.count, "another driver's do not count");
  proposals_free(&earlier);
  CHECK_NEAR(1.1, scale_of(&c, variant, &standard, 0.4), 1e-9, "the default took 0.44 ms then, 0.4 ms now");
  CHECK_NEAR(1, scale_of(&c, variant, &standard, 0.1), 0, "no clock changes so much");
  CHECK_NEAR(1, scale_of(&c, variant, &standard, NAN), 0, "nothing to compare with");
  struct fixed_parameters fixed = {.values = fast.configuration};
  fixed.is_fixed[template_parameter(c.bench.template, "z_slicing", strlen("z_slicing"))] = true;
  c.space.fixed = &fixed;
  CHECK_OK(earlier_variants(c.store, c.rows.run, &c.space, EARLIER_ALL, &earlier));
  CHECK_EQ(1, earlier.count, "what has other values than the fixed ones is not wanted");
  proposals_free(&earlier);
  c.space.fixed = NULL;
  CHECK_OK(query_script(store_connection(c.store),
                        "insert into origin (id, kind, name, date) values (99, 'imported', 'm.json', '2026-01-01');"
                        " update run set origin_id = 99"));
  CHECK_OK(earlier_variants(c.store, c.rows.run, &c.space, EARLIER_ALL, &earlier));
  CHECK_EQ(0, earlier.count, "nor is what a document says");
  proposals_free(&earlier);
  CHECK_OK(earlier_variants(c.store, c.rows.run, &c.space, EARLIER_WINNERS, &earlier));
  CHECK_EQ(0, earlier.count, "for new finals neither");
  proposals_free(&earlier);
  CHECK_NEAR(1, scale_of(&c, variant, &standard, 0.4), 0, "no clocks of others");
  case_close(&c);
}

/* Put a variant with the source of another one, and with other parameters. */
static void put_namesake(struct phase_case *c, const struct proposal *proposal, const char *parameters) {
  char change[512], hex[IDENTITY_HEX_BYTES];
  struct trial *trial = trial_of(c, proposal);
  identity_hex(trial->generated.hash, hex);
  snprintf(change, sizeof change,
           "insert into variant (source_hash, stencil_id, template_id, parameters, origin_id) select source_hash,"
           " stencil_id, template_id, '%s', origin_id from variant where source_hash = '%s' limit 1",
           parameters, hex);
  CHECK_OK(query_script(store_connection(c->store), change));
  trial_free(trial);
}

TEST(of_variants_with_the_source_of_the_default_the_measured_one_tells_how_slow_the_gpu_was) {
  struct phase_case c;
  case_open(&c);
  const struct proposal first = proposal_with(&c, NULL), fast = proposal_with(&c, "z_slicing=32");
  const int64_t elsewhere = case_run(&c.bench, c.store, "999.9"), before = case_run(&c.bench, c.store, "580.1");
  put_result(&c, elsewhere, &first, 1, 0.9);
  put_namesake(&c, &first, "{\"a\":1}");
  put_result(&c, before, &first, 1, 0.44);
  put_namesake(&c, &first, "{\"z\":1}");
  const int64_t variant = put_result(&c, before, &fast, 2, 0.3);
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  const struct variant_key standard = run_rows_key(&c.rows, c.first);
  CHECK_NEAR(1.1, scale_of(&c, variant, &standard, 0.4), 1e-9, "the default took 0.44 ms then, 0.4 ms now");
  case_close(&c);
}

/* SQLite calls this at regular places of a statement, and ends the statement where the result is not 0. */
static int count_down(void *calls_left) { return --*(int *)calls_left < 0; }

/* A list that ends early would have variants measured again that have results. */
TEST(earlier_results_are_read_in_full_or_not_at_all) {
  struct phase_case c;
  case_open(&c);
  const struct proposal first = proposal_with(&c, NULL), fast = proposal_with(&c, "z_slicing=32");
  const int64_t before = case_run(&c.bench, c.store, "580.1");
  put_result(&c, before, &first, 1, 0.44);
  const int64_t variant = put_result(&c, before, &fast, 2, 0.3);
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  const struct variant_key standard = run_rows_key(&c.rows, c.first);
  for (int question = 0; question < 3; question++) {
    halotune_status status = HALOTUNE_DB;
    for (int calls = 0; status != HALOTUNE_OK; calls++) {
      int left = calls;
      struct proposal_list earlier = {.count = 2};
      double scale = 1.1;
      sqlite3_progress_handler(store_connection(c.store), 1, count_down, &left);
      if (question < 2)
        status =
            earlier_variants(c.store, c.rows.run, &c.space, question == 0 ? EARLIER_ALL : EARLIER_WINNERS, &earlier);
      else status = earlier_scale(c.store, c.rows.run, variant, &standard, 0.4, &scale);
      sqlite3_progress_handler(store_connection(c.store), 0, NULL, NULL);
      CHECK_EQ(left < 0 ? HALOTUNE_DB : HALOTUNE_OK, status, "question %d, ended at call %d", question, calls);
      if (status != HALOTUNE_OK) continue;
      CHECK(calls > 0, "question %d was ended before", question);
      CHECK_EQ(2, earlier.count, "question %d", question);
      CHECK_NEAR(1.1, scale, 1e-9, "question %d", question);
      proposals_free(&earlier);
    }
  }
  case_close(&c);
}

/* The system may have killed the compiler, as where memory ran out. That says nothing about the variant. */
TEST(a_variant_whose_compiler_died_is_tried_again) {
  static const struct {
    enum outcome outcome;
    bool is_recalled;
  } rows[] = {{OUTCOME_COMPILE_FAILED, true}, {OUTCOME_COMPILE_CRASHED, false}, {OUTCOME_WRONG, true}};
  static const struct strategy none = {.name = "none"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase_case c;
    case_open(&c);
    const struct search_inputs in = inputs_of(&c, &none);
    struct results results = {.in = &in};
    const struct proposal proposal = proposal_with(&c, NULL);
    struct trial *trial = trial_of(&c, &proposal);
    struct measurement measurement = {.number = 1, .outcome = rows[i].outcome, .reason = "a reason"};
    const struct variant_key key = run_rows_key(&c.rows, trial);
    CHECK_OK(store_measurement(c.store, case_run(&c.bench, c.store, "580.1"), &key, &measurement, NULL));
    c.rows.run = case_run(&c.bench, c.store, "580.1");
    CHECK_OK(results_recall(&results, trial, NAN));
    CHECK_EQ(rows[i].is_recalled, trial->is_over, "%s", outcome_name(rows[i].outcome));
    trial_free(trial);
    case_close(&c);
  }
}

static halotune_status propose_nothing(void *state, struct proposal *out, bool *have) {
  (void)state, (void)out;
  *have = false;
  return HALOTUNE_OK;
}
static halotune_status tell_nobody(void *state, const struct proposal *proposal, double time_ms) {
  (void)state, (void)proposal, (void)time_ms;
  return HALOTUNE_OK;
}

/* Loads are in the program's thread here, so the pipeline has all others that are proposed. */
static halotune_status load_wrong(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct phase_case *c = state;
  const int in_flight = 1 + pipeline_count(c->pipeline);
  const struct configuration *loaded = &candidate->spec->configuration;
  const struct proposal served = proposal_with(c, "z_slicing=32");
  (void)slot;
  c->loads++;
  if (in_flight > c->most_in_flight) c->most_in_flight = in_flight;
  if (memcmp(loaded, &served.configuration, sizeof *loaded) == 0) c->served_in_flight = in_flight;
  *verdict = (struct verdict){.outcome = OUTCOME_WRONG};
  return HALOTUNE_OK;
}

/* The default, what a lookup serves and the starts are proposed by the search itself. */
TEST(no_more_variants_than_asked_for_are_in_flight) {
  static const struct strategy silent = {.next = propose_nothing, .tell = tell_nobody};
  static const struct backend counting = {
      .name = "counting", .set_problem = set_problem, .load = load_wrong, .unload = unload};
  for (int in_flight = 1; in_flight <= 3; in_flight++) {
    static const char *const changes[] = {"block_x=64", "block_y=4", "z_slicing=16", "points_y=2"};
    struct proposal_list starts = {.count = 0};
    struct search_end end;
    struct phase_case c;
    case_open(&c);
    c.backend = (struct backend_handle){.table = &counting, .state = &c};
    c.schedule.search_end_ms = INFINITY;
    const struct proposal first = proposal_with(&c, NULL), served = proposal_with(&c, "z_slicing=32");
    for (size_t i = 0; i < COUNT(changes); i++) {
      const struct proposal start = proposal_with(&c, changes[i]);
      CHECK_OK(proposals_add(&starts, &start));
    }
    c.rows.run = case_run(&c.bench, c.store, "580.1");
    c.first = trial_of(&c, &first);
    struct search_inputs in = inputs_of(&c, &silent);
    in.served = &served;
    in.starts = &starts;
    in.in_flight = in_flight;
    CHECK_OK(search_phase_run(&in, &end));
    CHECK_EQ(6, c.loads, "default, served and starts, %d in flight", in_flight);
    CHECK_EQ(in_flight, c.most_in_flight, "at most");
    proposals_free(&starts);
    case_close(&c);
  }
}

/* A strategy with three variants. */
struct list_of_three {
  struct proposal list[3];
  int next;
};

static halotune_status propose_listed(void *state, struct proposal *out, bool *have) {
  struct list_of_three *three = state;
  *have = three->next < 3;
  if (*have) *out = three->list[three->next++];
  return HALOTUNE_OK;
}

/* While the variant that a lookup serves is compiled, compilers get the default and what the strategy proposes, unless
 * that depends on first results: the default is slow, or earlier runs have results. */
TEST(compilers_have_more_than_what_a_lookup_serves) {
  static const struct strategy listed = {.next = propose_listed, .tell = tell_nobody};
  static const struct backend counting = {
      .name = "counting", .set_problem = set_problem, .load = load_wrong, .unload = unload};
  static const struct {
    double first_ms;
    bool has_earlier, is_fresh;
    long max_variants;
    int want;
  } rows[] = {{0.1, false, false, 0, 5}, {20, false, false, 0, 5}, {700, false, false, 0, 1},
              {0.1, true, false, 0, 1},  {0.1, true, true, 0, 5},  {0.1, false, false, 3, 3}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct search_end end;
    struct phase_case c;
    case_open(&c);
    c.backend = (struct backend_handle){.table = &counting, .state = &c};
    c.schedule.search_end_ms = INFINITY;
    const struct proposal first = proposal_with(&c, NULL), served = proposal_with(&c, "z_slicing=32"),
                          earlier = proposal_with(&c, "z_slicing=4");
    struct list_of_three three = {
        .list = {proposal_with(&c, "block_x=64"), proposal_with(&c, "block_y=4"), proposal_with(&c, "z_slicing=16")}};
    if (rows[i].has_earlier) put_result(&c, case_run(&c.bench, c.store, "580.1"), &earlier, 1, 0.3);
    c.rows.run = case_run(&c.bench, c.store, "580.1");
    c.first = trial_of(&c, &first);
    struct search_inputs in = inputs_of(&c, &listed);
    in.served = &served;
    in.first_ms = rows[i].first_ms;
    in.fresh = rows[i].is_fresh;
    in.max_variants = rows[i].max_variants;
    in.strategy_state = &three;
    CHECK_OK(search_phase_run(&in, &end));
    CHECK_EQ(rows[i].want, c.served_in_flight, "row %zu", i);
    case_close(&c);
  }
}

/* A strategy that thinks about its second variant until the device has the first one. With `is_slow`, the device waits
 * for its sixth variant, which it proposes when the first three have run. With `is_deep`, the device waits for the
 * thought about the fifth variant, which ends when the first four have run. */
struct thinker {
  const struct phase_case *phase_case;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool is_slow, is_deep;
  int proposed, loads, loads_while_thinking, thoughts;
};

/* Wait until there are so many loads, or proposals; a minute at most, against hanging. The lock is held. */
static void await(struct thinker *thinker, const int *count, int least) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 60;
  while (*count < least && pthread_cond_timedwait(&thinker->changed, &thinker->lock, &limit) == 0) continue;
}

static halotune_status think(void *state, struct proposal *out, bool *have) {
  static const char *const changes[] = {"block_x=64",  "block_y=4",   "z_slicing=16", "block_y=2",
                                        "z_slicing=4", "z_slicing=2", "z_slicing=32", "block_y=16"};
  struct thinker *thinker = state;
  pthread_mutex_lock(&thinker->lock);
  const int least = thinker->is_deep ? 4 : 1;
  if (!thinker->is_slow && thinker->proposed == least) {
    thinker->thoughts++;
    pthread_cond_broadcast(&thinker->changed);
    await(thinker, &thinker->loads, least);
    thinker->loads_while_thinking = thinker->loads;
  }
  *have = thinker->proposed < (int)COUNT(changes);
  if (*have) *out = proposal_with(thinker->phase_case, changes[thinker->proposed++]);
  pthread_cond_broadcast(&thinker->changed);
  if (thinker->is_slow && thinker->proposed == 6) await(thinker, &thinker->loads, 3);
  pthread_mutex_unlock(&thinker->lock);
  return HALOTUNE_OK;
}

static halotune_status load_counted(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct thinker *thinker = state;
  (void)slot, (void)candidate;
  pthread_mutex_lock(&thinker->lock);
  if (thinker->is_slow) await(thinker, &thinker->proposed, 6);
  if (thinker->is_deep) await(thinker, &thinker->thoughts, 1);
  thinker->loads++;
  pthread_cond_broadcast(&thinker->changed);
  pthread_mutex_unlock(&thinker->lock);
  *verdict = (struct verdict){.outcome = OUTCOME_WRONG};
  return HALOTUNE_OK;
}

/* Run a search whose device is a thread of its own. */
static void search_beside(struct phase_case *c, struct thinker *thinker, long max_variants) {
  static const struct strategy thinking = {.next = think, .tell = tell_nobody};
  static const struct backend threaded = {.name = "threaded",
                                          .may_change_thread = true,
                                          .set_problem = set_problem,
                                          .load = load_counted,
                                          .unload = unload};
  struct search_end end;
  pthread_mutex_init(&thinker->lock, NULL);
  pthread_cond_init(&thinker->changed, NULL);
  thinker->phase_case = c;
  c->backend = (struct backend_handle){.table = &threaded, .state = thinker};
  c->schedule.search_end_ms = c->schedule.end_ms = INFINITY;
  c->rows.run = case_run(&c->bench, c->store, "580.1");
  struct search_inputs in = inputs_of(c, &thinking);
  in.strategy_state = thinker;
  in.max_variants = max_variants;
  CHECK_OK(search_phase_run(&in, &end));
  pthread_cond_destroy(&thinker->changed);
  pthread_mutex_destroy(&thinker->lock);
}

TEST(the_device_runs_a_variant_while_the_next_one_is_proposed) {
  struct phase_case c;
  struct thinker thinker = {.proposed = 0};
  case_open(&c);
  search_beside(&c, &thinker, 3);
  CHECK_EQ(1, thinker.loads_while_thinking, "the first one was on the device");
  CHECK_EQ(3, thinker.loads, "as many as were asked for are run");
  case_close(&c);
}

/* One variant at a time is on the device, because no time is known. So three results must be taken meanwhile. */
TEST(results_are_taken_while_the_strategy_thinks) {
  struct phase_case c;
  struct thinker thinker = {.is_deep = true};
  case_open(&c);
  search_beside(&c, &thinker, 8);
  CHECK_EQ(4, thinker.loads_while_thinking, "all that were proposed");
  CHECK_EQ(8, thinker.loads, "and then the others");
  case_close(&c);
}

/* Three variants are on the device, and others are ready, when there is room for all of these at once. */
TEST(variants_that_run_beside_the_program_count_at_once) {
  struct phase_case c;
  struct thinker thinker = {.is_slow = true};
  const struct timed_variant fast = {.variant = 1, .outcome = OUTCOME_MEASURED, .median_ms = 0.1, .scale = 1};
  case_open(&c);
  CHECK_OK(timed_put(&c.timed, &fast));
  search_beside(&c, &thinker, 4);
  CHECK_EQ(4, thinker.loads, "no more than were asked for");
  case_close(&c);
}

static halotune_status load_and_remember(void *state, int slot, const struct candidate *candidate,
                                         struct verdict *verdict) {
  struct phase_case *c = state;
  (void)slot;
  if (c->loads++ == 0) c->first_loaded = candidate->spec->configuration;
  *verdict = (struct verdict){.outcome = OUTCOME_WRONG};
  return HALOTUNE_OK;
}

/* A crew of one member, which takes one variant and is lost. */
struct lost_crew {
  struct trial *trial;
  int taken;
};

static int lost_room(void *state) { return ((struct lost_crew *)state)->taken == 0; }
static int lost_away(void *state) { return ((struct lost_crew *)state)->trial != NULL; }
static int lost_most(void *state) { return (void)state, 8; }
static void lost_anchored(void *state, double anchor_ms) { (void)state, (void)anchor_ms; }
static halotune_status lost_scaled(void *state, double scale) { return (void)state, (void)scale, HALOTUNE_OK; }
static halotune_status lost_stop(void *state) { return (void)state, HALOTUNE_OK; }
static halotune_status lost_settle(void *state, const struct crew_settled **list, long *count) {
  (void)state;
  *list = NULL;
  *count = 0;
  return HALOTUNE_OK;
}
static halotune_status lost_put(void *state, struct trial *trial, double best_ms) {
  struct lost_crew *crew = state;
  (void)best_ms;
  crew->trial = trial;
  crew->taken++;
  return HALOTUNE_OK;
}
static halotune_status lost_take(void *state, int timeout_ms, struct trial **out, bool *is_lost) {
  struct lost_crew *crew = state;
  (void)timeout_ms;
  *out = crew->trial;
  *is_lost = crew->trial != NULL;
  crew->trial = NULL;
  return HALOTUNE_OK;
}

/* A strategy that proposes two variants. */
struct two {
  struct proposal list[2];
  int next;
};

static halotune_status next_of_two(void *state, struct proposal *out, bool *have) {
  struct two *two = state;
  *have = two->next < 2;
  if (*have) *out = two->list[two->next++];
  return HALOTUNE_OK;
}

static const char *why_of_two(const void *state) { return ((const struct two *)state)->next == 1 ? "one" : "other"; }

TEST(a_variant_that_another_gpu_takes_over_keeps_its_reason) {
  static const struct strategy strategy = {.next = next_of_two, .tell = tell_nobody, .why = why_of_two};
  static const struct backend counting = {
      .name = "counting", .set_problem = set_problem, .load = load_wrong, .unload = unload};
  static const struct crew_table table = {.anchored = lost_anchored,
                                          .device_scaled = lost_scaled,
                                          .device_most = lost_most,
                                          .room = lost_room,
                                          .away = lost_away,
                                          .put = lost_put,
                                          .take = lost_take,
                                          .stop = lost_stop,
                                          .settle = lost_settle};
  struct lost_crew lost = {.taken = 0};
  const struct crew crew = {&table, &lost};
  struct search_end end;
  struct phase_case c;
  case_open(&c);
  c.backend = (struct backend_handle){.table = &counting, .state = &c};
  c.schedule.search_end_ms = INFINITY;
  struct two two = {.list = {proposal_with(&c, "block_x=64"), proposal_with(&c, "block_y=4")}};
  const struct proposal first = proposal_with(&c, NULL);
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  struct search_inputs in = inputs_of(&c, &strategy);
  in.strategy_state = &two;
  in.crew = &crew;
  CHECK_OK(search_phase_run(&in, &end));
  CHECK_EQ(1, lost.taken, "the member had one");
  CHECK_EQ(3, c.loads, "the device ran all");
  CHECK_EQ(1, number_of(c.store, "select count(*) from measurement where why = 'one'"), "the first one");
  CHECK_EQ(1, number_of(c.store, "select count(*) from measurement where why = 'other'"), "the second one");
  case_close(&c);
}

static volatile sig_atomic_t user_stops;

/* The first variant is wrong. During the work for the next one, the user stops the run. */
static halotune_status load_until_stop(void *state, int slot, const struct candidate *candidate,
                                       struct verdict *verdict) {
  if (((const struct phase_case *)state)->loads == 0) return load_wrong(state, slot, candidate, verdict);
  user_stops = 1;
  return fail(HALOTUNE_CANCELLED, "stopped");
}

TEST(a_variant_whose_load_is_cancelled_has_no_result_and_ends_the_search) {
  static const struct strategy strategy = {.next = next_of_two, .tell = tell_nobody, .why = why_of_two};
  static const struct backend stopped = {
      .name = "stopped", .set_problem = set_problem, .load = load_until_stop, .unload = unload};
  for (int is_stopped = 0; is_stopped < 2; is_stopped++) {
    static volatile sig_atomic_t nobody_stops;
    struct search_end end;
    struct phase_case c;
    case_open(&c);
    user_stops = 0;
    c.backend = (struct backend_handle){.table = &stopped, .state = &c};
    c.schedule.search_end_ms = INFINITY;
    c.schedule.stop = is_stopped ? &user_stops : &nobody_stops;
    struct two two = {.list = {proposal_with(&c, "block_x=64"), proposal_with(&c, "block_y=4")}};
    const struct proposal first = proposal_with(&c, NULL);
    c.rows.run = case_run(&c.bench, c.store, "580.1");
    c.first = trial_of(&c, &first);
    struct search_inputs in = inputs_of(&c, &strategy);
    in.strategy_state = &two;
    CHECK_EQ(is_stopped ? HALOTUNE_OK : HALOTUNE_CANCELLED, search_phase_run(&in, &end), "%s", fail_text());
    CHECK_EQ(1, number_of(c.store, "select count(*) from measurement"), "the default has a result");
    CHECK(!end.is_exhausted, "a variant lacks one");
    case_close(&c);
  }
}

/* A member that keeps a variant until the deadline, or loses it then. */
struct late_crew {
  struct phase_case *c;
  struct lost_crew lost;
  bool loses_it;
};

static int late_room(void *state) { return lost_room(&((struct late_crew *)state)->lost); }
static int late_away(void *state) { return lost_away(&((struct late_crew *)state)->lost); }
static halotune_status late_put(void *state, struct trial *trial, double best_ms) {
  return lost_put(&((struct late_crew *)state)->lost, trial, best_ms);
}
static halotune_status late_take(void *state, int timeout_ms, struct trial **out, bool *is_lost) {
  struct late_crew *crew = state;
  *out = NULL;
  *is_lost = false;
  if (timeout_ms > 0) crew->c->witness.now_ms += 100;
  if (crew->c->witness.now_ms < crew->c->schedule.search_end_ms || !crew->loses_it) return HALOTUNE_OK;
  return lost_take(&crew->lost, timeout_ms, out, is_lost);
}

/* The strategy has no more variants, or as many are tried as were asked for, and one has no result when the deadline
 * comes. */
TEST(a_search_whose_last_variant_another_gpu_has_is_cut_by_the_deadline) {
  static const struct strategy strategy = {.next = next_of_two, .tell = tell_nobody, .why = why_of_two};
  static const struct backend counting = {
      .name = "counting", .set_problem = set_problem, .load = load_wrong, .unload = unload};
  static const struct crew_table table = {.anchored = lost_anchored,
                                          .device_scaled = lost_scaled,
                                          .device_most = lost_most,
                                          .room = late_room,
                                          .away = late_away,
                                          .put = late_put,
                                          .take = late_take,
                                          .stop = lost_stop,
                                          .settle = lost_settle};
  static const struct {
    bool loses_it;
    long max_variants;
  } rows[] = {{false, 0}, {true, 0}, {false, 3}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct search_end end;
    struct phase_case c;
    case_open(&c);
    struct late_crew late = {.c = &c, .loses_it = rows[i].loses_it};
    const struct crew crew = {&table, &late};
    c.backend = (struct backend_handle){.table = &counting, .state = &c};
    c.schedule.time = (struct time_source){.now_ms = witness_now, .state = &c.witness};
    c.schedule.search_end_ms = c.schedule.end_ms = 5000;
    c.schedule.deadline_ms = 10000;
    c.schedule.has_deadline = true;
    struct two two = {.list = {proposal_with(&c, "block_x=64"), proposal_with(&c, "block_y=4")}};
    const struct proposal first = proposal_with(&c, NULL);
    c.rows.run = case_run(&c.bench, c.store, "580.1");
    c.first = trial_of(&c, &first);
    struct search_inputs in = inputs_of(&c, &strategy);
    in.strategy_state = &two;
    in.crew = &crew;
    in.max_variants = rows[i].max_variants;
    CHECK_OK(search_phase_run(&in, &end));
    CHECK_EQ(2, c.loads, "row %zu: the default, and the other one", i);
    CHECK(!end.is_exhausted && end.is_cut, "row %zu", i);
    trial_free(late.lost.trial);
    case_close(&c);
  }
}

/* Also where the time of the search is over before it begins. */
TEST(what_a_lookup_serves_is_measured_first) {
  static const struct strategy silent = {.next = propose_nothing, .tell = tell_nobody};
  static const struct backend remembering = {
      .name = "remembering", .set_problem = set_problem, .load = load_and_remember, .unload = unload};
  struct search_end end;
  struct phase_case c;
  case_open(&c);
  c.backend = (struct backend_handle){.table = &remembering, .state = &c};
  const struct proposal first = proposal_with(&c, NULL), served = proposal_with(&c, "z_slicing=32");
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  struct search_inputs in = inputs_of(&c, &silent);
  in.served = &served;
  CHECK_OK(search_phase_run(&in, &end));
  CHECK_EQ(2, c.loads, "what a lookup serves, and the default");
  CHECK(memcmp(&c.first_loaded, &served.configuration, sizeof served.configuration) == 0, "in this order");
  CHECK_EQ(1,
           number_of(c.store, "select min(why) = 'the default' and max(why) = 'what a lookup serves' from measurement"),
           "the rows say why");
  case_close(&c);
}

/* Its present time is one cold sample, which says nothing about the GPU. */
TEST(a_slow_default_adjusts_no_earlier_results) {
  static const struct strategy silent = {.next = propose_nothing, .tell = tell_nobody};
  struct phase_case c;
  case_open(&c);
  struct proposal first = proposal_with(&c, NULL), fast = proposal_with(&c, "z_slicing=32");
  int64_t before = case_run(&c.bench, c.store, "580.1");
  put_result(&c, before, &first, 1, 400);
  put_result(&c, before, &fast, 2, 0.3);
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  c.first = trial_of(&c, &first);
  struct search_inputs in = inputs_of(&c, &silent);
  in.max_variants = 1;
  struct search_end end;
  CHECK_OK(search_phase_run(&in, &end));
  CHECK_EQ(2, c.timed.count, "both are recalled");
  for (long i = 0; i < c.timed.count; i++) CHECK_NEAR(1, c.timed.list[i].scale, 0, "number %ld", i);
  CHECK_NEAR(0.3, timed_best_ms(&c.timed), 1e-9, "as it was measured");
  case_close(&c);
}

/* A GPU on which each sample takes 20 ms. An empty slot has no time. */
struct slow_gpu {
  double now_ms;
  bool is_loaded;
};

static halotune_status sample_slowly(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                                     struct verdict *verdict) {
  struct slow_gpu *gpu = state;
  *failed = -1;
  *verdict = (struct verdict){.outcome = OUTCOME_MEASURED};
  if (!gpu->is_loaded) return fail(HALOTUNE_ARGUMENT, "the slot is empty");
  for (int i = 0; i < plan->rounds; i++) gpu->now_ms += times_ms[i] = 20;
  return HALOTUNE_OK;
}

static halotune_status unload_slow(void *state, int slot) {
  (void)slot;
  ((struct slow_gpu *)state)->is_loaded = false;
  return HALOTUNE_OK;
}

static halotune_status work_slowly(void *state, double time_ms) {
  ((struct slow_gpu *)state)->now_ms += time_ms;
  return HALOTUNE_OK;
}

static double slow_now(void *state) { return ((const struct slow_gpu *)state)->now_ms; }

/* A stand-in that does not compile takes the place of an anchor that is unloaded already. */
TEST(a_stand_in_that_fails_leaves_no_anchor) {
  static const struct backend table = {.name = "slow",
                                       .unload = unload_slow,
                                       .sample = sample_slowly,
                                       .read = backend_read_nothing,
                                       .keep_warm = work_slowly,
                                       .now_ms = slow_now};
  static const struct strategy none = {.name = "none"};
  struct slow_gpu gpu = {.is_loaded = true};
  struct watch watch = {.is_blind = false};
  struct verdict verdict;
  struct phase_case c;
  case_open(&c);
  c.backend = (struct backend_handle){.table = &table, .state = &gpu};
  const struct search_inputs in = inputs_of(&c, &none);
  const struct time_source time = backend_time(&c.backend);
  CHECK_OK(anchor_make(&c.backend, SLOT_ANCHOR, &time, &verdict, &watch.anchor));
  const struct proposal proposal = proposal_with(&c, NULL);
  struct trial *stand_in = trial_of(&c, &proposal);
  trial_fail(stand_in, OUTCOME_COMPILE_TIMEOUT, "it took too long");
  CHECK_OK(watch_take(&in, &watch, stand_in));
  CHECK(watch.is_blind && !watch_is_due(&watch), "nothing is loaded");
  CHECK_OK(watch_read(&watch));
  CHECK_OK(watch_close(&in, &watch));
  case_close(&c);
}

TEST(doubtful_results_are_marked) {
  struct phase_case c;
  case_open(&c);
  struct proposal first = proposal_with(&c, NULL), other = proposal_with(&c, "z_slicing=32");
  int64_t run = case_run(&c.bench, c.store, "580.1"), later = case_run(&c.bench, c.store, "580.1");
  put_result(&c, run, &first, 1, 0.4);
  const int64_t doubtful[] = {put_result(&c, run, &other, 2, 0.3)};
  put_result(&c, later, &other, 1, 0.3);
  CHECK_OK(store_mark(c.store, run, doubtful, 1));
  CHECK_EQ(1, number_of(c.store, "select count(*) from measurement where is_marked"), "of this run only");
  CHECK_EQ(2, number_of(c.store, "select number from measurement where is_marked"), "this one");
  case_close(&c);
}

/* The original is measured again and is slower, then it is found to be wrong. */
TEST(twins_follow_their_original) {
  struct phase_case c;
  case_open(&c);
  struct proposal first = proposal_with(&c, NULL), twin = proposal_with(&c, "z_slicing=32"),
                  stranger = proposal_with(&c, "block_x=64");
  const int64_t run = case_run(&c.bench, c.store, "580.1");
  const int64_t original = put_result(&c, run, &first, 1, 0.4), same = put_result(&c, run, &twin, 2, 0.4);
  put_result(&c, run, &stranger, 3, 0.4);
  struct twins twins = {.count = 0};
  CHECK_OK(twins_add(&twins, &(struct twin){.variant = same, .original = original, .number = 1}));
  struct measurement again = case_measurement(1);
  int count;
  again.reason = "";
  again.timing.median_ms = 0.5;
  CHECK_OK(twins_follow(&twins, c.store, run, original, &again, &count));
  CHECK_EQ(1, count, "it has one twin");
  CHECK_EQ(2,
           number_of(c.store, "select number from measurement where median_ms = 0.5"
                              " and reason = 'the same machine code and launch as number 1'"),
           "which has the new time");
  again.outcome = OUTCOME_WRONG;
  again.reason = "1 of 8 points is wrong";
  CHECK_OK(twins_follow(&twins, c.store, run, original, &again, &count));
  CHECK_EQ(2,
           number_of(c.store, "select number from measurement where outcome = 'wrong' and reason = '1 of 8 points is"
                              " wrong'"),
           "what is wrong with the original is wrong with it");
  CHECK_OK(twins_follow(&twins, c.store, run, same, &again, &count));
  CHECK_EQ(0, count, "it is no original itself");
  CHECK_EQ(1, number_of(c.store, "select count(*) from measurement where outcome = 'wrong'"),
           "others stay as they are");
  twins_free(&twins);
  case_close(&c);
}

static bool is_prime(long number) {
  for (long d = 2; d * d <= number; d++) {
    if (number % d == 0) return false;
  }
  return number > 1;
}

/* What the check of the second grid reads and changes. */
static struct final_inputs second_grid_inputs(struct phase_case *c) {
  return (struct final_inputs){
      .task = &c->task, .space = &c->space, .schedule = &c->schedule, .backend = &c->backend, .pipeline = c->pipeline};
}

/* The fastest variants are compiled for the second grid while the final rounds run. Other compiles go on beside. */
TEST(the_fastest_are_compiled_ahead_for_the_second_grid) {
  static const struct {
    double fastest_ms;
    bool is_emulation;
    int want;
  } rows[] = {{0.3, false, 2}, {0.3, true, 0}, {0.01, false, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    /* The fastest one is screened. The slowest one was measured while the GPU was slow. */
    static const char *const changes[] = {"z_slicing=16", "z_slicing=32", "z_slicing=64", "z_slicing=4"};
    static const double slower_ms[] = {0, 3, 2, 4}, scales[] = {1, 1, 1, 4};
    struct phase_case c;
    struct second_ahead ahead;
    struct trial *trial;
    case_open(&c);
    c.backend.facts.is_emulation = rows[i].is_emulation;
    for (int v = 0; v < (int)COUNT(changes); v++) {
      const struct timed_variant timed = {.proposal = proposal_with(&c, changes[v]),
                                          .variant = v + 1,
                                          .outcome = v == 0 ? OUTCOME_SCREENED : OUTCOME_MEASURED,
                                          .median_ms = rows[i].fastest_ms + slower_ms[v],
                                          .scale = scales[v]};
      CHECK_OK(timed_put(&c.timed, &timed));
    }
    struct final_inputs in = second_grid_inputs(&c);
    in.timed = &c.timed;
    CHECK_OK(second_grid_begin(&in, &ahead));
    CHECK_EQ(rows[i].want, pipeline_count(c.pipeline), "row %zu", i);
    for (int k = 0; k < ahead.count; k++)
      CHECK(is_prime(ahead.list[k].task.grid.n[1]), "row %zu: %ld", i, ahead.list[k].task.grid.n[1]);
    const struct proposal other = proposal_with(&c, NULL);
    CHECK_OK(pipeline_build(c.pipeline, &c.task, c.bench.template, &other, &never, &trial));
    CHECK(proposal_equals(&c.space, &other, &trial->proposal), "row %zu: its own trial", i);
    trial_free(trial);
    CHECK_EQ(rows[i].want, pipeline_count(c.pipeline), "row %zu: the others stay", i);
    if (rows[i].want > 0) {
      const struct proposal fastest = proposal_with(&c, "z_slicing=4");
      CHECK_OK(pipeline_take(c.pipeline, -1, &trial));
      CHECK(trial && proposal_equals(&c.space, &fastest, &trial->proposal), "row %zu: the fastest is the first", i);
      trial_free(trial);
    }
    second_grid_end(&in, &ahead);
    CHECK(pipeline_is_empty(c.pipeline) && ahead.count == 0, "row %zu: the end", i);
    case_close(&c);
  }
}

TEST(the_second_grid_is_awkward_and_has_other_weights) {
  struct phase_case c;
  struct verdict verdict;
  char grid[64], want[64];
  case_open(&c);
  const struct final_inputs in = second_grid_inputs(&c);
  struct proposal first = proposal_with(&c, NULL), wide = proposal_with(&c, "vector=4");
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  const struct grid *ran = &c.witness.grid;
  CHECK(verdict.outcome == OUTCOME_MEASURED, "%s", verdict.reason);
  for (int axis = 0; axis < 3; axis++) {
    CHECK(is_prime(ran->n[axis]) && ran->n[axis] < c.task.grid.n[axis], "axis %d: %ld", axis, ran->n[axis]);
    CHECK_EQ(ran->n[axis], c.witness.loaded.n[axis], "the variant runs there, axis %d", axis);
  }
  snprintf(want, sizeof want, "%ldx%ldx%ld", ran->n[0], ran->n[1], ran->n[2]);
  CHECK_TEXT(want, grid, "its name");
  CHECK(c.witness.first_coefficient != case_coefficients[0], "other weights");
  CHECK_OK(second_grid_check(&in, &wide, &never, &c.warnings, grid, &verdict));
  CHECK(ran->n[0] % 4 == 0 && is_prime(ran->n[1]), "vectors want rows of whole vectors: %s", grid);
  c.witness.outcome = OUTCOME_WRONG;
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  CHECK(verdict.outcome == OUTCOME_WRONG && grid[0], "what is wrong there is told");
  case_close(&c);
}

static bool makes_fields(const struct scene *scene) {
  (void)scene;
  return true;
}

/* The witness says that its fields are wrong. */
static halotune_status make_wrong_fields(void *state, const struct backend_problem *problem) {
  const halotune_status status = set_problem(state, problem);
  return scene_has_fields(problem->scene) ? status : fail(HALOTUNE_NOT_FOUND, "fields differ");
}

/* The warning belongs to the run whose problem it is. */
TEST(a_device_that_cannot_make_the_second_grids_fields_is_told_with_its_run) {
  static const char want[] = "fields differ; the CPU makes inputs and reference\n";
  struct backend table = witness_backend;
  struct phase_case c;
  struct verdict verdict;
  char grid[64];
  case_open(&c);
  const struct final_inputs in = second_grid_inputs(&c);
  const struct proposal first = proposal_with(&c, NULL);
  table.makes_fields = makes_fields;
  c.backend.table = &table;
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  CHECK(c.witness.lacks_fields, "fields of the device");
  CHECK_TEXT("", text_string(&c.warnings), "no warning");
  table.set_problem = make_wrong_fields;
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  CHECK(!c.witness.lacks_fields, "fields of the CPU");
  CHECK_TEXT(want, text_string(&c.warnings), "the run's warning");
  CHECK_TEXT("", c.backend.facts.warnings, "not the backend's, whose next run has other fields");
  case_close(&c);
}

TEST(what_rules_keep_for_large_planes_only_is_verified_on_such) {
  struct phase_case c;
  struct verdict verdict;
  char grid[64];
  case_open(&c);
  const struct final_inputs in = second_grid_inputs(&c);
  c.task.grid = (struct grid){{1024, 512, 12}};
  struct proposal bands = proposal_with(&c, "band=64"), none = proposal_with(&c, NULL);
  CHECK_OK(second_grid_check(&in, &bands, &never, &c.warnings, grid, &verdict));
  CHECK_TEXT("1024x512x11", grid, "%s", verdict.reason);
  CHECK_EQ(11, c.witness.loaded.n[2], "the variant runs there");
  CHECK_OK(second_grid_check(&in, &none, &never, &c.warnings, grid, &verdict));
  CHECK(is_prime(c.witness.loaded.n[0]), "a grid that is more awkward, if it can be: %s", grid);
  case_close(&c);
}

/* A grid without inner points verifies nothing. The stencil's radius is 1, and its boundary is left out. */
TEST(a_grid_without_inner_points_is_no_second_grid) {
  struct phase_case c;
  struct verdict verdict;
  char grid[64];
  case_open(&c);
  const struct final_inputs in = second_grid_inputs(&c);
  const struct proposal first = proposal_with(&c, NULL);
  c.task.grid = (struct grid){{40, 24, 4}};
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  CHECK(c.witness.grid.n[2] > 2, "%s has inner points", grid);
  c.task.grid = (struct grid){{40, 24, 2}};
  CHECK_OK(second_grid_check(&in, &first, &never, &c.warnings, grid, &verdict));
  CHECK(!grid[0], "there is none: %s", grid);
  CHECK(strstr(verdict.reason, "computes no point of the grid ") && strstr(verdict.reason, "x2: "), "%s",
        verdict.reason);
  CHECK(strstr(verdict.reason, "computes no point"), "%s", verdict.reason);
  case_close(&c);
}

/* A strategy that looks at the store when it is told a result. */
struct teller {
  struct store *store;
  int64_t fewest_rows; /* that it saw */
  int told;
  bool saw_open;  /* a transaction that was not committed */
  double time_ms; /* that it was told last */
};

static halotune_status tell_teller(void *state, const struct proposal *proposal, double time_ms) {
  struct teller *teller = state;
  (void)proposal;
  teller->time_ms = time_ms;
  const int64_t rows = number_of(teller->store, "select count(*) from measurement");
  if (teller->told++ == 0 || rows < teller->fewest_rows) teller->fewest_rows = rows;
  teller->saw_open = teller->saw_open || !sqlite3_get_autocommit(store_connection(teller->store));
  return HALOTUNE_OK;
}

/* Results of the crew that come together: one that is answered twice, two of one code, and a usual one. All are rows
 * before one counts; and where they cannot be stored, none counts. */
TEST(results_that_come_together_are_stored_before_they_count) {
  static const struct strategy strategy = {.name = "teller", .tell = tell_teller};
  for (int is_stored = 0; is_stored < 2; is_stored++) {
    enum { ANSWERS = 4 };
    static const struct {
      const char *changes;
      long ticket;
      uint64_t code;
      double time_ms;
    } rows[ANSWERS] = {{"", 1, 1, 4}, {"vector=2", 2, 2, 3}, {"", 1, 1, 2}, {"block_y=16", 3, 2, 5}};
    struct phase_case c;
    struct trial *trials[ANSWERS];
    struct watch watch = {.is_blind = true};
    case_open(&c);
    struct teller teller = {.store = c.store};
    struct search_inputs in = inputs_of(&c, &strategy);
    in.strategy_state = &teller;
    struct results results = {.in = &in, .watch = &watch};
    CHECK_OK(proposer_make(&strategy, &teller, false, &results.proposer));
    c.rows.run = is_stored ? case_run(&c.bench, c.store, "580.1") : 987654; /* there is no such run */
    for (int i = 0; i < ANSWERS; i++) {
      struct proposal proposal = proposal_with(&c, rows[i].changes);
      proposal.ticket = rows[i].ticket;
      CHECK_OK(trial_begin_away(c.bench.template, &proposal, &trials[i]));
      trials[i]->result = case_measurement(1);
      trials[i]->result.timing.median_ms = rows[i].time_ms;
      trials[i]->result.timing.samples = trials[i]->samples = malloc(sizeof case_samples);
      CHECK(trials[i]->samples, "memory");
      memcpy(trials[i]->samples, case_samples, sizeof case_samples);
      trials[i]->is_over = trials[i]->has_code = true;
      trials[i]->away_scale = 1;
      trials[i]->code = identity_of("code", &rows[i].code, sizeof rows[i].code);
      trials[i]->generated.hash = identity_of("source", rows[i].changes, strlen(rows[i].changes));
    }
    CHECK_EQ(is_stored ? HALOTUNE_OK : HALOTUNE_DB, results_finish_away(&results, trials, ANSWERS), "%s", fail_text());
    CHECK_EQ(is_stored ? 3 : 0, number_of(c.store, "select count(*) from measurement"), "rows");
    CHECK_EQ(is_stored ? 3 : 0, teller.told, "the strategy is told each variant once");
    CHECK_EQ(is_stored ? 3 : 0, teller.fewest_rows, "when all are rows");
    CHECK_EQ(is_stored ? 2 : 0, c.timed.count, "a twin is not timed");
    CHECK_EQ(is_stored ? 3 : 0, c.tally.tried, "those that count");
    CHECK(!teller.saw_open, "and the transaction is over");
    CHECK(!is_stored || timed_best_ms(&c.timed) == 2, "the second answer counts: %g ms", timed_best_ms(&c.timed));
    CHECK(sqlite3_get_autocommit(store_connection(c.store)), "nothing is left open");
    CHECK(case_run(&c.bench, c.store, "580.2") > 0, "and the store goes on");
    results_free(&results);
    proposer_free(results.proposer);
    case_close(&c);
  }
}

/* End a variant as a search does, with a source and a machine code that it is said to have.
 *   away_scale  how slow another GPU was that measured it; 0: it is measured here */
static void finish_said(struct phase_case *c, struct results *results, const char *change, const char *source,
                        const char *code, double away_scale) {
  const struct proposal proposal = proposal_with(c, change);
  struct trial *trial = trial_of(c, &proposal);
  trial->generated.hash = identity_of("source", source, strlen(source));
  trial->is_away = away_scale > 0;
  trial->away_scale = away_scale;
  CHECK_OK(results_recall(results, trial, NAN));
  trial->has_code = true;
  trial->code = identity_of("code", code, strlen(code));
  if (!trial->is_over) CHECK_OK(results_find_twin(results, trial));
  if (!trial->is_over) {
    trial->result = case_measurement(1);
    trial->is_over = true;
  }
  CHECK_OK(results_finish(results, trial));
}

/* The third variant has the source of the second one, which has the machine code of the first one. */
TEST(a_variant_with_the_source_of_a_twin_is_a_twin) {
  static const struct strategy strategy = {.name = "teller", .tell = tell_nobody};
  struct watch watch = {.is_blind = true};
  struct phase_case c;
  int count;
  case_open(&c);
  const struct search_inputs in = inputs_of(&c, &strategy);
  struct results results = {.in = &in, .watch = &watch};
  struct measurement again = case_measurement(1);
  CHECK_OK(proposer_make(&strategy, NULL, false, &results.proposer));
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  finish_said(&c, &results, "", "A", "1", 0);
  finish_said(&c, &results, "z_slicing=32", "B", "1", 0);
  finish_said(&c, &results, "z_slicing=16", "B", "1", 0);
  CHECK_EQ(1, c.timed.count, "one kernel for the finals");
  CHECK_EQ(3, c.tally.tried, "all have a result");
  CHECK_EQ(2, c.tally.twins, "twins");
  CHECK_EQ(0, c.tally.recalled, "there was no earlier run");
  CHECK_EQ(2, number_of(c.store, "select count(*) from measurement"), "a row for each source");
  CHECK_OK(twins_follow(&c.twins, c.store, c.rows.run, c.timed.list[0].variant, &again, &count));
  CHECK_EQ(2, count, "both follow the original");
  CHECK_EQ(again.attempts, number_of(c.store, "select max(attempts) - min(attempts) from measurement"),
           "the row that both have is changed once");
  results_free(&results);
  proposer_free(results.proposer);
  case_close(&c);
}

/* The GPU here is as fast as at the beginning. The result was measured by one that was not. */
TEST(a_twin_has_the_scale_of_its_original) {
  static const struct strategy strategy = {.name = "teller", .tell = tell_teller};
  struct watch watch = {.is_blind = true};
  struct phase_case c;
  case_open(&c);
  struct teller teller = {.store = c.store};
  const struct search_inputs in = inputs_of(&c, &strategy);
  struct results results = {.in = &in, .watch = &watch};
  CHECK_OK(proposer_make(&strategy, &teller, false, &results.proposer));
  c.rows.run = case_run(&c.bench, c.store, "580.1");
  finish_said(&c, &results, "", "A", "1", 1.25);
  const double original_ms = teller.time_ms;
  CHECK_NEAR(case_measurement(1).timing.median_ms / 1.25, original_ms, 1e-12, "the time on a GPU that is as fast");
  finish_said(&c, &results, "z_slicing=32", "B", "1", 0);
  CHECK_EQ(2, teller.told, "both are told");
  CHECK_NEAR(original_ms, teller.time_ms, 0, "with one time");
  results_free(&results);
  proposer_free(results.proposer);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trial_that_has_no_source_has_a_row_of_its_own),
      cmocka_unit_test(a_recording_compiles_nothing),
      cmocka_unit_test(a_runner_tells_when_a_trial_had_ended),
      cmocka_unit_test(earlier_results_are_found_with_how_slow_the_gpu_was),
      cmocka_unit_test(of_variants_with_the_source_of_the_default_the_measured_one_tells_how_slow_the_gpu_was),
      cmocka_unit_test(earlier_results_are_read_in_full_or_not_at_all),
      cmocka_unit_test(a_variant_whose_compiler_died_is_tried_again),
      cmocka_unit_test(no_more_variants_than_asked_for_are_in_flight),
      cmocka_unit_test(compilers_have_more_than_what_a_lookup_serves),
      cmocka_unit_test(the_device_runs_a_variant_while_the_next_one_is_proposed),
      cmocka_unit_test(results_are_taken_while_the_strategy_thinks),
      cmocka_unit_test(variants_that_run_beside_the_program_count_at_once),
      cmocka_unit_test(a_variant_that_another_gpu_takes_over_keeps_its_reason),
      cmocka_unit_test(a_variant_whose_load_is_cancelled_has_no_result_and_ends_the_search),
      cmocka_unit_test(a_search_whose_last_variant_another_gpu_has_is_cut_by_the_deadline),
      cmocka_unit_test(what_a_lookup_serves_is_measured_first),
      cmocka_unit_test(a_slow_default_adjusts_no_earlier_results),
      cmocka_unit_test(a_stand_in_that_fails_leaves_no_anchor),
      cmocka_unit_test(doubtful_results_are_marked),
      cmocka_unit_test(twins_follow_their_original),
      cmocka_unit_test(results_that_come_together_are_stored_before_they_count),
      cmocka_unit_test(a_variant_with_the_source_of_a_twin_is_a_twin),
      cmocka_unit_test(a_twin_has_the_scale_of_its_original),
      cmocka_unit_test(the_fastest_are_compiled_ahead_for_the_second_grid),
      cmocka_unit_test(the_second_grid_is_awkward_and_has_other_weights),
      cmocka_unit_test(a_device_that_cannot_make_the_second_grids_fields_is_told_with_its_run),
      cmocka_unit_test(what_rules_keep_for_large_planes_only_is_verified_on_such),
      cmocka_unit_test(a_grid_without_inner_points_is_no_second_grid),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
