/* tune_clock_test.c: how a whole tune divides its time. The backend is the model of bench_model.h, which has the only
 * clock. Samples and loads take the time that the model says, and nothing else takes any. */
#include "stencil/template/template_read.h"
#include "tests/unit/measure/bench_model.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/measure/finals/finals_plan.h"
#include "tuner/search/tune/task_phases.h"

enum { OF_A_TEMPLATE = 100, VALUES = 32, LONG_DETAIL = 2000 };

struct clock_case {
  struct model model;
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *templates[2]; /* "heavy", "quick" */
  struct store *store;
  struct backend_handle backend;
  bool is_all_wrong, ends_in_finals;
  double compile_ms; /* of each variant before its first load; one after the other */
  bool is_compiled[2 * OF_A_TEMPLATE];
  int loads_of_default;
  int loads, failing_load; /* the number of the load that ends the run; 0: none does */
  struct grid grid;
  struct tune_options options;
  struct tune_result result;
};

/* The number of the model's variant for a candidate. */
static int variant_of(const struct candidate *candidate) {
  const bool is_quick = strcmp(candidate->spec->template->name, "quick") == 0;
  return is_quick * OF_A_TEMPLATE + candidate->spec->configuration.choice[0];
}

static halotune_status await_compile(void *state, const struct candidate *candidate, double until_ms,
                                     bool *is_compiled) {
  struct clock_case *c = state;
  bool *known = &c->is_compiled[variant_of(candidate)];
  const double end_ms = c->model.now_ms + (*known ? 0 : c->compile_ms);
  *is_compiled = *known = *known || end_ms <= until_ms;
  if (fmin(end_ms, until_ms) > c->model.now_ms) model_idle(&c->model, fmin(end_ms, until_ms) - c->model.now_ms);
  return HALOTUNE_OK;
}

static halotune_status load_variant(void *state, int slot, const struct candidate *candidate, struct verdict *verdict) {
  struct clock_case *c = state;
  if (++c->loads == c->failing_load) return fail(HALOTUNE_IO, "%0*d", LONG_DETAIL, 1);
  *verdict = (struct verdict){.outcome = c->is_all_wrong ? OUTCOME_WRONG : OUTCOME_MEASURED,
                              .worst = {.points = 1},
                              .recorded = {.is_known = true, .registers = 32, .blocks_per_sm = 1, .occupancy = 1}};
  if (c->is_all_wrong) snprintf(verdict->reason, sizeof verdict->reason, "made to be wrong");
  c->loads_of_default += variant_of(candidate) == 0;
  model_load(&c->model, slot, variant_of(candidate));
  return HALOTUNE_OK;
}

static halotune_status unload_variant(void *state, int slot) {
  ((struct clock_case *)state)->model.in_slot[slot] = -1;
  return HALOTUNE_OK;
}

static halotune_status set_no_problem(void *state, const struct backend_problem *problem) {
  (void)state, (void)problem;
  return HALOTUNE_OK;
}

/* The model does the rest. */
static halotune_status sample(void *state, const struct sample_plan *plan, double *times_ms, int *failed,
                              struct verdict *verdict) {
  return model_sample(&((struct clock_case *)state)->model, plan, times_ms, failed, verdict);
}
/* With ends_in_finals the deadline comes when the final rounds are about to begin. */
static int others(void *state) {
  struct clock_case *c = state;
  if (!c->ends_in_finals) return 0;
  c->model.now_ms = c->options.deadline_ms;
  return 2;
}
static halotune_status recheck(void *state, int slot, struct verdict *verdict) {
  return model_recheck(&((struct clock_case *)state)->model, slot, verdict);
}
static void read_clocks(void *state, struct gpu_reading *out) { model_read(&((struct clock_case *)state)->model, out); }
static halotune_status keep_warm(void *state, double time_ms) {
  return model_keep_warm(&((struct clock_case *)state)->model, time_ms);
}

