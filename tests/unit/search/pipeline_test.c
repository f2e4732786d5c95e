/* pipeline_test.c: trials, and compilers that fail. A late result of one trial must not become the result of
 * another. */
#include <sys/resource.h>

#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"
#include "tuner/search/finals/second_grid.h"
#include "tuner/search/variants/pipeline.h"

/* The limit of a compile that a test ends. Where nothing ends it, the test fails after this time. */
enum { LONG_MS = 300000 };

static const struct ending never = {.flag = NULL};

struct pipeline_case {
  struct bench_case bench;
  struct task task;
  struct compiler *compiler;
  struct pipeline *pipeline;
};

/* Open the compiler first, since it forks.
 *   timeout_ms  of a compile; 1 is too short for any compile, 0 is the usual limit */
static void case_open(struct pipeline_case *c, int timeout_ms) {
  const struct compiler_options options = {.pool = {.workers = 1, .timeout_ms = timeout_ms}, .no_cache = true};
  *c = (struct pipeline_case){.pipeline = NULL};
  CHECK_OK(compiler_open(&options, &c->compiler));
  case_load(&c->bench);
  c->task = (struct task){.stencil = c->bench.stencil,
                          .analysis = c->bench.analysis,
                          .grid = {{64, 48, 40}},
                          .coefficients = case_coefficients,
                          .limits = case_device.limits,
                          .arch = arch_find(9, 0),
                          .arch_name = "sm_90"};
  CHECK_OK(pipeline_make(c->compiler, &c->pipeline));
}

static void case_close(struct pipeline_case *c) {
  pipeline_free(c->pipeline);
  compiler_close(c->compiler);
  case_free(&c->bench);
}

static struct proposal proposal_with(const struct pipeline_case *c, int z_slicing) {
  struct proposal proposal;
  char set[256];
  snprintf(set, sizeof set,
           "storage=registers prefetch=none vector=1 block_x=32 block_y=8 points_y=1 unroll=1 cluster_y=1 band=0"
           " z_slicing=%d padding=0 load_path=plain streaming=none min_blocks=0",
           z_slicing);
  memset(&proposal, 0, sizeof proposal);
  proposal.configuration = configuration_of(c->bench.template, set);
  return proposal;
}

/* Add a trial, which differs from others in z_slicing. */
static const struct trial *trial_put(struct pipeline_case *c, int z_slicing) {
  const struct proposal proposal = proposal_with(c, z_slicing);
  struct trial *trial;
  CHECK_OK(trial_begin(&c->task, c->bench.template, &proposal, &c->task.grid, &trial));
  CHECK(!trial->is_over, "%s", trial->reason);
  CHECK_OK(pipeline_put(c->pipeline, trial, &c->task));
  return trial;
}

static int z_slicing_of(const struct trial *trial) {
  const struct template *template = trial->template;
  for (int i = 0; i < template->parameter_count; i++) {
    if (strcmp(template->parameters[i].name, "z_slicing") == 0)
      return (int)strtol(template->parameters[i].words[trial->proposal.configuration.choice[i]], NULL, 10);
  }
  return 0;
}

static rlim_t files_limit(rlim_t most) {
  struct rlimit limit;
  CHECK_EQ(0, getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = most;
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &limit), "setrlimit");
  return before;
}

/* The first compile times out. No file descriptor is left to start a worker for the second one, so the wait fails. */
TEST(a_wait_that_fails_leaves_no_late_result) {
  struct pipeline_case c;
  struct trial *trial;
  case_open(&c, 1);
  trial_put(&c, 4);
  trial_put(&c, 8);
  const rlim_t usual = files_limit(3);
  CHECK_EQ(HALOTUNE_IO, pipeline_take(c.pipeline, -1, &trial), "%s", fail_text());
  pipeline_free(c.pipeline);
  files_limit(usual);
  CHECK_OK(pipeline_make(c.compiler, &c.pipeline));
  trial_put(&c, 16);
  CHECK_OK(pipeline_take(c.pipeline, -1, &trial));
  CHECK(trial && z_slicing_of(trial) == 16, "the trial of the new pipeline");
  trial_free(trial);
  CHECK(pipeline_is_empty(c.pipeline), "it was the only one");
  CHECK_OK(pipeline_take(c.pipeline, -1, &trial));
  CHECK(!trial, "nothing is left");
  case_close(&c);
}

