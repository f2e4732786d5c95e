/* candidates_test.c: the order of the rows that may answer, and which element types they have. */
#include "library/lookup/candidates.h"

#include <math.h>

#include "base/numbers/random.h"
#include "library/lookup/choose.h"
#include "tests/unit/library/tuned.h"

#define F32 DTYPE_F32
#define F64 DTYPE_F64
#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", F32, {512, 512, 512}, USUAL, 0.30},
    {GPU_H200, "star7", "zmarch", "vector=4", F32, {256, 256, 256}, USUAL, 0.05},
    {GPU_H200, "star7", "zmarch", "vector=2", F32, {320, 64, 96}, USUAL, 0.011},
    {GPU_H200, "star7", "direct", "block_x=32", F32, {640, 512, 32}, USUAL, 0.04},
    {GPU_H200, "star7", "direct", "block_x=64", F64, {64, 64, 64}, USUAL, 0.003},
    {GPU_H200, "star7", "direct", "block_x=128", F64, {512, 512, 512}, USUAL, 0.75},
    {GPU_H200, "star7", "zmarch", "vector=1", F64, {128, 128, 512}, USUAL, 0.06},
    {GPU_H200, "star7", "patch", "overlap=1 arguments=lazy", F64, {1000, 20, 20}, USUAL, 0.02}, /* unsteady */
    {GPU_H200, "star13", "zmarch", "vector=1", F32, {256, 256, 256}, USUAL, 0.06},
    {GPU_H100, "star7", "direct", "block_x=32", F32, {96, 96, 96}, USUAL, 0.006},
};

static struct work work;
static halotune_ctx *ctx;

static int set_up(void **state) {
  (void)state;
  return tuned_begin(&work, rows, COUNT(rows), &ctx);
}

static int tear_down(void **state) {
  (void)state;
  return tuned_end(&work, ctx);
}