static const struct backend clock_backend = {.name = "model",
                                             .set_problem = set_no_problem,
                                             .await_compile = await_compile,
                                             .load = load_variant,
                                             .unload = unload_variant,
                                             .sample = sample,
                                             .recheck = recheck,
                                             .others = others,
                                             .read = read_clocks,
                                             .keep_warm = keep_warm};

static const char kernel[] =
    "extern \"C\" __global__ void KERNEL(KERNEL_PARAMETERS) { const int size = SIZE; (void)size; }\n";

/* Two templates with a parameter of 32 values. The model's variants of "quick" take about 0.3 ms, those of "heavy" 1500
 * times as long. */
static void clock_open(struct clock_case *c) {
  static const char *const names[] = {"heavy", "quick"};
  memset(c, 0, sizeof *c);
  c->grid = (struct grid){{64, 48, 40}};
  model_make(&c->model, NOISE_INDEPENDENT, 1);
  for (int i = 0; i < VALUES; i++) {
    c->model.true_ms[OF_A_TEMPLATE + i] = 0.3 + 0.002 * i;
    c->model.true_ms[i] = 1500 * c->model.true_ms[OF_A_TEMPLATE + i];
  }
  CHECK_OK(stencil_of_kernels("star7", &c->stencil));
  CHECK_OK(analysis_make(c->stencil, &c->analysis));
  for (int i = 0; i < 2; i++) {
    char yaml[512];
    int length = snprintf(yaml, sizeof yaml,
                          "name: test\nabout: x\nblock: [32, 1, 1]\ngrid: [1, 1, 1]\nshared_bytes: 0\nrules: []\n"
                          "parameters: {size: {default: 1, about: x, values: [1");
    for (int value = 2; value <= VALUES; value++)
      length += snprintf(yaml + length, sizeof yaml - (size_t)length, ", %d", value);
    snprintf(yaml + length, sizeof yaml - (size_t)length, "]}}\n");
    CHECK_OK(template_of_texts(yaml, kernel, &c->templates[i]));
    c->templates[i]->name = names[i];
    c->templates[i]->hash.bytes[0] ^= (unsigned char)i;
  }
  CHECK_OK(store_open_memory(&c->store));
  c->backend = (struct backend_handle){
      .table = &clock_backend,
      .state = c,
      .facts = {
          .device = case_device, .arch = arch_find(9, 0), .is_recording = true, .driver = "580.1", .nvrtc = "13.0"}};
  c->options = (struct tune_options){.strategy = &strategy_exhaustive,
                                     .seed = 1,
                                     .budget_s = 30,
                                     .deadline_ms = INFINITY,
                                     .time = model_time(&c->model),
                                     .launch = LAUNCH_STREAM,
                                     .no_hints = true,
                                     .command = "halotune tune star7",
                                     .host = "host"};
}

static void clock_close(struct clock_case *c) {
  store_close(c->store);
  for (int i = 0; i < 2; i++) template_free(c->templates[i]);
  analysis_free(c->analysis);
  stencil_free(c->stencil);
}

/* Tune with `count` templates, from `first` on. */
static halotune_status try_tune(struct clock_case *c, int first, int count) {
  const struct tune_tools tools = {.backend = &c->backend, .store = c->store};
  const struct task task = {.stencil = c->stencil,
                            .analysis = c->analysis,
                            .stencil_text = "text",
                            .grid = c->grid,
                            .coefficients = case_coefficients,
                            .limits = case_device.limits,
                            .arch = arch_find(9, 0),
                            .arch_name = "sm_90"};
  const struct tune_templates templates = {c->templates + first, NULL, count}, none = {NULL, NULL, 0};
  return tune(&tools, &task, &templates, NULL, &none, &c->options, &c->result);
}

static void run_tune(struct clock_case *c, int first, int count) { CHECK_OK(try_tune(c, first, count)); }

static double spent_s(const struct tune_result *result) { return result->search_s + result->final_s; }