TEST(what_is_dropped_does_not_come_back) {
  struct pipeline_case c;
  struct trial *trial;
  case_open(&c, 0);
  trial_put(&c, 4);
  trial_put(&c, 8);
  pipeline_clear(c.pipeline);
  CHECK(pipeline_is_empty(c.pipeline) && pipeline_has_room(c.pipeline), "there is nothing in it");
  trial_put(&c, 16);
  CHECK_OK(pipeline_take(c.pipeline, -1, &trial));
  CHECK(trial && z_slicing_of(trial) == 16, "what was put in since");
  CHECK(!trial->is_over && trial->compiled.cubin, "%s", trial->reason);
  CHECK(resource_report_find(&trial->compiled.report, trial->generated.launch.kernel),
        "it is compiled from its own source");
  trial_free(trial);
  case_close(&c);
}

/* One worker compiles them in the order in which they are put in. */
TEST(a_certain_trial_is_taken_before_others_that_are_ready) {
  struct pipeline_case c;
  struct trial *trial = NULL;
  case_open(&c, 0);
  trial_put(&c, 4);
  const struct trial *wanted = trial_put(&c, 8);
  while (!trial) CHECK_OK(pipeline_take_this(c.pipeline, wanted, -1, &trial));
  CHECK_EQ(8, z_slicing_of(trial), "the wanted one");
  trial_free(trial);
  CHECK_OK(pipeline_take(c.pipeline, -1, &trial));
  CHECK(trial && z_slicing_of(trial) == 4, "then the other one");
  trial_free(trial);
  CHECK(pipeline_is_empty(c.pipeline), "there is no other");
  case_close(&c);
}

/* A compile that fails is the variant's own fault. A compiler that crashes or takes too long says nothing about the
 * variant. Each ends the search for a grid, since the next one would take as long. No device is needed for this. */
TEST(a_second_grid_for_which_a_variant_does_not_compile_is_not_passed_over) {
  static const struct {
    int timeout_ms;
    const char *arch;
    enum outcome want;
    bool has_grid;
    const char *words;
  } rows[] = {{0, "sm_1", OUTCOME_COMPILE_FAILED, true, "arch"},
              {1, "sm_90", OUTCOME_MEASURED, false, "compile_timeout on the grid "}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct pipeline_case c;
    struct text warnings = {0};
    struct verdict verdict;
    char grid[64];
    case_open(&c, rows[i].timeout_ms);
    c.task.arch_name = rows[i].arch;
    const struct proposal proposal = proposal_with(&c, 8);
    const struct search_space space = {.templates = &c.bench.template, .count = 1};
    const struct schedule schedule = {.deadline_ms = INFINITY};
    const struct final_inputs in = {.task = &c.task, .space = &space, .schedule = &schedule, .pipeline = c.pipeline};
    CHECK_OK(second_grid_check(&in, &proposal, &never, &warnings, grid, &verdict));
    CHECK_TEXT(outcome_name(rows[i].want), outcome_name(verdict.outcome), "row %zu: %s", i, verdict.reason);
    CHECK_EQ(rows[i].has_grid, grid[0] != '\0', "row %zu: %s", i, grid);
    CHECK(strstr(verdict.reason, rows[i].words), "row %zu: %s", i, verdict.reason);
    text_free(&warnings);
    case_close(&c);
  }
}

/* Template instantiations that practically never end. */
static const char runaway[] = "template <int N, unsigned M> struct tree { static const long sum = tree<N - 1, 2 * "
                              "M>::sum + tree<N - 1, 2 * M + 1>::sum; };\n"
                              "template <unsigned M> struct tree<0, M> { static const long sum = M; };\n"
                              "__global__ void k(long *a) { *a = tree<28, 1>::sum; }\n";

