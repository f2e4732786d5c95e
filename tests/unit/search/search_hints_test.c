/* search_hints_test.c: the winners of databases that a search uses as hints: which ones, in what order, as which
 * variants of the present templates, and with which variants the search starts. Nothing is compiled or run. */
#include <math.h>

#include "db/store/store_copy.h"
#include "stencil/template/template_read.h"
#include "tests/unit/library/made_costs.h"
#include "tuner/search/hints/hint_rows.h"
#include "tuner/search/hints/hints.h"
#include "tuner/search/tune/setup.h"

#define F32 DTYPE_F32
#define F64 DTYPE_F64
#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

struct hints_case {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct bindings bindings;
  struct backend_handle backend;
  struct store *own, *other, *stores[1];
  struct tune_tools tools;
  struct tune_options options;
  struct task task;
  struct trial first;
  struct schedule schedule;
  struct setup_inputs in;
  struct setup setup;
};

/* A clock that stands still, so that databases are read to their ends on a slow machine, too. */
static double still_ms(void *state) {
  (void)state;
  return 0;
}

/* A stencil in f32 on an H200, with the template `direct`. Its default is the first variant. */
static void hints_open_for(struct hints_case *c, const char *stencil, const struct grid *grid) {
  *c = (struct hints_case){.options = {.strategy = &strategy_local}};
  CHECK_OK(stencil_of_kernels(stencil, &c->stencil));
  CHECK_OK(analysis_make(c->stencil, &c->analysis));
  CHECK_OK(template_read("templates/direct.yaml", &c->template));
  CHECK_OK(store_open_memory(&c->own));
  CHECK_OK(store_open_memory(&c->other));
  c->stores[0] = c->other;
  c->backend.facts.device = tuned_device(GPU_H200);
  c->tools = (struct tune_tools){.backend = &c->backend, .store = c->own, .hints = c->stores, .hint_count = 1};
  c->task = (struct task){.stencil = c->stencil,
                          .analysis = c->analysis,
                          .dtype = F32,
                          .grid = *grid,
                          .limits = c->backend.facts.device.limits,
                          .arch = arch_find(9, 0),
                          .arch_name = "sm_90"};
  CHECK_OK(task_bindings(&c->task, c->template, &c->bindings));
  c->first = (struct trial){.template = c->template};
  c->first.proposal.configuration = configuration_default(c->template);
  c->schedule = (struct schedule){.time = {still_ms, NULL}, .deadline_ms = INFINITY};
  c->in = (struct setup_inputs){.tools = &c->tools, .task = &c->task, .options = &c->options, .schedule = &c->schedule};
  c->setup = (struct setup){.first = &c->first};
  c->setup.space = (struct search_space){.templates = &c->template, .bindings = &c->bindings, .count = 1};
}

/* star7 on 64^3. */
static void hints_open(struct hints_case *c) { hints_open_for(c, "star7", &(struct grid){{64, 64, 64}}); }

static void hints_close(struct hints_case *c) {
  known_free(&c->setup.known);
  predicted_free(&c->setup.predicted);
  proposals_free(&c->setup.hints);
  proposals_free(&c->setup.starts);
  bindings_free(&c->bindings);
  store_close(c->other);
  store_close(c->own);
  template_free(c->template);
  analysis_free(c->analysis);
  stencil_free(c->stencil);
}

/* Find the hints again. */
static void find_again(struct hints_case *c) {
  known_free(&c->setup.known);
  predicted_free(&c->setup.predicted);
  proposals_free(&c->setup.hints);
  c->setup.space.hints = NULL;
  c->setup.space.hint_count = 0;
  CHECK_OK(setup_find_hints(&c->in, &c->setup));
  CHECK_EQ(c->setup.hints.count, c->setup.space.hint_count, "the strategy sees them");
}