/* A winner of the other element type on a grid like the asked one is better than one of a grid that is far. */
TEST(the_other_element_type_answers_for_a_near_grid) {
  static const struct {
    long long n;
    halotune_dtype dtype;
    halotune_match match;
    const char *value; /* of block_x of `direct` */
  } cases[] = {
      {66, HALOTUNE_F32, HALOTUNE_MATCH_SIMILAR, "64"},
      {66, HALOTUNE_F64, HALOTUNE_MATCH_NEAR_GRID, "64"},
      {500, HALOTUNE_F64, HALOTUNE_MATCH_NEAR_GRID, "128"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const long long n = cases[i].n;
    const halotune_problem problem = {
        .stencil = "star7", .device = "NVIDIA H200", .grid = {n, n, n}, .dtype = cases[i].dtype};
    halotune_config config;
    halotune_parameter parameter;
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(cases[i].match, config.match, "row %zu", i);
    CHECK_TEXT("direct", config.template_name, "row %zu", i);
    CHECK_OK(halotune_config_parameter(&config, "block_x", &parameter));
    CHECK_TEXT(cases[i].value, parameter.value, "row %zu", i);
    CHECK(config.expected_error < choose_doubtful, "row %zu: %g", i, config.expected_error);
  }
}

/* Which rows are compared: the own ones of the question, the others, or both. */
enum range { OWN = 1, OTHERS = 2, ALL = OWN | OTHERS };

static void find_candidates(const struct question *question, enum range range, float limit, struct candidates *out) {
  candidates_begin(question, false, out);
  if (range & OWN) CHECK_OK(candidates_add_own(out));
  if (range & OTHERS) CHECK_OK(candidates_add_others(out, limit, INFINITY));
}

/* Candidates are ranked when they are needed. All come in the order of predicted time plus three errors. */
static void take_each(struct candidates *candidates, int want, int problem) {
  struct candidate candidate;
  double before = -INFINITY;
  int taken = 0;
  const int count = candidates_count(candidates);
  while (candidates_take(candidates, &candidate)) {
    const struct prediction prediction = candidates_predict(candidates, &candidate);
    const double rank = log(prediction.time_ms) + 3 * prediction.error;
    CHECK(rank > before - 1e-3, "problem %d, candidate %d: %g after %g", problem, taken, rank, before);
    before = rank;
    taken++;
  }
  CHECK_EQ(count, taken, "problem %d", problem);
  CHECK_EQ(0, candidates_count(candidates), "problem %d", problem);
  CHECK_EQ(want, taken, "problem %d", problem);
}

/* The rows that do not come first: of another stencil, and of another model, since this one has more. */
enum { OTHER_ROWS = 2, OWN_ROWS = COUNT(rows) - OTHER_ROWS };

static void take_all(const struct question *question, enum range range, int problem) {
  struct candidates candidates;
  const int want = range == OTHERS ? OTHER_ROWS : range == ALL ? (int)COUNT(rows) : OWN_ROWS;
  find_candidates(question, range, INFINITY, &candidates);
  take_each(&candidates, want, problem);
  candidates_restart(&candidates);
  take_each(&candidates, want, problem);
  candidates_free(&candidates);
}

/* When the own rows are taken, the others can be added. */
static void take_own_first(const struct question *question, int problem) {
  struct candidates candidates;
  find_candidates(question, OWN, INFINITY, &candidates);
  take_each(&candidates, OWN_ROWS, problem);
  CHECK_OK(candidates_add_others(&candidates, INFINITY, INFINITY));
  take_each(&candidates, OTHER_ROWS, problem);
  candidates_free(&candidates);
}

/* With a limit, only candidates below it come: those that come first without one. */
static void take_below(const struct question *question, int problem) {
  enum { TAKEN = 3 };
  struct candidates all, few;
  struct candidate want[TAKEN], got;
  find_candidates(question, ALL, INFINITY, &all);
  for (int i = 0; i < TAKEN; i++) CHECK(candidates_take(&all, &want[i]), "problem %d, candidate %d", problem, i);
  find_candidates(question, ALL, want[TAKEN - 1].rank, &few);
  for (int i = 0; i < TAKEN && want[i].rank < few.limit; i++) {
    CHECK(candidates_take(&few, &got), "problem %d, candidate %d", problem, i);
    CHECK(got.row == want[i].row, "problem %d, candidate %d", problem, i);
  }
  CHECK(!candidates_take(&few, &got), "problem %d", problem);
  candidates_free(&few);
  candidates_free(&all);
}

static void ask_grid(halotune_ctx *of, const struct known_device *device, enum dtype dtype, const long n[MAX_DIMS],
                     struct question *out) {
  struct lookup_key key = {
      .dtype = dtype, .launch = LAUNCH_STREAM + 1, .cache = CACHE_STEADY + 1, .steps = 1, .model = device->model};
  key.stencil = names_find(&of->catalog.stencil_names, "star7");
  for (int axis = 0; axis < MAX_DIMS; axis++) key.n[axis] = (uint32_t)n[axis];
  CHECK_OK(question_begin(of, &key, device, out));
}

static void ask_random(halotune_ctx *of, const struct known_device *device, int number, struct question *out) {
  long n[MAX_DIMS];
  for (int axis = 0; axis < MAX_DIMS; axis++)
    n[axis] = 16 + (long)(random_bits((uint64_t)number, (uint64_t)axis) % 700);
  ask_grid(of, device, number % 2 ? F64 : F32, n, out);
}

TEST(candidates_come_in_order) {
  enum { PROBLEMS = 200 };
  const struct known_device *device;
  struct known_device room;
  CHECK_OK(context_device(ctx, "NVIDIA H200", &room, &device));
  for (int i = 0; i < PROBLEMS; i++) {
    struct question question;
    ask_random(ctx, device, i, &question);
    take_all(&question, OWN, i);
    take_all(&question, OTHERS, i);
    take_all(&question, ALL, i);
    take_own_first(&question, i);
    take_below(&question, i);
  }
}

/* Random rows of both element types. Their times follow their bytes, but some are three times as long as others. */
enum { RANDOM_ROWS = 8 };

static void make_random_rows(int database, struct tuned out[RANDOM_ROWS]) {
  static const char *const sets[] = {"block_x=32", "block_x=64", "block_x=128"};
  for (int i = 0; i < RANDOM_ROWS; i++) {
    const uint64_t key = 1000 + (uint64_t)(database * RANDOM_ROWS + i);
    out[i] = (struct tuned){GPU_H200, "star7", "direct", sets[i % (int)COUNT(sets)], i % 2 ? F64 : F32, {0}, USUAL, 0};
    double bytes = i % 2 ? 16 : 8;
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      out[i].n[axis] = 64 * (1 + (long)(random_bits(key, (uint64_t)axis) % 8));
      bytes *= (double)out[i].n[axis];
    }
    out[i].time_ms = 0.004 + bytes * 3e-10 * (1 + (double)(random_bits(key, MAX_DIMS) % 1024) / 512);
  }
}

/* Rows of the other element type are left out for as long as a bound says that they are worse. Here both ranges have
 * the same rows, and candidates_count ranks all of one.
 *   waiting  grows by 1 if the best row is found without rows of the other element type */