TEST(a_default_that_is_a_thousand_times_slower_than_the_best_keeps_the_budget) {
  struct clock_case c;
  clock_open(&c);
  c.options.max_variants = 4;
  run_tune(&c, 0, 2);
  const struct final_winner *winner = &c.result.winner;
  CHECK(c.result.is_complete, "%s", c.result.reason);
  CHECK(spent_s(&c.result) <= c.options.budget_s, "search %g s, finals %g s", c.result.search_s, c.result.final_s);
  CHECK_EQ(4, c.result.tally.tried, "all that was asked for");
  CHECK_EQ(3, c.loads_of_default, "loaded when it is found, measured and compared: it is no anchor");
  CHECK_TEXT("quick", winner->template_name, "the other template is tried");
  CHECK(winner->timing.sample_count >= 8 && winner->timing.median_ms < 0.4, "%g ms", winner->timing.median_ms);
  CHECK(winner->default_ms / winner->timing.median_ms > 1000, "the speed-up over %g ms", winner->default_ms);
  CHECK_EQ(1,
           number_of(c.store, "select group_concat(name, ' ') = 'heavy quick' from (select name from measurement m join"
                              " variant v on v.id = variant_id join template t on t.id = template_id where number <= 2"
                              " order by number)"),
           "after the default the default of the other template");
  CHECK_EQ(1,
           number_of(c.store, "select max(sample_count * median_ms) <= 1000 from measurement m join variant v on"
                              " v.id = variant_id join template t on t.id = template_id where name = 'heavy'"),
           "the samples of each take 1 s at most");
  CHECK_EQ(1,
           number_of(c.store,
                     "select f.sample_count < 8 and f.rank > 1 and f.ratio > 1000 and b.default_ms = f.median_ms"
                     " from finalist f join best b on b.run_id = f.run_id where f.is_default and b.is_current"),
           "the default is a finalist in few rounds, and the speed-up over it is stored");
  clock_close(&c);
}

TEST(a_space_in_which_all_variants_are_slow_keeps_the_budget) {
  struct clock_case c;
  clock_open(&c);
  c.options.max_variants = 4;
  run_tune(&c, 0, 1);
  CHECK(c.result.is_complete && c.result.winner.exists, "%s", c.result.reason);
  CHECK(spent_s(&c.result) <= c.options.budget_s, "search %g s, finals %g s", c.result.search_s, c.result.final_s);
  CHECK(c.result.winner.timing.sample_count >= 3, "%d samples", c.result.winner.timing.sample_count);
  clock_close(&c);
}

/* Loading takes 1 s, so 32 variants take longer than the time up to the deadline, which is before the end of the
 * budget. */
static void cut_short(struct clock_case *c) {
  c->options.budget_s = 90;
  c->options.deadline_ms = c->model.now_ms + 25e3;
  run_tune(c, 1, 1);
}

TEST(a_search_that_the_deadline_cuts_short_is_partial) {
  struct clock_case c;
  clock_open(&c);
  c.model.load_ms = 1000;
  cut_short(&c);
  CHECK(!c.result.is_complete && c.result.winner.exists, "there is a winner");
  CHECK(c.result.tally.tried > 1 && c.result.tally.tried < VALUES, "%ld tried", c.result.tally.tried);
  CHECK_TEXT("the deadline cut the search short", c.result.reason, "the reason");
  CHECK(c.result.winner.is_current, "it serves where there is no other");
  CHECK(c.model.now_ms <= c.options.deadline_ms, "the deadline is kept");
  CHECK_EQ(1,
           number_of(c.store, "select state = 'partial' and reason = 'the deadline cut the search short' and warnings"
                              " not like '%budget%' from run"),
           "so it is in the store");

  /* Without a deadline the same search continues. */
  const long tried = c.result.tally.tried;
  c.options.deadline_ms = INFINITY;
  c.options.budget_s = INFINITY;
  run_tune(&c, 1, 1);
  CHECK(c.result.is_complete && c.result.winner.is_current, "%s", c.result.reason);
  CHECK_EQ(VALUES, c.result.tally.tried, "all");
  CHECK_EQ(tried, c.result.tally.recalled, "those of before are not measured again");

  /* A search that was cut short replaces no winner of a complete search, even if that is slower. */
  CHECK_EQ(SQLITE_OK,
           sqlite3_exec(store_connection(c.store), "update best set time_ms = 1000 * time_ms where is_current", NULL,
                        NULL, NULL),
           "a slower winner");
  c.options.fresh = true;
  cut_short(&c);
  CHECK(!c.result.is_complete && c.result.winner.exists && !c.result.winner.is_current, "%s", c.result.reason);
  CHECK_EQ(2, number_of(c.store, "select run_id from best where is_current"), "the winner of the whole run");
  clock_close(&c);
}