static void change_database(struct store *store, const char *sql) {
  char *error = NULL;
  CHECK(sqlite3_exec(store_connection(store), sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
}

/* Whether hint number `at` is the default with these changes. */
static bool proposal_is(const struct hints_case *c, const struct proposal_list *list, long at, const char *set) {
  const struct configuration want = configuration_of(c->template, set);
  return at < list->count && memcmp(&want, &list->list[at].configuration, sizeof want) == 0;
}

static bool hint_is(const struct hints_case *c, long at, const char *set) {
  return proposal_is(c, &c->setup.hints, at, set);
}

static bool start_is(const struct hints_case *c, long at, const char *set) {
  return proposal_is(c, &c->setup.starts, at, set);
}

/* Sorted by distance. They are stored in another order. */
static const struct {
  struct tuned row;
  double distance[HINT_DISTANCES]; /* stencil, device, steps, grid, dtype, mode, history */
} near_rows[] = {
    {{GPU_H200, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1}, {0, 0, 0, 0, 0, 0, 0}},
    {{GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.2}, {0, 0, 0, 0, 0, 0, 1}},
    {{GPU_H200, "star7", "direct", "vector=1", F32, {64, 64, 64}, LAUNCH_GRAPH, CACHE_STEADY, false, 0.1},
     {0, 0, 0, 0, 0, 1, 0}},
    {{GPU_H200, "star7", "direct", "vector=1", F32, {64, 64, 64}, LAUNCH_GRAPH, CACHE_COLD, false, 0.1},
     {0, 0, 0, 0, 0, 2, 0}},
    {{GPU_H200, "star7", "zmarch", "vector=1", F64, {64, 64, 64}, USUAL, 0.1}, {0, 0, 0, 0, 1, 0, 0}},
    {{GPU_H200, "star7", "direct", "vector=1", F64, {128, 64, 64}, USUAL, 0.1}, {0, 0, 0, 1, 1, 0, 0}},
    {{GPU_H200, "star7", "direct", "vector=1", F32, {32, 128, 64}, USUAL, 0.1}, {0, 0, 0, 2, 0, 0, 0}},
    {{GPU_H100, "star7", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1}, {0, 1, 0, 0, 0, 0, 0}},
    {{GPU_A100, "star7", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1}, {0, 3, 0, 0, 0, 0, 0}},
    {{GPU_H200, "star13", "direct", "vector=1", F64, {64, 64, 64}, USUAL, 0.1}, {2, 0, 0, 0, 1, 0, 0}},
    {{GPU_H200, "star25", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1}, {4, 0, 0, 0, 0, 0, 0}},
};
static const struct tuned far_rows[] = {
    {GPU_H200, "box27", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1},
    {GPU_H200, "heat2d", "direct", "vector=1", F32, {64, 64, 1}, USUAL, 0.1},
    {GPU_H200, "derivative_x", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1},
};
static const struct tuned emulated_row = {GPU_EMULATION, "star7", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.1};

static const struct hint_end never = {.is_over = NULL};

TEST(the_nearest_winners_come_first) {
  struct hints_case c;
  struct hint_rows rows = {.count = 0};
  hints_open(&c);
  /* From the last to the first. The second one is the winner until the first one, which is faster, replaces it. */
  for (size_t i = COUNT(near_rows); i-- > 0;) tuned_put(i > 1 && i % 2 ? c.own : c.other, &near_rows[i].row);
  for (size_t i = 0; i < COUNT(far_rows); i++) tuned_put(c.own, &far_rows[i]);
  tuned_put(c.other, &emulated_row);
  const struct hint_target target = {
      .task = &c.task, .device = &c.backend.facts.device, .launch = LAUNCH_STREAM, .cache = CACHE_STEADY};
  CHECK_OK(hint_rows_read(&rows, c.own, &target, &never));
  CHECK_OK(hint_rows_read(&rows, c.other, &target, &never));
  hint_rows_sort(&rows);
  CHECK_EQ((int)COUNT(near_rows), rows.count, "another shape, other dimensions, an emulation: no hints");
  for (int i = 0; i < rows.count && i < (int)COUNT(near_rows); i++) {
    for (int k = 0; k < HINT_DISTANCES; k++)
      CHECK_NEAR(near_rows[i].distance[k], rows.list[i].distance[k], 1e-12, "row %d, distance %d", i, k);
    CHECK_TEXT(near_rows[i].row.template, rows.list[i].template_name, "row %d", i);
  }
  hint_rows_free(&rows);
  struct hint_target emulation = target;
  emulation.is_emulation = true;
  CHECK_OK(hint_rows_read(&rows, c.other, &emulation, &never));
  int seen = 0;
  for (int i = 0; i < rows.count; i++) seen += rows.list[i].distance[HINT_DEVICE] == 1;
  CHECK_EQ(1, seen, "the emulation's is for an emulation");
  hint_rows_free(&rows);
  hints_close(&c);
}

/* What is fast for one step a launch tells less of four. */
TEST(winners_of_as_many_steps_come_before_nearer_grids) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H200, "star7", "direct", "block_x=64", F32, {128, 128, 128}, USUAL, 0.1},
      {GPU_H200, "star7", "direct", "block_x=128", F32, {256, 256, 256}, USUAL, 0.1},
      {GPU_H100, "star7", "direct", "block_x=256", F32, {64, 64, 64}, USUAL, 0.1},
  };
  static const double want[] = {0, 1, 2, 0};
  static const char *const sets[] = {"\"block_x\":128", "\"block_x\":64", "\"block_x\":32", "\"block_x\":256"};
  struct hint_rows found = {.count = 0};
  struct hints_case c;
  hints_open(&c);
  c.task.launch_steps = 4;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.own, &rows[i]);
  change_database(c.own, "update problem set steps = case when nx = 64 and device_id = (select min(device_id) from"
                         " problem) then 1 when nx = 128 then 2 else 4 end");
  const struct hint_target target = {
      .task = &c.task, .device = &c.backend.facts.device, .launch = LAUNCH_STREAM, .cache = CACHE_STEADY};
  CHECK_OK(hint_rows_read(&found, c.own, &target, &never));
  hint_rows_sort(&found);
  CHECK_EQ((int)COUNT(rows), found.count, "all of them");
  for (int i = 0; i < found.count; i++) {
    CHECK_NEAR(want[i], found.list[i].distance[HINT_STEPS], 1e-12, "row %d", i);
    CHECK(strstr(found.list[i].parameters, sets[i]), "row %d: %s", i, found.list[i].parameters);
  }
  hint_rows_free(&found);
  hints_close(&c);
}

/* A document or a database can have any numbers. */
TEST(a_row_without_a_grid_is_no_hint) {
  static const char *const points[] = {"nx = -64", "ny = 0", "nz = 4294967296"};
  for (size_t i = 0; i < COUNT(points); i++) {
    struct hints_case c;
    char change[128];
    hints_open(&c);
    tuned_put(c.other, &near_rows[0].row);
    snprintf(change, sizeof change, "update problem set %s", points[i]);
    change_database(c.other, change);
    find_again(&c);
    CHECK_EQ(0, c.setup.hints.count, "%s", points[i]);
    hints_close(&c);
  }
}