static void compare_ranges(const struct question *question, int problem, int *waiting) {
  struct candidates own, all;
  struct candidate got, want;
  find_candidates(question, OWN, INFINITY, &own);
  find_candidates(question, ALL, INFINITY, &all);
  CHECK_EQ(RANDOM_ROWS, candidates_count(&all), "problem %d", problem);
  CHECK_EQ(2, all.ranked_count, "problem %d", problem);
  for (int i = 0; candidates_take(&all, &want); i++) {
    CHECK(candidates_take(&own, &got), "problem %d, candidate %d", problem, i);
    CHECK(got.row == want.row, "problem %d, candidate %d: row %td, not %td", problem, i,
          got.row - question->ctx->catalog.rows, want.row - question->ctx->catalog.rows);
    *waiting += i == 0 && own.ranked_count == 1;
  }
  CHECK(!candidates_take(&own, &got), "problem %d", problem);
  candidates_free(&own);
  candidates_free(&all);
}

/* No row of a dropped configuration comes later, of neither element type. */
static void drop_all(const struct question *question, int problem) {
  enum { CONFIGURATIONS = 3 }; /* of make_random_rows */
  const char *dropped[CONFIGURATIONS];
  struct candidates candidates;
  struct candidate candidate;
  int count = 0;
  find_candidates(question, OWN, INFINITY, &candidates);
  while (candidates_take(&candidates, &candidate)) {
    for (int i = 0; i < count; i++)
      CHECK(candidate.row->parameters != dropped[i], "problem %d: %s again", problem, dropped[i]);
    CHECK(count < CONFIGURATIONS, "problem %d", problem);
    dropped[count++] = candidate.row->parameters;
    CHECK_OK(candidates_drop(&candidates, &candidate, false));
  }
  CHECK_EQ(CONFIGURATIONS, count, "problem %d", problem);
  CHECK_EQ(0, candidates_count(&candidates), "problem %d", problem);
  candidates_free(&candidates);
}

/* Take a model in which no block costs anything, and in which only kin adds to errors: then the bound of a family is
 * the rank of its best row. */
static void make_bounds_tight(halotune_ctx *of) {
  for (int i = 0; i < of->catalog.device_count; i++) {
    of->catalog.devices[i].fitted_by = 0;
    of->catalog.devices[i].prediction = (struct predict_model){{0}};
  }
}

/* Ask for the grid of each row in the other element type, and for random ones. */
static void ask_database(halotune_ctx *of, const struct tuned of_rows[RANDOM_ROWS], int database, int *waiting) {
  struct known_device room;
  const struct known_device *device;
  CHECK_OK(context_device(of, "NVIDIA H200", &room, &device));
  for (int i = 0; i < 2 * RANDOM_ROWS; i++) {
    const int number = 2 * RANDOM_ROWS * database + i;
    struct question question;
    if (i < RANDOM_ROWS) ask_grid(of, device, of_rows[i].dtype == F64 ? F32 : F64, of_rows[i].n, &question);
    else ask_random(of, device, number, &question);
    compare_ranges(&question, number, waiting);
    drop_all(&question, number);
  }
}

TEST(rows_of_the_other_element_type_wait_for_their_turn) {
  enum { DATABASES = 10 };
  int waiting = 0;
  for (int i = 0; i < DATABASES; i++) {
    struct tuned random_rows[RANDOM_ROWS];
    struct work other = work_begin();
    make_random_rows(i, random_rows);
    halotune_ctx *of = tuned_open(other.path, random_rows, RANDOM_ROWS);
    if (i % 2) make_bounds_tight(of);
    ask_database(of, random_rows, i, &waiting);
    halotune_close(of);
    work_end(&other);
  }
  CHECK(waiting > 0, "rows of the other element type never wait");
}

/* Read `direct` with other words in its YAML file. */
static struct template *direct_with(const char *usual, const char *other) {
  char *yaml = NULL, *cuda = NULL, *changed = NULL;
  struct template *template = NULL;
  size_t length = 0;
  CHECK_OK(file_read("templates/direct.yaml", MAX_STENCIL_BYTES, &yaml, &length));
  CHECK_OK(file_read("templates/direct.cu", MAX_STENCIL_BYTES, &cuda, &length));
  const char *at = strstr(yaml, usual);
  CHECK(at, "templates/direct.yaml has no %s", usual);
  CHECK(asprintf(&changed, "%.*s%s%s", (int)(at - yaml), yaml, other, at + strlen(usual)) > 0, "asprintf");
  CHECK_OK(template_of_texts(changed, cuda, &template));
  free(changed);
  free(cuda);
  free(yaml);
  return template;
}