/* A winner of a handful of variants replaces no winner of a complete search. */
TEST(a_search_of_a_handful_of_variants_is_partial) {
  struct clock_case c;
  clock_open(&c);
  run_tune(&c, 1, 1);
  CHECK(c.result.is_complete && c.result.tally.tried == VALUES, "%ld tried", c.result.tally.tried);
  CHECK_EQ(SQLITE_OK,
           sqlite3_exec(store_connection(c.store), "update best set time_ms = 1000 * time_ms where is_current", NULL,
                        NULL, NULL),
           "a slower winner");
  c.model.load_ms = 3000;
  c.options.budget_s = 20;
  c.options.fresh = true;
  run_tune(&c, 1, 1);
  CHECK(c.result.tally.tried >= 1 && c.result.tally.tried < 10, "%ld tried", c.result.tally.tried);
  CHECK(!c.result.is_complete && c.result.winner.exists && !c.result.winner.is_current, "%s", c.result.reason);
  CHECK_TEXT("the time was too short for ten variants", c.result.reason, "the reason");
  c.options.max_variants = 2;
  run_tune(&c, 1, 1);
  CHECK(c.result.is_complete, "it tried all that was asked for: %s", c.result.reason);
  clock_close(&c);
}

/* What was measured and noticed before the end is stored. */
TEST(a_run_that_ends_in_its_finals_keeps_its_figures) {
  struct clock_case c;
  clock_open(&c);
  c.ends_in_finals = true;
  cut_short(&c);
  CHECK(!c.result.winner.exists, "there is no winner");
  CHECK_TEXT("the deadline passed", c.result.reason, "the reason");
  CHECK_EQ(1, number_of(c.store, "select count(*) from run where warnings like '%2 other processes%'"), "warnings");
  CHECK_EQ(1, number_of(c.store, "select count(*) from run where empty_ms > 0"), "the time of an empty kernel");
  clock_close(&c);
}

/* The row of the run and its line have only the beginning. */
TEST(a_run_that_fails_keeps_the_whole_detail) {
  struct clock_case c;
  clock_open(&c);
  run_tune(&c, 1, 1);
  CHECK(c.loads > 10, "%d loads of a whole run", c.loads);
  c.failing_load = c.loads + 10;
  c.options.fresh = true;
  CHECK_EQ(HALOTUNE_IO, try_tune(&c, 1, 1), "the backend's status");
  CHECK_EQ(LONG_DETAIL, strlen(fail_text()), "the backend's detail");
  CHECK_EQ(1, number_of(c.store, "select count(*) from run where reason like '00000%'"), "why the run ended");
  clock_close(&c);
}

TEST(a_task_with_too_little_time_before_the_deadline_is_not_searched) {
  struct clock_case c;
  clock_open(&c);
  c.options.deadline_ms = c.model.now_ms + 11e3;
  CHECK(!tune_has_time(&c.options, c.model.now_ms), "10 s are needed, and 2 s for the last steps");
  run_tune(&c, 1, 1);
  CHECK(!c.result.is_complete && !c.result.winner.exists && c.result.tally.tried == 0, "nothing is tried");
  CHECK_TEXT("too little time was left before the deadline", c.result.reason, "the reason");
  CHECK(!c.result.is_exhausted, "another run may find something");

  /* The set-up alone takes longer than the time that is left. */
  c.model.load_ms = 20e3;
  c.options.deadline_ms = c.model.now_ms + 13e3;
  CHECK(tune_has_time(&c.options, c.model.now_ms), "enough time to begin");
  run_tune(&c, 1, 1);
  CHECK_TEXT("the deadline passed", c.result.reason, "the reason");
  CHECK_EQ(1, number_of(c.store, "select count(*) from run"), "a run that ends in its set-up is not in the store");
  clock_close(&c);
}