TEST(of_a_problem_the_newest_winners_count) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.5},
      {GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.4},
      {GPU_H200, "star7", "direct", "block_x=256", F32, {64, 64, 64}, USUAL, 0.2},
      {GPU_H200, "star7", "direct", "block_x=512", F32, {64, 64, 64}, USUAL, 0.3},
  };
  struct hints_case c;
  hints_open(&c);
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.own, &rows[i]);
  change_database(c.own, "update best set date = printf('2026-01-%02d', id)");
  find_again(&c);
  CHECK_EQ(HINTS_OF_A_PROBLEM, c.setup.hints.count, "not all of its history");
  CHECK(hint_is(&c, 0, "block_x=256"), "the current one, though not the newest");
  CHECK(hint_is(&c, 1, "block_x=512"), "the newest other one");
  CHECK(hint_is(&c, 2, "block_x=64"), "the one before");
  hints_close(&c);
}

TEST(winners_of_older_templates_are_read_by_name) {
  static const struct tuned row = {GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.1};
  static const struct {
    const char *parameters, *want; /* NULL: no hint */
  } rows[] = {
      {"{\"block_y\":2,\"block_x\":64}", "block_x=64 block_y=2"},
      {"{\"load_path\":\"readonly\"}", "load_path=readonly"},
      {"{}", NULL}, /* the default, which is tried anyway */
      {"{\"block_x\":64,\"gone\":1}", "block_x=64"},
      {"{\"gone\":\"word\",\"block_x\":64,\"block_y\":2}", "block_x=64 block_y=2"},
      {"{\"gone\":1}", NULL},
      {"{\"gone\":1,\"block_x\":65}", NULL},
      {"{\"block_x\":65}", NULL},
      {"{\"block_x\":\"wide\"}", NULL},
      {"{\"load_path\":\"teleport\"}", NULL},
      {"{\"block_x\":64", NULL},
      {"", NULL},
  };
  struct hints_case c;
  hints_open(&c);
  tuned_put(c.other, &row);
  change_database(c.other, "update template set hash = printf('%032x', id), yaml = '', cuda = ''");
  for (size_t i = 0; i < COUNT(rows); i++) {
    char *sql = sqlite3_mprintf("update variant set parameters = %Q", rows[i].parameters);
    change_database(c.other, sql);
    sqlite3_free(sql);
    find_again(&c);
    CHECK_EQ(rows[i].want ? 1 : 0, c.setup.hints.count, "row %zu: %s", i, rows[i].parameters);
    CHECK(!rows[i].want || hint_is(&c, 0, rows[i].want), "row %zu: %s", i, rows[i].parameters);
  }
  change_database(c.other,
                  "update variant set parameters = '{\"block_x\":64}'; update template set name = 'forgotten'");
  find_again(&c);
  CHECK_EQ(0, c.setup.hints.count, "a template that is not searched");
  hints_close(&c);
}

TEST(what_rules_exclude_becomes_the_nearest_that_they_keep) {
  static const struct tuned row = {GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.1};
  struct hints_case c;
  hints_open(&c);
  tuned_put(c.own, &row);
  change_database(c.own, "update variant set parameters = '{\"block_x\":512,\"block_y\":16,\"vector\":2}'");
  find_again(&c);
  CHECK_EQ(1, c.setup.hints.count, "a block of too many threads");
  const struct configuration asked = configuration_of(c.template, "block_x=512 block_y=16 vector=2");
  struct configuration *got = &c.setup.hints.list[0].configuration;
  bindings_configure(&c.bindings, got);
  CHECK(bindings_failed_rule(&c.bindings) == NULL, "the rules keep it");
  int changes = 0;
  for (int i = 0; i < c.template->parameter_count; i++) changes += got->choice[i] != asked.choice[i];
  CHECK_EQ(1, changes, "one value has to change");
  struct fixed_parameters fixed = {.values = configuration_default(c.template)};
  int block_x = template_parameter(c.template, "block_x", strlen("block_x"));
  CHECK_OK(configuration_set(c.template, "block_x=256", &fixed.values));
  fixed.is_fixed[block_x] = true;
  c.setup.space.fixed = &fixed;
  find_again(&c);
  got = &c.setup.hints.list[0].configuration;
  CHECK_EQ(fixed.values.choice[block_x], got->choice[block_x], "what --set fixes stays");
  bindings_configure(&c.bindings, got);
  CHECK(bindings_failed_rule(&c.bindings) == NULL, "and the rules keep it");
  hints_close(&c);
}

enum { KINDS = 20 };

/* Store a winner on a separate grid. There are as many kinds as combinations of these values, and none is the
 * default. */
static void put_kind(struct store *store, const char *stencil, int kind, long nz) {
  static const int block_x[] = {32, 64, 256, 512, 1024}, points_z[] = {1, 2, 4, 8};
  char set[64];
  snprintf(set, sizeof set, "vector=1 block_x=%d points_z=%d", block_x[kind / 4], points_z[kind % 4]);
  const struct tuned row = {GPU_H200, stencil, "direct", set, F32, {64 + kind, 64, nz}, USUAL, 0.1};
  tuned_put(store, &row);
}