/* Store rows of star7 that a template computes. */
static void put_rows(struct store *store, const struct tuned *list, int count, const struct template *template) {
  struct stencil *stencil;
  char *text = NULL;
  size_t length = 0;
  CHECK_OK(stencil_of_kernels("star7", &stencil));
  CHECK_OK(file_read("kernels/star7.yaml", MAX_STENCIL_BYTES, &text, &length));
  for (int i = 0; i < count; i++) tuned_put_stencil(store, &list[i], stencil, text, template);
  stencil_free(stencil);
  free(text);
}

enum { TINY_ROWS = 40 };

/* Make a database of rows of one configuration, of which those on wide grids have no predicted time. On a grid of more
 * than 100,000 points the template's number of blocks is far too large. So the model takes tiles of 1e-32 points. A
 * grid of 2048x64x64 points has more of them than a float can count. */
static halotune_ctx *open_tiny_tiles(const char *path, int count, long wide_x, long narrow_x) {
  struct template *template =
      direct_with("grid: [ceil((points_in_x + start_x % vector)/tile_x)",
                  "grid: ['points_in_x > 100000 ? points_in_x*1e32 : ceil(points_in_x/tile_x)'");
  struct tuned list[TINY_ROWS];
  struct store *store;
  halotune_ctx *of = NULL;
  for (int i = 0; i < count; i++)
    list[i] = (struct tuned){GPU_H200, "star7", "", "block_x=64", F32, {i % 2 ? narrow_x : wide_x, 64, 64 + 2 * i},
                             USUAL,    0.01};
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  put_rows(store, list, count, template);
  store_close(store);
  template_free(template);
  CHECK_OK(halotune_open(&path, 1, &of));
  return of;
}

/* Rows whose predicted time is not a number come behind all others, and hide none of them. */
TEST(rows_without_a_predicted_time_come_last) {
  struct work other = work_begin();
  struct known_device room;
  const struct known_device *device;
  struct question question;
  struct candidates candidates;
  struct candidate candidate;
  int taken = 0;
  halotune_ctx *of = open_tiny_tiles(other.path, TINY_ROWS, 2048, 32);
  CHECK_OK(context_device(of, "NVIDIA H200", &room, &device));
  ask_grid(of, device, F32, (const long[MAX_DIMS]){40, 64, 65}, &question);
  find_candidates(&question, OWN, INFINITY, &candidates);
  CHECK_EQ(TINY_ROWS, candidates_count(&candidates), "rows");
  for (; candidates_take(&candidates, &candidate); taken++) {
    const struct prediction prediction = candidates_predict(&candidates, &candidate);
    CHECK_EQ(taken < TINY_ROWS / 2, isfinite(prediction.error) != 0, "row %d: %g", taken, prediction.error);
  }
  CHECK_EQ(TINY_ROWS, taken, "rows");
  candidates_free(&candidates);
  halotune_close(of);
  work_end(&other);
}