TEST(a_space_is_exhausted_where_all_is_wrong_and_time_was_no_reason_to_end) {
  struct clock_case c;
  clock_open(&c);
  c.is_all_wrong = true;
  c.model.load_ms = 1000;
  c.options.budget_s = 15;
  run_tune(&c, 1, 1);
  CHECK(c.result.tally.tried > 0 && c.result.tally.tried < VALUES, "%ld tried", c.result.tally.tried);
  CHECK(!c.result.winner.exists && !c.result.is_exhausted, "others may be right");
  CHECK(c.result.tally.first_failure == OUTCOME_WRONG, "the first failure is known");
  c.options.budget_s = INFINITY;
  run_tune(&c, 1, 1);
  CHECK_EQ(VALUES, c.result.tally.tried, "all");
  CHECK(!c.result.winner.exists && c.result.is_exhausted, "nothing to go on with");
  c.options.max_variants = 5;
  c.options.fresh = true;
  run_tune(&c, 1, 1);
  CHECK(c.result.tally.tried == 5 && c.result.is_exhausted, "all that was asked for was tried");
  clock_close(&c);
}

/* Finals of short kernels take a fraction of a second. The search has the rest: half of a short budget was kept. */
TEST(what_the_finals_do_not_need_is_the_searchs) {
  struct clock_case c;
  clock_open(&c);
  c.model.load_ms = 100;
  c.options.budget_s = 4;
  run_tune(&c, 1, 1);
  const struct tune_result *result = &c.result;
  CHECK(result->winner.exists, "%s", result->reason);
  if (getenv("SHOW"))
    print_message("# tried %ld, search %g s, finals %g s\n", result->tally.tried, result->search_s, result->final_s);
  CHECK(result->search_s > 2.2 && result->tally.tried >= 19, "%ld tried in %g s", result->tally.tried,
        result->search_s);
  CHECK(spent_s(result) <= c.options.budget_s, "search %g s, finals %g s", result->search_s, result->final_s);
  CHECK(result->winner.timing.sample_count >= 8, "%d samples", result->winner.timing.sample_count);
  clock_close(&c);
}

/* Results of an earlier run take no time, and do not tell how long a load takes. The finals keep what they need. */
TEST(recalled_results_do_not_shorten_the_finals) {
  struct clock_case c;
  clock_open(&c);
  c.options.max_variants = 24;
  run_tune(&c, 1, 1);
  c.options.max_variants = 0;
  c.model.load_ms = 700;
  c.options.budget_s = 10;
  run_tune(&c, 1, 1);
  const struct tune_result *result = &c.result;
  if (getenv("SHOW"))
    print_message("# tried %ld, search %g s, finals %g s, %d samples\n", result->tally.tried, result->search_s,
                  result->final_s, result->winner.timing.sample_count);
  CHECK_EQ(24, result->tally.recalled, "of %ld", result->tally.tried);
  CHECK(result->winner.exists && spent_s(result) <= c.options.budget_s, "search %g s, finals %g s", result->search_s,
        result->final_s);
  clock_close(&c);
}

/* A recording tells when a compile ends only when its variant is wanted. */
TEST(no_compile_that_ends_after_the_search_is_awaited) {
  struct clock_case c;
  clock_open(&c);
  c.compile_ms = 7000;
  c.options.budget_s = 24;
  run_tune(&c, 1, 1);
  const struct tune_result *result = &c.result;
  if (getenv("SHOW"))
    print_message("# tried %ld, search %g s, finals %g s\n", result->tally.tried, result->search_s, result->final_s);
  CHECK(result->winner.exists && result->tally.tried == 2, "%ld tried", result->tally.tried);
  CHECK(result->search_s > 18 && spent_s(result) <= c.options.budget_s, "search %g s, finals %g s", result->search_s,
        result->final_s);
  clock_close(&c);
}