TEST(no_hint_is_there_twice_and_there_are_few) {
  struct hints_case c;
  hints_open(&c);
  for (int kind = 0; kind < KINDS; kind++) {
    put_kind(c.own, "star7", kind, 64);
    put_kind(c.own, "star7", kind, 65);
    put_kind(c.other, "star7", kind, 64);
  }
  find_again(&c);
  CHECK_EQ(MOST_HINTS, c.setup.hints.count, "so many");
  for (long i = 0; i < c.setup.hints.count; i++) {
    const struct proposal *hint = &c.setup.hints.list[i];
    CHECK(proposals_have(&c.setup.hints, &c.setup.space, hint), "%ld", i);
    for (long k = 0; k < i; k++)
      CHECK(!proposal_equals(&c.setup.space, hint, &c.setup.hints.list[k]), "%ld is %ld again", i, k);
  }
  CHECK(!proposals_have(&c.setup.hints, &c.setup.space, &c.first.proposal), "the default is none");
  struct proposal recorded = c.setup.hints.list[5];
  c.setup.space.only = &recorded, c.setup.space.only_count = 1;
  find_again(&c);
  CHECK_EQ(1, c.setup.hints.count, "of a recording only what it has");
  CHECK(proposal_equals(&c.setup.space, &recorded, c.setup.hints.list), "this one");
  hints_close(&c);
}

TEST(other_stencils_give_fewer_hints) {
  struct hints_case c;
  hints_open(&c);
  for (int kind = 0; kind < KINDS; kind++) put_kind(c.other, "star13", kind, 64);
  find_again(&c);
  CHECK_EQ(MOST_HINTS_OF_OTHERS, c.setup.hints.count, "of stencils of the same shape");
  hints_close(&c);
}

/* A later version may have written it. */
TEST(a_stencil_that_this_version_cannot_read_tells_nothing) {
  static const struct tuned rows[] = {
      {GPU_H100, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.4},
      {GPU_H100, "star13", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.4},
  };
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.other, &rows[i]);
  for (int readable = 2; readable > 0; readable--) {
    find_again(&c);
    CHECK_EQ(readable, c.setup.hints.count, "winners");
    CHECK_EQ(readable, c.setup.space.known.count, "measurements");
    change_database(c.other, "update stencil_text set text = 'name: star13 of the future' where stencil_id = 2");
  }
  hints_close(&c);
}

TEST(a_search_can_begin_blind) {
  static const struct tuned row = {GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.1};
  struct hints_case c;
  hints_open(&c);
  tuned_put(c.own, &row);
  find_again(&c);
  CHECK_EQ(1, c.setup.hints.count, "a hint");
  c.options.no_hints = true;
  find_again(&c);
  CHECK_EQ(0, c.setup.hints.count, "none with --no-hints");
  c.options.no_hints = false;
  c.options.strategy = &strategy_exhaustive;
  find_again(&c);
  CHECK_EQ(0, c.setup.hints.count, "none for a strategy that tries all");
  hints_close(&c);
}

/* Measured elsewhere: a time there is compared with the best there. */
TEST(measurements_of_other_problems_are_known) {
  static const struct tuned rows[] = {
      {GPU_H100, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H100, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.2},
      {GPU_H200, "star7", "direct", "block_x=64", F32, {128, 64, 64}, USUAL, 0.3},
      {GPU_H200, "star7", "direct", "block_x=128", F32, {64, 64, 64}, USUAL, 0.4}, /* this problem */
      {GPU_H200, "box27", "direct", "block_x=256", F32, {64, 64, 64}, USUAL, 0.5}, /* another shape */
      {GPU_EMULATION, "star7", "direct", "block_y=2", F32, {64, 64, 64}, USUAL, 0.1},
  };
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(i > 2 ? c.own : c.other, &rows[i]);
  find_again(&c);
  const struct known_variants *known = &c.setup.space.known;
  CHECK_EQ(2, known->count, "two variants");
  for (long i = 0; i < known->count; i++) {
    const struct known_variant *variant = &known->list[i];
    const struct configuration fast = configuration_of(c.template, "block_x=32");
    const bool is_fast = memcmp(&fast, &variant->proposal.configuration, sizeof fast) == 0;
    /* The other one was the best on the other grid, and took twice as long on the other GPU. */
    CHECK(is_fast ? variant->log_time == 0 : variant->log_time > 0 && variant->log_time < log(2), "%ld: %g", i,
          variant->log_time);
    CHECK(strstr(known->sources[variant->source], "star7 f32"), "%s", known->sources[variant->source]);
  }
  c.options.no_hints = true;
  c.setup.space.known = (struct known_variants){.count = 0};
  find_again(&c);
  CHECK_EQ(0, c.setup.space.known.count, "none with --no-hints");
  hints_close(&c);
}

TEST(a_source_of_times_is_named_with_as_many_numbers_as_dimensions) {
  static const struct {
    struct tuned row;
    const char *want;
  } rows[] = {{{GPU_H100, "advect1d", "direct", "block_x=32", F32, {1000, 1, 1}, USUAL, 0.1}, "advect1d f32 1000 on "},
              {{GPU_H100, "heat2d", "direct", "block_x=32", F32, {512, 1, 1}, USUAL, 0.1}, "heat2d f32 512x1 on "},
              {{GPU_H100, "heat2d", "direct", "block_x=32", F32, {64, 48, 1}, USUAL, 0.1}, "heat2d f32 64x48 on "},
              {{GPU_H100, "star7", "direct", "block_x=32", F32, {64, 48, 1}, USUAL, 0.1}, "star7 f32 64x48x1 on "}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct tuned *row = &rows[i].row;
    const struct grid grid = {{row->n[0], row->n[1], row->n[2]}};
    struct hints_case c;
    hints_open_for(&c, row->stencil, &grid);
    c.options.strategy = &strategy_model;
    tuned_put(c.other, row);
    find_again(&c);
    CHECK_EQ(1, c.setup.space.known.count, "row %zu", i);
    CHECK(strstr(c.setup.space.known.sources[0], rows[i].want), "row %zu: %s", i, c.setup.space.known.sources[0]);
    hints_close(&c);
  }
}