/* If no row has a predicted time, a tuned row still answers, rather than a template's default. */
TEST(a_row_without_a_predicted_time_answers) {
  struct work other = work_begin();
  const halotune_problem problem = {
      .stencil = "star7", .device = "NVIDIA H200", .grid = {2056, 64, 64}, .dtype = HALOTUNE_F32};
  halotune_config config;
  halotune_parameter parameter;
  halotune_ctx *of = open_tiny_tiles(other.path, 4, 2048, 2048);
  CHECK_OK(halotune_lookup(of, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, config.match, "match");
  CHECK_OK(halotune_config_parameter(&config, "block_x", &parameter));
  CHECK_TEXT("64", parameter.value, "block_x");
  CHECK(isnan(config.expected_error), "%g", config.expected_error);
  halotune_close(of);
  work_end(&other);
}

/* A template that did not say how it forms its sums is tuned again after its file says `sums: update`. Then it answers
 * for near grids where bits are to be reproducible. */
TEST(a_template_that_says_its_sums_later_answers) {
  static const struct tuned unsaid = {GPU_H200, "star7", "", "block_x=64", F32, {64, 64, 64}, USUAL, 0.01},
                            said = {GPU_H200,     "star7",       "",           "block_x=64", F32,
                                    {64, 64, 64}, LAUNCH_STREAM, CACHE_STEADY, true,         0.01};
  struct template *templates[] = {direct_with("sums: update\n", ""), direct_with("sums: update\n", "sums: update\n")};
  struct work other = work_begin();
  const char *path = other.path;
  struct store *store;
  halotune_ctx *of = NULL;
  halotune_config config;
  const halotune_problem problem = {
      .stencil = "star7", .device = "NVIDIA H200", .grid = {66, 64, 64}, .dtype = HALOTUNE_F32, .reproducible = 1};
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  put_rows(store, &unsaid, 1, templates[0]);
  put_rows(store, &said, 1, templates[1]);
  CHECK_EQ(2, number_of(store, "select count(*) from template"), "templates");
  store_close(store);
  CHECK_OK(halotune_open(&path, 1, &of));
  CHECK_OK(halotune_lookup(of, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, config.match, "match");
  CHECK_TEXT("direct", config.template_name, "template");
  halotune_close(of);
  work_end(&other);
  for (int i = 0; i < 2; i++) template_free(templates[i]);
}

/* All rows of the database make one step a launch. */
TEST(rows_of_other_steps_are_no_candidates) {
  struct known_device room;
  const struct known_device *device;
  struct question question;
  struct candidates candidates;
  CHECK_OK(context_device(ctx, "NVIDIA H200", &room, &device));
  ask_grid(ctx, device, F32, (const long[MAX_DIMS]){512, 512, 512}, &question);
  question_set_steps(&question, 2);
  find_candidates(&question, ALL, INFINITY, &candidates);
  CHECK_EQ(0, candidates_count(&candidates), "rows");
  candidates_free(&candidates);
}

/* Take own rows that are not known to be refused, and check that remembered rules give the same verdicts as others.
 *   taken  receives how many there are
 * Returns how many fit. */
static int count_fitting(const struct question *question, int *taken) {
  struct candidates candidates;
  struct candidate candidate;
  int fitting = 0;
  candidates_begin(question, true, &candidates);
  CHECK_OK(candidates_add_own(&candidates));
  for (*taken = 0; candidates_take(&candidates, &candidate); ++*taken) {
    const struct configuration *configuration = &candidate.shape->configuration;
    const struct template *template;
    bool want, fits;
    CHECK_OK(context_template(ctx, candidate.row->template_at, &template));
    CHECK_OK(question_check(question, template, configuration, &want));
    CHECK_OK(question_check_one(question, template, configuration, candidates_rules_again(&candidates, &candidate),
                                &candidates.verdicts, &fits));
    CHECK_EQ(want, fits, "%s", candidate.row->parameters);
    fitting += fits;
  }
  candidates_free(&candidates);
  return fitting;
}

/* A device that allows few threads refuses all rows, and the next question about it leaves them out. A question about
 * another device does not. */
TEST(rows_that_one_device_refuses_fit_another_one) {
  struct known_device room, small;
  const struct known_device *device;
  CHECK_OK(context_device(ctx, "NVIDIA H200", &room, &device));
  small = *device;
  small.limits.max_threads = 16;
  for (int i = 0; i < 4; i++) {
    struct question question, small_question;
    int taken, again;
    ask_grid(ctx, device, i / 2 ? F32 : F64, (const long[MAX_DIMS]){512, 512, 512}, &question);
    ask_grid(ctx, &small, i / 2 ? F32 : F64, (const long[MAX_DIMS]){512, 512, 512}, &small_question);
    const int fitting = count_fitting(&question, &taken);
    CHECK(fitting > 0, "question %d", i);
    for (int k = 0; k < 3; k++) CHECK_EQ(0, count_fitting(&small_question, &taken), "question %d", i);
    CHECK_EQ(0, taken, "question %d: rows that are tried once more", i);
    CHECK_EQ(fitting, count_fitting(&question, &again), "question %d", i);
    CHECK_EQ(fitting, count_fitting(&question, &again), "question %d", i);
    CHECK_EQ(fitting, again, "question %d: rows that are tried once more", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_other_element_type_answers_for_a_near_grid),
      cmocka_unit_test(candidates_come_in_order),
      cmocka_unit_test(rows_of_the_other_element_type_wait_for_their_turn),
      cmocka_unit_test(rows_without_a_predicted_time_come_last),
      cmocka_unit_test(a_row_without_a_predicted_time_answers),
      cmocka_unit_test(a_template_that_says_its_sums_later_answers),
      cmocka_unit_test(rows_of_other_steps_are_no_candidates),
      cmocka_unit_test(rows_that_one_device_refuses_fit_another_one),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