/* Give the only compiler work that never ends. */
static const struct trial *runaway_put(struct pipeline_case *c) {
  const struct proposal proposal = proposal_with(c, 4);
  struct trial *trial;
  CHECK_OK(trial_begin(&c->task, c->bench.template, &proposal, &c->task.grid, &trial));
  free(trial->generated.source);
  trial->generated.source = strdup(runaway);
  CHECK_OK(pipeline_put(c->pipeline, trial, &c->task));
  return trial;
}

TEST(a_wait_ends_when_the_ending_comes) {
  static const volatile sig_atomic_t flag = 1;
  const struct ending ending = {.flag = &flag};
  struct pipeline_case c;
  struct trial *trial;
  case_open(&c, LONG_MS);
  for (int way = 0; way < 3; way++) {
    const struct trial *wanted = runaway_put(&c);
    const struct proposal proposal = proposal_with(&c, 8);
    const halotune_status status =
        way < 2 ? pipeline_await(c.pipeline, way == 0 ? wanted : NULL, &ending, &trial)
                : pipeline_build(c.pipeline, &c.task, c.bench.template, &proposal, &ending, &trial);
    CHECK_EQ(HALOTUNE_CANCELLED, status, "way %d", way);
    CHECK_TEXT("stopped while a variant was compiled", fail_text(), "way %d", way);
    CHECK(!trial && pipeline_is_empty(c.pipeline), "way %d: nothing is left", way);
    CHECK_OK(pipeline_build(c.pipeline, &c.task, c.bench.template, &proposal, &never, &trial));
    CHECK(!trial->is_over, "way %d: another compile works: %s", way, trial->reason);
    trial_free(trial);
  }
  CHECK_EQ(HALOTUNE_IO, pipeline_await(c.pipeline, NULL, &never, &trial), "nothing is in it");
  case_close(&c);
}

static double next_second(void *state) {
  double *now_ms = state;
  return *now_ms += 1000;
}

/* The user stops a run in its last checks. They end after their time, and the winner stands without a second grid. */
TEST(the_last_checks_of_a_stopped_run_end) {
  static const volatile sig_atomic_t flag = 1;
  double now_ms = 0;
  const struct schedule schedule = {.time = {next_second, &now_ms}, .stop = &flag, .deadline_ms = INFINITY};
  struct pipeline_case c;
  struct text warnings = {0};
  struct verdict verdict;
  char grid[64];
  case_open(&c, LONG_MS);
  const struct proposal proposal = proposal_with(&c, 8);
  const struct search_space space = {.templates = &c.bench.template, .count = 1};
  const struct final_inputs in = {.task = &c.task, .space = &space, .schedule = &schedule, .pipeline = c.pipeline};
  runaway_put(&c);
  const struct last_checks checks = schedule_last_checks(&schedule, 5000);
  const struct ending ending = last_checks_ending(&checks);
  CHECK_OK(second_grid_check(&in, &proposal, &ending, &warnings, grid, &verdict));
  CHECK_TEXT("", grid, "no second grid");
  CHECK_TEXT("measured", outcome_name(verdict.outcome), "the variant is not to blame");
  CHECK_TEXT("interrupted before its check ended", verdict.reason, "why");
  CHECK(now_ms > 5000, "the check had its time: %g ms", now_ms);
  text_free(&warnings);
  case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_wait_that_fails_leaves_no_late_result),
      cmocka_unit_test(what_is_dropped_does_not_come_back),
      cmocka_unit_test(a_certain_trial_is_taken_before_others_that_are_ready),
      cmocka_unit_test(a_second_grid_for_which_a_variant_does_not_compile_is_not_passed_over),
      cmocka_unit_test(a_wait_ends_when_the_ending_comes),
      cmocka_unit_test(the_last_checks_of_a_stopped_run_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