/* The second version of a template measured a variant again: it was the slower one before, and is the faster one. */
TEST(of_a_variant_the_newest_time_is_known) {
  static const struct tuned rows[] = {
      {GPU_H100, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.4},
      {GPU_H100, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.2},
      {GPU_H100, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.1},
  };
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  for (size_t i = 0; i < COUNT(rows); i++) {
    tuned_put(c.other, &rows[i]);
    if (i == 1) change_database(c.other, "update template set hash = printf('%032x', id), yaml = '', cuda = ''");
  }
  CHECK_EQ(2, number_of(c.other, "select count(*) from template"), "versions of the template");
  find_again(&c);
  const struct known_variants *known = &c.setup.space.known;
  CHECK_EQ(2, known->count, "two variants");
  const struct configuration again = configuration_of(c.template, "block_x=64");
  for (long i = 0; i < known->count; i++) {
    const bool is_again = memcmp(&again, &known->list[i].proposal.configuration, sizeof again) == 0;
    CHECK(is_again == (known->list[i].log_time == 0), "%ld: %g", i, known->list[i].log_time);
  }
  hints_close(&c);
}

static sig_atomic_t has_stopped = 1;

/* Rows that tell nothing take no place of those that do, and a run that the user ends reads none. */
TEST(rows_of_other_stencils_hide_nothing) {
  static const struct tuned near = {GPU_H100, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.4},
                            far = {GPU_H100, "box27", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.4};
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  tuned_put(c.other, &near);
  tuned_put(c.other, &far);
  change_database(c.other,
                  "with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)"
                  " insert into variant (source_hash, stencil_id, template_id, parameters, origin_id) select"
                  " printf('%064x', i), stencil_id, template_id, parameters, origin_id from n, variant where id = 2;"
                  " insert into measurement (run_id, variant_id, number, at_s, outcome, median_ms)"
                  " select 2, id, id, 0, 'measured', 1 from variant where id > 2");
  find_again(&c);
  CHECK_EQ(1, c.setup.space.known.count, "the variant of the stencil");
  const struct schedule stopped = {.stop = &has_stopped, .deadline_ms = INFINITY};
  c.in.schedule = &stopped;
  find_again(&c);
  CHECK_EQ(0, c.setup.space.known.count, "an ended run");
  hints_close(&c);
}

/* A clock of which each question takes a while. */
struct slow_clock {
  double now_ms, step_ms;
};
static double slow_now(void *state) {
  struct slow_clock *clock = state;
  return clock->now_ms += clock->step_ms;
}

/* A second, or a tenth of the budget. What was read by then counts, the newest problems first. */
TEST(measurements_are_read_for_a_limited_time) {
  static const struct tuned rows[] = {
      {GPU_H100, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H100, "star7", "direct", "block_x=64", F32, {72, 64, 64}, USUAL, 0.2},
      {GPU_H100, "star7", "direct", "block_x=128", F32, {80, 64, 64}, USUAL, 0.3},
  };
  static const struct {
    double step_ms, budget_s, deadline_ms;
    long want;
  } cases[] = {
      {0, 6, INFINITY, 3},    {400, 6, INFINITY, 1}, {250, 30, INFINITY, 3}, {250, INFINITY, INFINITY, 3},
      {2000, 6, INFINITY, 0}, {250, 30, 17000, 1}, /* 10 s are for the search, 2 + 2 s for set-up and end */
      {0, 6, 7000, 3},        {0, 6, 6999, 0},
  };
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.other, &rows[i]);
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct slow_clock clock = {.step_ms = cases[i].step_ms};
    const struct schedule schedule = {.time = {.now_ms = slow_now, .state = &clock},
                                      .deadline_ms = cases[i].deadline_ms};
    c.in.schedule = &schedule;
    c.options.budget_s = cases[i].budget_s;
    find_again(&c);
    CHECK_EQ(cases[i].want, c.setup.space.known.count, "case %zu", i);
    if (c.setup.space.known.count == 1)
      CHECK(strstr(c.setup.space.known.sources[0], "80x64x64"), "%s", c.setup.space.known.sources[0]);
  }
  hints_close(&c);
}

/* Count the statements that read the text of a stencil. */
static int count_text(unsigned kind, void *count, void *statement, void *sql) {
  (void)kind, (void)sql;
  const char *text = sqlite3_sql(statement);
  *(int *)count += text && strncmp(text, "select (select x.text", 21) == 0;
  return 0;
}

/* Ends the reading of winners after so many stencils. */
static bool are_enough(const void *stencils) {
  int *left = (int *)(uintptr_t)stencils;
  return (*left)-- <= 0;
}

/* A run that has to end reads no further stencil of a file of hints. */
TEST(winners_are_read_until_the_run_ends) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H200, "star13", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H200, "star13", "direct", "block_x=32", F32, {72, 64, 64}, USUAL, 0.1},
      {GPU_H200, "star25", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
  };
  static const int want[] = {0, 1, 3, 4, 4};
  struct hints_case c;
  hints_open(&c);
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.other, &rows[i]);
  const struct hint_target target = {
      .task = &c.task, .device = &c.backend.facts.device, .launch = LAUNCH_STREAM, .cache = CACHE_STEADY};
  for (size_t i = 0; i < COUNT(want); i++) {
    int left = (int)i;
    const struct hint_sources sources = {.own = c.other, .end = {.is_over = are_enough, .context = &left}};
    struct hint_rows found;
    CHECK_OK(hints_read(&sources, &target, &found));
    CHECK_EQ(want[i], found.count, "%zu stencils", i);
    hint_rows_free(&found);
  }
  /* a copy takes nothing from other stencils, so their texts are not read */
  struct hint_target alone = target;
  const struct hint_sources sources = {.own = c.other, .end = never};
  struct hint_rows found;
  int texts = 0;
  alone.is_alone = true;
  sqlite3_trace_v2(store_connection(c.other), SQLITE_TRACE_STMT, count_text, &texts);
  CHECK_OK(hints_read(&sources, &alone, &found));
  sqlite3_trace_v2(store_connection(c.other), 0, NULL, NULL);
  CHECK_EQ(1, found.count, "of star7 alone");
  CHECK_EQ(0, texts, "none is read");
  hint_rows_free(&found);
  hints_close(&c);
}