/* Times of star7 on 1200^3: 3.7 ms the best and 12 ms the default. A load with its check takes 200 ms. */
TEST(a_short_budget_on_a_large_grid_is_not_spent_on_hints_nor_on_one_variant) {
  struct clock_case c;
  clock_open(&c);
  for (int i = 0; i < VALUES; i++) {
    c.model.true_ms[OF_A_TEMPLATE + i] = 3.7 + 0.02 * i;
    c.model.true_ms[i] = 12;
  }
  c.options.strategy = &strategy_local;
  c.options.no_hints = false;
  run_tune(&c, 1, 1);
  c.grid = (struct grid){{1200, 1200, 1200}};
  c.model.load_ms = 200;
  c.options.budget_s = 6;
  run_tune(&c, 0, 2);
  const struct tune_result *result = &c.result;
  const long hinted = result->tally.hinted, tried = result->tally.tried;
  if (getenv("SHOW"))
    print_message("# tried %ld, hinted %ld, search %g s, finals %g s\n", tried, hinted, result->search_s,
                  result->final_s);
  CHECK(result->is_complete && hinted > 0 && tried >= 10 && tried > hinted + 2, "%ld tried, %ld hinted: %s", tried,
        hinted, result->reason);
  CHECK(spent_s(result) <= c.options.budget_s, "search %g s, finals %g s", result->search_s, result->final_s);
  clock_close(&c);
}

/* Where time ends the search, the finals fill the budget with more rounds. Where all is tried, nobody waits. */
TEST(the_whole_budget_is_used_unless_all_is_tried) {
  static const struct {
    double load_ms, budget_s;
    bool is_full;
  } rows[] = {{20, 1.2, true}, {40, 2, true}, {100, 4, true}, {5, 30, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct clock_case c;
    clock_open(&c);
    c.model.load_ms = rows[i].load_ms;
    c.options.budget_s = rows[i].budget_s;
    run_tune(&c, 1, 1);
    const struct tune_result *result = &c.result;
    const double share = spent_s(result) / rows[i].budget_s;
    const int samples = result->winner.timing.sample_count;
    if (getenv("SHOW")) print_message("# row %zu: %.3f of the budget, %d samples\n", i, share, samples);
    CHECK(result->winner.exists && share <= 1, "row %zu: %g of the budget", i, share);
    CHECK(rows[i].is_full ? share > 0.9 : share < 0.5, "row %zu: %g of the budget", i, share);
    CHECK(rows[i].is_full ? samples > FINALS_ROUNDS && samples <= FINALS_ROUNDS_MOST : samples == FINALS_ROUNDS,
          "row %zu: %d samples", i, samples);
    clock_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_the_finals_do_not_need_is_the_searchs),
      cmocka_unit_test(recalled_results_do_not_shorten_the_finals),
      cmocka_unit_test(no_compile_that_ends_after_the_search_is_awaited),
      cmocka_unit_test(a_short_budget_on_a_large_grid_is_not_spent_on_hints_nor_on_one_variant),
      cmocka_unit_test(the_whole_budget_is_used_unless_all_is_tried),
      cmocka_unit_test(a_default_that_is_a_thousand_times_slower_than_the_best_keeps_the_budget),
      cmocka_unit_test(a_space_in_which_all_variants_are_slow_keeps_the_budget),
      cmocka_unit_test(a_search_that_the_deadline_cuts_short_is_partial),
      cmocka_unit_test(a_search_of_a_handful_of_variants_is_partial),
      cmocka_unit_test(a_run_that_ends_in_its_finals_keeps_its_figures),
      cmocka_unit_test(a_run_that_fails_keeps_the_whole_detail),
      cmocka_unit_test(a_task_with_too_little_time_before_the_deadline_is_not_searched),
      cmocka_unit_test(a_space_is_exhausted_where_all_is_wrong_and_time_was_no_reason_to_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