/* Another database than the run's own gives what could be read of it, and the run goes on. */
TEST(a_database_that_cannot_be_read_ends_no_run) {
  static const struct tuned own = {GPU_H100, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
                            other = {GPU_H100, "star7", "direct", "block_x=64", F32, {72, 64, 64}, USUAL, 0.2};
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  tuned_put(c.own, &own);
  tuned_put(c.other, &other);
  change_database(c.other, "alter table problem rename to lost");
  find_again(&c);
  CHECK_EQ(1, c.setup.hints.count, "the hint of the run's own database");
  CHECK_EQ(1, c.setup.space.known.count, "its variant");
  const char *warnings = text_string(&c.setup.warnings), *first = strstr(warnings, "hints of :memory: end early: ");
  CHECK(first && strstr(first, "no such table"), "%s", warnings);
  CHECK(!strstr(first + 1, "hints of"), "it is said once: %s", warnings);
  change_database(c.own, "alter table problem rename to lost");
  CHECK_EQ(HALOTUNE_DB, setup_find_hints(&c.in, &c.setup), "the run's own database");
  text_free(&c.setup.warnings);
  hints_close(&c);
}

/* A text is read once for the problems of its stencil that follow each other, and once in all if it tells nothing. One
 * that is longer than a stencil's file may be tells nothing. */
TEST(texts_of_stencils_are_read_once) {
  static const struct tuned rows[] = {
      {GPU_H100, "star7", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H100, "star7", "direct", "block_x=64", F32, {72, 64, 64}, USUAL, 0.2},
      {GPU_H100, "star13", "direct", "block_x=32", F32, {64, 64, 64}, USUAL, 0.1},
      {GPU_H100, "star7", "direct", "block_x=64", F32, {80, 64, 64}, USUAL, 0.2},
      {GPU_H100, "star13", "direct", "block_x=64", F32, {80, 64, 64}, USUAL, 0.2},
  };
  static const struct {
    const char *change;
    int want; /* for the winners of star13, then for the measurements of both */
    long known;
  } cases[] = {
      {"", 1 + 4, 2},
      {"update stencil_text set text = text || printf('# %1000000c', 'x') where text like '%star13%'", 1 + 4, 2},
      {"update stencil_text set text = text || printf('# %100000c', 'x') where text like '%star13%'", 1 + 2, 2},
      {"update stencil_text set text = 'name: [' where length(text) > 1000000", 1 + 2, 2},
  };
  struct hints_case c;
  hints_open(&c);
  c.options.strategy = &strategy_model;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.other, &rows[i]);
  for (size_t i = 0; i < COUNT(cases); i++) {
    int count = 0;
    change_database(c.other, cases[i].change);
    sqlite3_trace_v2(store_connection(c.other), SQLITE_TRACE_STMT, count_text, &count);
    find_again(&c);
    sqlite3_trace_v2(store_connection(c.other), 0, NULL, NULL);
    CHECK_EQ(cases[i].want, count, "case %zu: texts", i);
    CHECK_EQ(cases[i].known, c.setup.space.known.count, "case %zu: variants", i);
  }
  hints_close(&c);
}

/* Count the variants with which a search starts. */
static long find_starts(struct hints_case *c) {
  proposals_free(&c->setup.starts);
  find_again(c);
  c->setup.space.hints = NULL, c->setup.space.hint_count = 0;
  CHECK_OK(setup_find_starts(&c->in, &c->setup));
  const bool is_shown = c->options.strategy->takes_hints && !c->options.rematch;
  CHECK_EQ(is_shown ? c->setup.starts.count : 0, c->setup.space.hint_count, "the strategy sees them");
  return c->setup.starts.count;
}

/* The winner of the nearest grid is slow for its bytes: the other one is faster by prediction. */
TEST(what_a_lookup_serves_is_the_first_hint) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "block_x=64 points_z=2", F32, {72, 72, 72}, USUAL, 0.009},
      {GPU_H200, "star7", "direct", "block_x=256", F32, {128, 128, 128}, USUAL, 0.006},
  };
  const struct work work = work_begin();
  struct hints_case c;
  char *text = NULL;
  size_t length;
  hints_open(&c);
  CHECK_OK(file_read("kernels/star7.yaml", MAX_STENCIL_BYTES, &text, &length));
  c.task.stencil_text = text;
  find_again(&c);
  CHECK(!c.setup.predicted.has_served, "databases in memory give none");
  store_close(c.own);
  CHECK_OK(store_open(work.path, STORE_WRITE, &c.own));
  c.tools.store = c.own;
  for (size_t i = 0; i < COUNT(rows); i++) tuned_put(c.own, &rows[i]);
  find_again(&c);
  CHECK(c.setup.predicted.has_served, "%s", fail_text());
  CHECK(hint_is(&c, 0, "block_x=256"), "by prediction");
  CHECK(hint_is(&c, 1, "block_x=64 points_z=2"), "the next of the ranking");
  CHECK_EQ(2, c.setup.hints.count, "none twice");

  struct fixed_parameters fixed = {.values = configuration_of(c.template, "block_x=512")};
  fixed.is_fixed[template_parameter(c.template, "block_x", strlen("block_x"))] = true;
  c.setup.space.fixed = &fixed;
  find_again(&c);
  CHECK(hint_is(&c, 0, "block_x=512"), "with the value that is fixed");
  CHECK(!c.setup.predicted.has_served, "which is not what a lookup serves");
  c.setup.space.fixed = NULL;

  c.options.strategy = &strategy_exhaustive;
  find_again(&c);
  CHECK(c.setup.predicted.has_served && c.setup.hints.count == 0, "also for a strategy without hints");
  struct proposal recorded = c.setup.predicted.list.list[1];
  c.setup.space.only = &recorded, c.setup.space.only_count = 1;
  find_again(&c);
  CHECK(!c.setup.predicted.has_served, "a recording that lacks it serves nothing");
  c.setup.space.only = NULL, c.setup.space.only_count = 0;
  c.options.no_hints = true;
  find_again(&c);
  CHECK(!c.setup.predicted.has_served && c.setup.predicted.list.count == 0, "none with --no-hints");
  free(text);
  hints_close(&c);
  work_end(&work);
}

/* A file of others says that other variants are faster, one of them of a template that is not installed. */
TEST(a_file_of_hints_does_not_take_the_place_of_what_a_lookup_serves) {
  static const struct tuned own = {GPU_H200, "star7", "direct", "block_x=256", F32, {128, 128, 128}, USUAL, 0.006};
  static const struct tuned others[] = {
      {GPU_H200, "star7", "direct", "block_x=512", F32, {64, 64, 64}, USUAL, 0.0001},
      {GPU_H200, "star7", "zmarch", "block_x=32", F32, {72, 72, 72}, USUAL, 0.0001},
  };
  const struct work work = work_begin(), hints = work_begin();
  struct hints_case c;
  struct store *copy;
  char *text = NULL;
  size_t length;
  hints_open(&c);
  CHECK_OK(file_read("kernels/star7.yaml", MAX_STENCIL_BYTES, &text, &length));
  c.task.stencil_text = text;
  store_close(c.own);
  CHECK_OK(store_open(work.path, STORE_WRITE, &c.own));
  c.tools.store = c.own;
  tuned_put(c.own, &own);
  tuned_make(hints.path, others, COUNT(others));
  CHECK_OK(store_open_copy(hints.path, &c.template, 1, NULL, NULL, &copy));
  c.stores[0] = copy;
  find_again(&c);
  CHECK(c.setup.predicted.has_served, "%s", fail_text());
  CHECK(hint_is(&c, 0, "block_x=256"), "the user's own");
  CHECK(hint_is(&c, 1, "block_x=512"), "the file's");
  free(text);
  store_close(copy);
  hints_close(&c);
  work_end(&work);
  work_end(&hints);
}

TEST(hints_and_then_the_defaults_of_templates_are_tried_first) {
  static const struct tuned row = {GPU_H200, "star7", "direct", "block_x=64", F32, {64, 64, 64}, USUAL, 0.1};
  struct hints_case c;
  hints_open(&c);
  CHECK_EQ(0, find_starts(&c), "the default of the only template is the first variant anyway");
  tuned_put(c.own, &row);
  CHECK_EQ(1, find_starts(&c), "a hint");

  /* Another variant is the first one, as if the default failed. */
  const struct proposal hint = c.setup.hints.list[0];
  struct proposal standard = c.first.proposal;
  c.first.proposal = hint;
  CHECK(find_starts(&c) == 1 && proposal_equals(&c.setup.space, &standard, c.setup.starts.list),
        "the default, no hint");
  CHECK_OK(configuration_set(c.template, "block_x=512", &c.first.proposal.configuration));
  CHECK_EQ(2, find_starts(&c), "both");
  CHECK(proposal_equals(&c.setup.space, &hint, &c.setup.starts.list[0]), "the hint first");
  CHECK(proposal_equals(&c.setup.space, &standard, &c.setup.starts.list[1]), "then the default");
  CHECK(proposals_have(&c.setup.hints, &c.setup.space, &hint) &&
            !proposals_have(&c.setup.hints, &c.setup.space, &standard),
        "which is no hint");
  c.options.strategy = &strategy_exhaustive;
  CHECK_EQ(1, find_starts(&c), "without hints, the default");
  c.options.strategy = &strategy_local;

  /* Starts of a template come before its default. The nearest variant takes the place of one that rules leave out. */
  c.template->start_count = 3;
  c.template->starts[0] = configuration_of(c.template, "block_x=256");
  c.template->starts[1] = configuration_of(c.template, "block_x=512 block_y=8");
  c.template->starts[2] = standard.configuration;
  CHECK_EQ(4, find_starts(&c), "the hint, two starts, and the default once");
  CHECK(proposal_equals(&c.setup.space, &hint, &c.setup.starts.list[0]), "the hint first");
  CHECK(start_is(&c, 1, "block_x=256"), "then the first start");
  const struct proposal *nearest = &c.setup.starts.list[2];
  bindings_configure(&c.bindings, &nearest->configuration);
  CHECK(!bindings_failed_rule(&c.bindings) && !start_is(&c, 2, "block_x=512 block_y=8"), "a variant that rules keep");
  CHECK(strcmp(space_hint_why(&c.setup.space, 0), "hint") == 0 &&
            strcmp(space_hint_why(&c.setup.space, 1), "its template starts there") == 0,
        "the reasons");
  c.template->start_count = 0;

  /* Fixed parameters keep their values, a recording has only its own variants, and a rematch has no search. */
  struct fixed_parameters fixed;
  memset(&fixed, 0, sizeof fixed);
  fixed.values = standard.configuration;
  CHECK_OK(configuration_set(c.template, "block_x=256", &fixed.values));
  fixed.is_fixed[0] = true;
  c.setup.space.fixed = &fixed;
  CHECK_EQ(1, find_starts(&c), "hint and default are one variant where what they differ in is fixed");
  CHECK_EQ(fixed.values.choice[0], c.setup.starts.list[0].configuration.choice[0], "the fixed value");
  c.setup.space.fixed = NULL;
  c.setup.space.only = &hint, c.setup.space.only_count = 1;
  CHECK_EQ(1, find_starts(&c), "the default was not recorded");
  c.setup.space.only = NULL, c.setup.space.only_count = 0;
  c.options.rematch = true;
  CHECK_EQ(0, find_starts(&c), "rematch");
  hints_close(&c);
}

static void weights_put(struct store *store, const char *change) {
  tuned_put(store, &(struct tuned){GPU_H200, "star7", "direct", NULL, F32, {256, 256, 256}, USUAL, 1});
  const struct static_weights weights = made_weights();
  made_weights_store(store, &weights);
  if (change) CHECK_OK(query_script(store_connection(store), change));
}

/* Weights of static costs come from the first database that has sensible ones for the GPU. A sentence tells of
 * nonsense. */
TEST(learnt_weights_are_used_where_they_make_sense) {
  static const char nonsense[] = "update prediction set value = 1e300 where coefficient = 'static_row'";
  static const struct {
    const char *what, *own, *other; /* changes; NULL: that database has no weights */
    const struct strategy *strategy;
    bool no_hints, is_used, is_told;
  } rows[] = {
      {"none", NULL, NULL, &strategy_model, false, false, false},
      {"own", "", NULL, &strategy_model, false, true, false},
      {"another database", NULL, "", &strategy_model, false, true, false},
      {"nonsense", nonsense, NULL, &strategy_model, false, false, true},
      {"nonsense of another database", NULL, nonsense, &strategy_model, false, false, true},
      {"the own ones count", "", nonsense, &strategy_model, false, true, false},
      {"own nonsense", nonsense, "", &strategy_model, false, true, true},
      {"another GPU", "update device set name = 'x'", NULL, &strategy_model, false, false, false},
      {"without hints", "", NULL, &strategy_model, true, false, false},
      {"a strategy without costs", nonsense, NULL, &strategy_local, false, false, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct hints_case c;
    const struct static_weights made = made_weights();
    hints_open(&c);
    c.options.strategy = rows[i].strategy;
    c.options.no_hints = rows[i].no_hints;
    if (rows[i].own) weights_put(c.own, rows[i].own);
    if (rows[i].other) weights_put(c.other, rows[i].other);
    CHECK_OK(setup_find_hints(&c.in, &c.setup));
    CHECK_EQ(rows[i].is_used, c.setup.space.weights != NULL, "%s", rows[i].what);
    if (rows[i].is_used) CHECK_NEAR(made.of[0], c.setup.space.weights->of[0], 0, "%s", rows[i].what);
    const char *warnings = text_string(&c.setup.warnings);
    CHECK_EQ(rows[i].is_told, strstr(warnings, "make no sense, and are not used") != NULL, "%s: '%s'", rows[i].what,
             warnings);
    CHECK_EQ(rows[i].is_told, *warnings != 0, "%s: '%s'", rows[i].what, warnings);
    text_free(&c.setup.warnings);
    hints_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_nearest_winners_come_first),
      cmocka_unit_test(a_file_of_hints_does_not_take_the_place_of_what_a_lookup_serves),
      cmocka_unit_test(hints_and_then_the_defaults_of_templates_are_tried_first),
      cmocka_unit_test(what_a_lookup_serves_is_the_first_hint),
      cmocka_unit_test(winners_of_as_many_steps_come_before_nearer_grids),
      cmocka_unit_test(a_row_without_a_grid_is_no_hint),
      cmocka_unit_test(of_a_problem_the_newest_winners_count),
      cmocka_unit_test(winners_of_older_templates_are_read_by_name),
      cmocka_unit_test(what_rules_exclude_becomes_the_nearest_that_they_keep),
      cmocka_unit_test(no_hint_is_there_twice_and_there_are_few),
      cmocka_unit_test(other_stencils_give_fewer_hints),
      cmocka_unit_test(a_stencil_that_this_version_cannot_read_tells_nothing),
      cmocka_unit_test(a_search_can_begin_blind),
      cmocka_unit_test(measurements_of_other_problems_are_known),
      cmocka_unit_test(a_source_of_times_is_named_with_as_many_numbers_as_dimensions),
      cmocka_unit_test(of_a_variant_the_newest_time_is_known),
      cmocka_unit_test(rows_of_other_stencils_hide_nothing),
      cmocka_unit_test(measurements_are_read_for_a_limited_time),
      cmocka_unit_test(winners_are_read_until_the_run_ends),
      cmocka_unit_test(a_database_that_cannot_be_read_ends_no_run),
      cmocka_unit_test(texts_of_stencils_are_read_once),
      cmocka_unit_test(learnt_weights_are_used_where_they_make_sense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
