/* similar_test.c: stencils that a program adds, and what answers for a stencil or a GPU that nobody tuned. */
#include "library/kernel/kernel_build.h"
#include "library/lookup/choose.h"
#include "library/lookup/lookup.h"
#include "library/lookup/similar.h"
#include "tests/unit/library/tuned.h"

#define F32 DTYPE_F32
#define USUAL LAUNCH_STREAM, CACHE_STEADY, false

static const struct tuned common_rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4 coefficients=literal", F32, {512, 512, 512}, USUAL, 0.27},
    {GPU_H200, "star7", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.002},
    {GPU_H200, "star13", "direct", "vector=2", F32, {512, 512, 512}, USUAL, 0.29},
    {GPU_H200, "box27", "direct", "vector=4", F32, {512, 512, 512}, USUAL, 0.31},
    {GPU_H200, "box27", "zmarch", "vector=1", F32, {101, 101, 101}, USUAL, 0.005},
    {GPU_H200, "heat2d", "tile", NULL, F32, {4096, 4096, 1}, USUAL, 0.05},
    {GPU_H200, "heat2d", "direct", "vector=1", F32, {1001, 1001, 1}, USUAL, 0.005},
    {GPU_EMULATION, "gradient", "direct", "block_x=32", F32, {32, 32, 32}, USUAL, 50},
};

static struct work work;
static halotune_ctx *common;

static int set_up(void **state) {
  (void)state;
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  return tuned_begin(&work, common_rows, COUNT(common_rows), &common);
}

static int tear_down(void **state) {
  (void)state;
  return tuned_end(&work, common);
}

/* A star or a box of AN5D's benchmark: all points within the radius, with equal weights. */
static void add_shape(halotune_ctx *ctx, bool is_box, int dims, int radius, char name[32]) {
  struct text text = {0};
  snprintf(name, 32, "%s%dd%dr", is_box ? "box" : "star", dims, radius);
  text_printf(&text, "name: %s\nabout: a test\ndims: %d\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = 0.1*(%s", name,
              dims, dims > 2 ? "u[0,0,0]" : "u[0,0]");
  for (int z = dims > 2 ? -radius : 0; z <= (dims > 2 ? radius : 0); z++) {
    for (int y = -radius; y <= radius; y++) {
      for (int x = -radius; x <= radius; x++) {
        const int axes = (x != 0) + (y != 0) + (z != 0);
        if (axes == 0 || (!is_box && axes > 1)) continue;
        if (dims > 2) text_printf(&text, " + u[%d,%d,%d]", x, y, z);
        else text_printf(&text, " + u[%d,%d]", x, y);
      }
    }
  }
  text_printf(&text, ")\nboundary: skip\ndtypes: [f32, f64]\ngrids: [[%s]]\n", dims > 2 ? "64, 64, 64" : "64, 64");
  CHECK_EQ(HALOTUNE_OK, halotune_stencil_add(ctx, text_string(&text)), "%s: %s", name, halotune_error(ctx));
  text_free(&text);
}

static halotune_problem problem_of(const char *stencil, const char *device, int dims, long n) {
  return (halotune_problem){stencil, device, {n, n, dims > 2 ? n : 1}, HALOTUNE_F32, 0, 0, 0, 0};
}

/* What a lookup answers keeps all rules, and its source computes the stencil that was asked for. */
static void check_answer(halotune_ctx *ctx, const halotune_problem *problem, const char *name, halotune_match match) {
  halotune_config config;
  struct lookup_key key;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  const struct template *template;
  struct built built;
  double *coefficients;
  bool fits;
  CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, problem, &config), "%s: %s", name, halotune_error(ctx));
  CHECK_EQ(match, config.match, "%s: %s", name, halotune_match_name(config.match));
  CHECK_TEXT(name, config.stencil, "its own name");
  CHECK(match == HALOTUNE_MATCH_DEFAULT || (config.expected_ms > 0.0014 && config.expected_ms < 100), "%s: %g ms", name,
        config.expected_ms);
  CHECK_OK(config_read(ctx, &config, &key, &answer));
  CHECK_OK(context_device(ctx, problem->device, &room, &device));
  CHECK_OK(question_begin(ctx, &key, device, &question));
  CHECK_OK(context_template(ctx, answer.template_at, &template));
  CHECK_OK(question_check(&question, template, &answer.configuration, &fits));
  CHECK(fits, "%s: %s %s", name, config.template_name, config.parameters);
  CHECK_OK(kernel_coefficients(&question, NULL, &coefficients));
  CHECK_OK(kernel_source(&question, &answer, coefficients, &built));
  CHECK(strstr(built.source, name), "the source of %s names it", name);
  free(coefficients);
  built_free(&built);
}

TEST(each_shape_of_a_benchmark_has_an_answer) {
  static const char *const devices[] = {"h200", "a100", "rtx 4090", "sm_75"};
  char name[32];
  for (int i = 0; i < 16; i++) {
    const int dims = 2 + i % 2, radius = 1 + i / 4;
    add_shape(common, i / 2 % 2, dims, radius, name);
    const halotune_problem large = problem_of(name, devices[i % 4], dims, dims > 2 ? 512 : 4096);
    const halotune_problem odd = problem_of(name, devices[(i + 1) % 4], dims, dims > 2 ? 101 : 1001);
    /* No row's configuration takes 343 or 729 points. */
    const halotune_match match = i == 11 || i == 15 ? HALOTUNE_MATCH_DEFAULT : HALOTUNE_MATCH_SIMILAR;
    check_answer(common, &large, name, match);
    check_answer(common, &odd, name, match);
  }
}

TEST(the_nearest_stencil_lends_its_winner) {
  char name[32];
  halotune_config config;
  add_shape(common, true, 3, 1, name);
  halotune_problem problem = problem_of(name, "h200", 3, 512);
  CHECK_OK(halotune_lookup(common, &problem, &config));
  CHECK_TEXT("box27", config.measured_stencil, "a box is like a box");
  CHECK_NEAR(0.31, config.time_ms, 1e-12, "the row's time");
  add_shape(common, false, 3, 2, name);
  problem = problem_of(name, "h200", 3, 512);
  CHECK_OK(halotune_lookup(common, &problem, &config));
  CHECK_TEXT("star13", config.measured_stencil, "the reach counts");
  problem = problem_of("star7", "a100", 3, 64);
  CHECK_OK(halotune_lookup(common, &problem, &config));
  CHECK_TEXT("star7", config.measured_stencil, "another GPU");
  CHECK_EQ(64, config.measured_grid[0], "the nearest grid");
}

/* Ends a question after it has asked so often. */
static bool is_enough(const void *asked) {
  int *left = (int *)(uintptr_t)asked;
  return (*left)-- <= 0;
}

/* A question ends when the caller's time is over, at each place where it asks. A stencil lends nothing whose text is
 * longer than a file may be. */
TEST(a_question_ends_at_limits) {
  static const struct {
    const char *change, *measured;
  } cases[] = {
      {"", "box27"},
      {"update stencil_text set text = text || printf('# %60000c', 'x') where text like '%name: box27%'", "box27"},
      {"update stencil_text set text = text || printf('# %10000c', 'x') where text like '%name: box27%'", "star7"},
  };
  enum { OFTEN = 1000000 };
  struct work other = work_begin();
  const char *paths[] = {other.path};
  char name[32];
  tuned_make(other.path, common_rows, COUNT(common_rows));
  for (size_t i = 0; i < COUNT(cases); i++) {
    halotune_ctx *ctx;
    halotune_config config;
    int left = OFTEN;
    if (*cases[i].change) tuned_change(other.path, cases[i].change);
    CHECK_OK(halotune_open(paths, 1, &ctx));
    context_limit(ctx, is_enough, &left);
    add_shape(ctx, true, 3, 1, name);
    const halotune_problem problem = problem_of(name, "h200", 3, 512);
    CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "case %zu: %s", i, halotune_error(ctx));
    CHECK_TEXT(cases[i].measured, config.measured_stencil, "case %zu", i);
    const int asked = OFTEN - left;
    CHECK(asked > 10, "it asked %d times", asked);
    halotune_close(ctx);
    for (int most = 0; most < asked; most++) { /* whatever it has looked at, it ends, with or without an answer */
      CHECK_OK(halotune_open(paths, 1, &ctx));
      left = most;
      context_limit(ctx, is_enough, &left);
      add_shape(ctx, true, 3, 1, name);
      const halotune_status status = halotune_lookup(ctx, &problem, &config);
      CHECK(status == HALOTUNE_OK || status == HALOTUNE_NOT_FOUND, "case %zu, %d times: %s", i, most,
            halotune_error(ctx));
      CHECK(left > -20, "it goes on after it was over: %d", left);
      halotune_close(ctx);
    }
  }
  work_end(&other);
}

/* A document brings many stencils with long texts. Not all of them are parsed, and what this user measured still
 * answers, though its database comes behind. */
TEST(stencils_with_long_texts_answer_until_these_are_much) {
  enum { MANY = 20, ROOM_BYTES = 1 << 20 };
  struct work theirs = work_begin(), own = work_begin();
  const char *paths[] = {theirs.path, own.path};
  char sql[2048], name[32];
  size_t parsed_bytes = 0;
  halotune_ctx *ctx;
  halotune_config config;
  tuned_make(theirs.path, common_rows, 1);
  for (int i = 0; i < MANY; i++) {
    snprintf(
        sql, sizeof sql,
        "insert or ignore into origin (id, kind, name, signer, signer_key, document, date)"
        " values (99, 'imported', 'm.json', 'eve', 'ff', 'd', '2026-01-01');"
        "create temp table p as select * from problem where id = 1; create temp table b as select * from best where id = 1;"
        "insert into stencil select 100 + %d, printf('%%064d', %d), 's%d', 99;"
        "insert into stencil_text select 100 + %d, 100 + %d, printf('%%064d', %d),"
        " replace(text, 'name: star7', 'name: s%d') || printf('# %%60000c', 'x'), 99 from stencil_text where id = 1;"
        "update p set id = 100 + %d, stencil_id = 100 + %d, origin_id = 99; insert into problem select * from p;"
        "update b set id = 100 + %d, problem_id = 100 + %d, text_id = 100 + %d, run_id = null, origin_id = 99;"
        "insert into best select * from b",
        i, i, i, i, i, i, i, i, i, i, i, i);
    tuned_change(theirs.path, sql);
  }
  tuned_make(own.path, common_rows, COUNT(common_rows));
  CHECK_OK(halotune_open(paths, 2, &ctx));
  add_shape(ctx, true, 3, 1, name);
  const halotune_problem problem = problem_of(name, "h200", 3, 512);
  CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "%s", halotune_error(ctx));
  CHECK_TEXT("box27", config.measured_stencil, "of this user");
  for (int i = 0; i < ctx->catalog.stencil_count; i++) {
    const struct known_stencil *stencil = &ctx->catalog.stencils[i];
    if (atomic_load(&stencil->parsed)) parsed_bytes += strlen(stencil->text);
  }
  CHECK(parsed_bytes > ROOM_BYTES / 2 && parsed_bytes <= ROOM_BYTES, "%zu bytes", parsed_bytes);
  halotune_close(ctx);
  work_end(&own);
  work_end(&theirs);
}

/* A stencil with some text. */
static void add_text(halotune_ctx *ctx, const char *name, const char *update, const char *boundary) {
  struct text text = {0};
  text_printf(&text,
              "name: %s\nabout: a test\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: v = %s\nboundary: %s\n"
              "dtypes: [f32]\ngrids: [[64, 64, 64]]\n",
              name, update, boundary);
  CHECK_EQ(HALOTUNE_OK, halotune_stencil_add(ctx, text_string(&text)), "%s: %s", name, halotune_error(ctx));
  text_free(&text);
}

/* The template of an answer for a star in a database of these rows. */
static void check_template(const struct tuned *rows, int count, const char *boundary, const char *want,
                           const char *why) {
  halotune_ctx *ctx;
  struct work folder;
  halotune_config config;
  CHECK_EQ(0, tuned_begin(&folder, rows, (size_t)count, &ctx), "a database");
  add_text(ctx, "ring", "u[-1,0,0] + u[1,0,0] + u[0,-1,0] + 2*u[0,1,0] + u[0,0,-1] - u[0,0,1]", boundary);
  const halotune_problem problem = problem_of("ring", "h200", 3, 128);
  CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "%s: %s", why, halotune_error(ctx));
  CHECK_TEXT(want, config.template_name, "%s", why);
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

/* Most winners have their coefficients built in. For a stencil without coefficients that means nothing, and the rules
 * keep one value only. */
TEST(where_coefficients_are_kept_means_nothing_without_any) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "zmarch", "vector=4 coefficients=literal", F32, {512, 512, 512}, USUAL, 0.27},
      {GPU_H200, "star7", "direct", "vector=1", F32, {64, 64, 64}, USUAL, 0.002},
  };
  halotune_ctx *ctx;
  struct work folder;
  halotune_config config;
  halotune_parameter parameter;
  char name[32];
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  add_shape(ctx, false, 3, 1, name);
  const halotune_problem problem = problem_of(name, "h200", 3, 512);
  check_answer(ctx, &problem, name, HALOTUNE_MATCH_SIMILAR);
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_TEXT("zmarch", config.template_name, "the winner of this grid");
  CHECK_NEAR(0.27, config.time_ms, 1e-12, "its time");
  CHECK_OK(halotune_config_parameter(&config, "coefficients", &parameter));
  CHECK_TEXT("parameter", parameter.value, "what the rules keep");
  CHECK_OK(halotune_config_parameter(&config, "vector", &parameter));
  CHECK_TEXT("4", parameter.value, "the other parameters are the winner's");
  CHECK_OK(halotune_config_parameter_at(&config, config.parameter_count - 1, &parameter));
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

/* `direct` may take ten times as long where taps beyond the grid have images. */
TEST(templates_that_won_with_images_answer_for_stencils_with_images) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "vector=1", F32, {128, 128, 128}, USUAL, 0.005},
      {GPU_H200, "star7", "tile", NULL, F32, {128, 128, 128}, LAUNCH_GRAPH, CACHE_STEADY, false, 0.007},
      {GPU_H200, "gradient", "tile", NULL, F32, {512, 512, 512}, USUAL, 0.5},
      {GPU_EMULATION, "gradient", "direct", "block_x=32", F32, {32, 32, 32}, USUAL, 50},
  };
  check_template(rows, 2, "periodic", "direct", "no row tells anything of images");
  check_template(rows, 3, "periodic", "tile", "tile won with images");
  check_template(rows, 4, "periodic", "tile", "an emulation tells nothing");
  check_template(rows, 3, "skip", "direct", "a stencil without images");
}

/* A template that finds the images of a star may be slow at corners. */
TEST(a_star_tells_nothing_of_images_at_corners) {
  static const struct tuned rows[] = {
      {GPU_H200, "star7", "direct", "vector=1", F32, {128, 128, 128}, USUAL, 0.005},
      {GPU_H200, "star7", "tile", NULL, F32, {128, 128, 128}, LAUNCH_GRAPH, CACHE_STEADY, false, 0.007},
      {GPU_H200, "gradient", "tile", NULL, F32, {512, 512, 512}, USUAL, 5},
      {GPU_H200, "gradient", "tile", NULL, F32, {128, 128, 128}, USUAL, 0.02},
  };
  for (size_t count = 3; count <= COUNT(rows); count++) {
    struct work folder;
    halotune_ctx *ctx;
    halotune_config config;
    CHECK_EQ(0, tuned_begin(&folder, rows, count, &ctx), "a database");
    add_text(ctx, "corner", "u[-1,0,0] + u[1,1,0] + u[0,-1,0] + 2*u[0,1,0] + u[0,0,-1] - u[0,0,1]", "periodic");
    const halotune_problem problem = problem_of("corner", "h200", 3, 128);
    CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "%s", halotune_error(ctx));
    CHECK_TEXT("direct", config.template_name, "tile won with a star, %zu rows", count);
    CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
  }
}

/* Every row of `patch` is refused for one reason: the taps of `pair` lie along one axis. */
TEST(a_template_that_is_refused_often_hides_no_other) {
  enum { ROWS = 162 };
  static const int points[] = {2, 4, 8};
  static const char *const extents[] = {"runtime", "literal"};
  struct tuned rows[ROWS + 1];
  char sets[ROWS][96];
  struct work folder;
  halotune_ctx *ctx;
  halotune_config config;
  for (int i = 0; i < ROWS; i++) {
    snprintf(sets[i], sizeof sets[i], "block_x=%d block_y=%d points_y=%d points_z=1 vector=%d extents=%s", 32 << i % 3,
             1 << i / 3 % 3, points[i / 9 % 3], 1 << i / 27 % 3, extents[i / 81]);
    rows[i] = (struct tuned){GPU_H200, "star7", "patch", sets[i], F32, {128 + 8 * i, 128, 128}, USUAL, 0.004};
  }
  rows[ROWS] = (struct tuned){GPU_H200, "star7", "direct", "vector=1", F32, {120, 128, 128}, USUAL, 0.008};
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  add_text(ctx, "pair", "u[-1,0,0] + u[1,0,0]", "skip");
  const halotune_problem problem = problem_of("pair", "h200", 3, 128);
  CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "%s", halotune_error(ctx));
  CHECK_EQ(HALOTUNE_MATCH_SIMILAR, config.match, "%s", halotune_match_name(config.match));
  CHECK_TEXT("direct", config.template_name, "behind all of patch");
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

/* A box of radius 2 with equal weights has 125 taps, and 13 operations where these are grouped. `direct` cannot group
 * them: its row is the faster one, but would be bound by arithmetic. */
TEST(weights_that_repeat_are_grouped) {
  static const struct tuned rows[] = {
      {GPU_H200, "box27", "direct", "vector=4", F32, {512, 512, 512}, USUAL, 0.28},
      {GPU_H200,
       "box27",
       "scatter",
       "block_x=32 block_y=4 points_y=2",
       F32,
       {512, 512, 512},
       LAUNCH_GRAPH,
       CACHE_STEADY,
       false,
       0.29},
  };
  char name[32];
  struct work folder;
  halotune_ctx *ctx;
  halotune_config config;
  halotune_parameter parameter;
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  for (int radius = 1; radius <= 2; radius++) {
    add_shape(ctx, true, 3, radius, name);
    const halotune_problem problem = problem_of(name, "h200", 3, 512);
    check_answer(ctx, &problem, name, HALOTUNE_MATCH_SIMILAR);
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_TEXT(radius == 1 ? "direct" : "scatter", config.template_name, "%s", name);
  }
  CHECK_OK(halotune_config_parameter(&config, "weights", &parameter));
  CHECK_TEXT("grouped", parameter.value, "the row has `each`");
  CHECK_OK(halotune_config_parameter(&config, "block_y", &parameter));
  CHECK_TEXT("4", parameter.value, "the rest is the row's");
  CHECK_NEAR(0.29 * choose_overrated(config.expected_error), config.expected_ms, 0.015, "memory is the limit again");
  add_text(ctx, "mixed", "0.1*u[-1,-1,0] + 0.2*u[1,1,0] + 0.3*u[0,-1,-1] + 0.4*u[0,1,1] + 0.5*u[0,0,0]", "skip");
  const halotune_problem mixed = problem_of("mixed", "h200", 3, 512);
  CHECK_OK(halotune_lookup(ctx, &mixed, &config));
  CHECK_TEXT("direct", config.template_name, "nothing repeats");
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

/* A stencil with images that has rows on another GPU is no other stencil because a program gives it a name. */
TEST(rows_of_the_stencil_itself_know_its_images) {
  static const struct tuned rows[] = {{GPU_H200, "gradient", "direct", "vector=1", F32, {128, 128, 128}, USUAL, 0.005}};
  static const char *const names[] = {"mine", "gradient"};
  struct work folder;
  char *file, text[4096];
  size_t length;
  halotune_ctx *ctx;
  halotune_config configs[2];
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  CHECK_OK(file_read("kernels/gradient.yaml", sizeof text / 2, &file, &length));
  snprintf(text, sizeof text, "name: mine%s", strchr(file, '\n'));
  free(file);
  CHECK_EQ(HALOTUNE_OK, halotune_stencil_add(ctx, text), "%s", halotune_error(ctx));
  for (int i = 0; i < 2; i++) {
    const halotune_problem problem = problem_of(names[i], "a100 pcie 40gb", 3, 128);
    CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &configs[i]), "%s", halotune_error(ctx));
  }
  CHECK_NEAR(configs[1].expected_error, configs[0].expected_error, 1e-9, "by another name");
  CHECK(configs[1].expected_error < 0.5, "%g", configs[1].expected_error);
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

TEST(the_number_of_taps_counts) {
  static const struct tuned rows[] = {
      {GPU_H200, "star13", "direct", "vector=2", F32, {128, 128, 128}, USUAL, 0.005},
      {GPU_H200, "star25", "direct", "vector=1", F32, {128, 128, 128}, USUAL, 0.005},
  };
  halotune_ctx *ctx;
  struct work folder;
  halotune_config config;
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  add_text(ctx, "arms", "u[0,0,0] + u[-1,0,0] + u[3,0,0] + u[0,-2,0] + u[0,1,0] + u[0,0,-4] + u[0,0,2]", "skip");
  const halotune_problem problem = problem_of("arms", "h200", 3, 128);
  CHECK_EQ(HALOTUNE_OK, halotune_lookup(ctx, &problem, &config), "%s", halotune_error(ctx));
  CHECK_TEXT("star13", config.measured_stencil, "7 taps are more like 13 than like 25, though their reach is 4");
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

/* 512x512x512 takes 270 us on the H200 of the tests, with 4917 GB/s, and the fastest copy 0.9 of it. A row that was
 * measured in the L2 cache makes no GPU faster than its memory. */
TEST(times_of_other_GPUs_follow_their_memory) {
  static const struct tuned cached[] = {
      {GPU_H200, "star7", "direct", "vector=4 block_x=64", F32, {1056, 130, 36}, USUAL, 0.0065},
  };
  static const struct {
    const char *device;
    double gbs;
  } gpus[] = {{"h200", 4917}, {"h100 hbm3", 3352}, {"gh200", 4000}, {"a100 pcie 40gb", 1555}};
  const double bytes = 640 * 512 * 512 * 8.0;
  halotune_ctx *ctx;
  struct work folder;
  CHECK_EQ(0, tuned_begin(&folder, cached, COUNT(cached), &ctx), "a database");
  for (size_t i = 0; i < COUNT(gpus); i++) {
    halotune_problem problem = problem_of("star7", gpus[i].device, 3, 512);
    halotune_config config;
    problem.grid[0] = 640;
    CHECK_OK(halotune_lookup(common, &problem, &config));
    CHECK_NEAR(0.27 * 640 / 512 * gpus[0].gbs / gpus[i].gbs * choose_overrated(config.expected_error),
               config.expected_ms, 0.05 * config.expected_ms, "%s", gpus[i].device);
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK(config.expected_ms > 0.99 * bytes / (gpus[i].gbs * 1e6), "%s: %g ms", gpus[i].device, config.expected_ms);
  }
  tuned_end(&folder, ctx);
}

/* One ranking has the rows of all stencils and types: a doubtful prediction of a stencil's own row loses to one of
 * another row that is predicted to be much faster, and wins otherwise. */
TEST(a_doubtful_row_of_the_stencil_itself_may_lose) {
  static const struct tuned rows[] = {
      {GPU_H200, "star25", "zmarch", "z_slicing=128", F32, {1024, 1024, 512}, USUAL, 1.3},
      {GPU_H200, "star13", "direct", "vector=1", F32, {96, 96, 96}, USUAL, 0.004},
      {GPU_H200, "star25", "direct", "vector=1", DTYPE_F64, {1024, 1024, 512}, USUAL, 3},
  };
  static const struct {
    long n;
    halotune_match match;
    const char *stencil;
  } asked[] = {
      {64, HALOTUNE_MATCH_SIMILAR, "star13"},
      {1024, HALOTUNE_MATCH_NEAR_GRID, "star25"},
  };
  struct work own = work_begin();
  halotune_ctx *ctx = tuned_open(own.path, rows, COUNT(rows));
  for (size_t i = 0; i < COUNT(asked); i++) {
    halotune_config config;
    const halotune_problem problem = problem_of("star25", "h200", 3, asked[i].n);
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK_EQ(asked[i].match, config.match, "row %zu: %s, %g ms +- %g", i, halotune_match_name(config.match),
             config.expected_ms, config.expected_error);
    CHECK_TEXT(asked[i].stencil, config.measured_stencil, "row %zu", i);
    CHECK((config.expected_error > 0.15) == (asked[i].match == HALOTUNE_MATCH_SIMILAR), "row %zu: +- %g", i,
          config.expected_error);
  }
  halotune_close(ctx);
  work_end(&own);
}

/* A stencil of the user's own that has the name or the meaning of one in the database. */
/* Many rows of another stencil are expected to be faster, but do not fit rows of an odd length. The doubtful row of the
 * stencil itself is better than a default. */
TEST(a_doubtful_row_answers_where_all_better_ones_are_refused) {
  enum { OTHERS = 70 };
  static char sets[OTHERS][80];
  struct tuned rows[OTHERS + 1] = {{GPU_H200, "star7", "direct", "vector=1", F32, {32, 32, 32}, USUAL, 0.003}};
  halotune_ctx *ctx;
  struct work folder;
  halotune_config config;
  for (int i = 0; i < OTHERS; i++) {
    snprintf(sets[i], sizeof sets[i], "vector=4 block_x=%d block_y=%d points_y=%d z_slicing=%d", 16 << i % 3,
             2 << i / 3 % 3, 1 << i / 9 % 2, 2 << i / 18 % 4);
    rows[1 + i] = (struct tuned){GPU_H200, "star13", "zmarch", sets[i], F32, {512 + 4 * i, 512, 512}, USUAL, 0.2};
  }
  CHECK_EQ(0, tuned_begin(&folder, rows, COUNT(rows), &ctx), "a database");
  const halotune_problem problem = problem_of("star7", "h200", 3, 501);
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_NEAR_GRID, config.match, "%s: %s", halotune_match_name(config.match), config.template_name);
  CHECK(config.expected_error > choose_doubtful, "%g", config.expected_error);
  CHECK_EQ(0, tuned_end(&folder, ctx), "the end");
}

TEST(an_added_stencil_is_what_its_name_means) {
  halotune_ctx *ctx;
  halotune_config config;
  struct lookup_key key;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  double *coefficients;
  char *text, *changed;
  size_t bytes;
  const char *paths[] = {work.path};
  const halotune_problem problem = problem_of("star7", "h200", 3, 512);
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_OK(file_read("kernels/star7.yaml", MAX_STENCIL_BYTES, &text, &bytes));
  CHECK((changed = strstr(text, "c0: 0.4")), "star7 has c0");
  changed[strlen("c0: 0.")] = '5';
  CHECK_OK(halotune_stencil_add(ctx, text));
  CHECK_OK(halotune_stencil_add(ctx, text));
  CHECK_EQ(1, atomic_load(&ctx->added_stencils), "the same text is added once");
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_EXACT, config.match, "the meaning is that of the database");
  CHECK_OK(config_read(ctx, &config, &key, &answer));
  CHECK_OK(context_device(ctx, "h200", &room, &device));
  CHECK_OK(question_begin(ctx, &key, device, &question));
  CHECK_OK(kernel_coefficients(&question, NULL, &coefficients));
  CHECK_NEAR(0.5, coefficients[0], 1e-12, "the values are the program's");
  free(coefficients);
  free(text);
  CHECK_OK(halotune_stencil_add(
      ctx,
      "name: star7\nabout: mine\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = u[0,0,0] + u[1,0,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64, 64]]\n"));
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_SIMILAR, config.match, "another meaning has no row");
  halotune_close(ctx);
}

TEST(a_stencil_tells_its_names) {
  halotune_stencil_facts facts;
  char name[32];
  add_shape(common, true, 2, 1, name);
  CHECK_OK(halotune_stencil_info(common, name, &facts));
  CHECK_TEXT(name, facts.name, "an added stencil");
  CHECK(strstr(facts.text, "0.1*("), "its text: %s", facts.text);
  CHECK_EQ(2, facts.dims, "dims");
  CHECK_EQ(0, facts.coefficient_count, "no coefficients");
  CHECK_OK(halotune_stencil_info(common, "star7", &facts));
  CHECK_EQ(7, facts.coefficient_count, "one of a database");
  CHECK_TEXT("c6", facts.coefficients[6], "the last coefficient");
  CHECK_EQ(1, facts.input_count, "inputs");
  CHECK_EQ(1, facts.output_count, "outputs");
  CHECK_TEXT("u", facts.inputs[0], "input");
  CHECK_TEXT("v", facts.outputs[0], "output");
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_stencil_info(common, "nobody_knows_it", &facts), "unknown");
  CHECK(strstr(halotune_error(common), "nobody_knows_it"), "%s", halotune_error(common));
  CHECK_TEXT("star7", facts.name, "untouched after an error");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_info(common, NULL, &facts), "NULL");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_info(NULL, "star7", &facts), "NULL");
}

/* A program may change a stencil back and forth. */
TEST(texts_in_turn_take_one_place_each) {
  static const char text[] = "name: my_stencil\nabout: mine\ndims: 3\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = %d*"
                             "u[0,0,0] + u[1,0,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64, 64]]\n";
  char texts[2][sizeof text + 16];
  halotune_ctx *ctx;
  halotune_config config, last;
  const char *paths[] = {work.path};
  halotune_problem problem = problem_of("my_stencil", "h200", 3, 512);
  CHECK_OK(halotune_open(paths, 1, &ctx));
  for (int i = 0; i < 2; i++) snprintf(texts[i], sizeof texts[i], text, i + 2);
  for (int i = 0; i < CATALOG_MOST_ADDED + 2; i++) CHECK_OK(halotune_stencil_add(ctx, texts[i % 2]));
  CHECK_EQ(2, atomic_load(&ctx->added_stencils), "places");
  CHECK_OK(halotune_lookup(ctx, &problem, &last));
  CHECK_OK(halotune_stencil_add(ctx, texts[0]));
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK(strcmp(config.stencil_hash, last.stencil_hash) != 0, "the text that was added last counts");
  struct known_database tuned;
  context_note_database(work.path, &tuned);
  CHECK_OK(context_renew(ctx, &tuned));
  CHECK_OK(halotune_lookup(ctx, &problem, &last));
  CHECK_TEXT(config.stencil_hash, last.stencil_hash, "also after the databases are read again");
  problem.stencil = "my_stensil";
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_lookup(ctx, &problem, &config), "another name");
  CHECK(strstr(halotune_error(ctx), "did you mean 'my_stencil'"), "%s", halotune_error(ctx));
  halotune_close(ctx);
}

/* Defaults that use a given coefficient follow it. */
TEST(coefficients_are_computed_where_some_are_given) {
  const long long grid[3] = {64, 64, 0}, impossible[3] = {-1, 64, 0};
  double values[2] = {7, 7};
  const double alpha[2] = {0.2, NAN}, both[2] = {0.2, 3}, infinite[2] = {INFINITY, NAN};
  CHECK_OK(halotune_stencil_add(
      common,
      "name: follows\nabout: a\ndims: 2\ninputs: [u]\noutputs: [v]\ncoefficients: {alpha: 0.1, c0: 1 - 4*alpha}\nupdate: |\n  v = c0*u[0,0] + alpha*u[1,0]\nboundary: skip\ndtypes: [f32]\ngrids: [[64, 64]]\n"));
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_coefficients(common, "follows", impossible, NULL, values), "grid");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_coefficients(common, "follows", grid, infinite, values), "infinite");
  CHECK(strstr(halotune_error(common), "alpha"), "%s", halotune_error(common));
  CHECK_EQ(HALOTUNE_NOT_FOUND, halotune_stencil_coefficients(common, "nobody_knows_it", grid, NULL, values), "unknown");
  CHECK_NEAR(7, values[0], 0, "untouched after an error");
  CHECK_OK(halotune_stencil_coefficients(common, "follows", grid, NULL, values));
  CHECK_NEAR(0.6, values[1], 1e-15, "the default");
  CHECK_OK(halotune_stencil_coefficients(common, "follows", grid, alpha, values));
  CHECK_NEAR(0.2, values[0], 1e-15, "as given");
  CHECK_NEAR(0.2, values[1], 1e-15, "the default follows: 1 - 4*0.2");
  CHECK_OK(halotune_stencil_coefficients(common, "follows", grid, both, values));
  CHECK_NEAR(3, values[1], 1e-15, "given");
}

TEST(what_is_no_stencil_is_refused) {
  CHECK_EQ(HALOTUNE_PARSE, halotune_stencil_add(common, "name: ["), "no YAML");
  CHECK(strstr(halotune_error(common), "halotune_stencil_add"), "%s", halotune_error(common));
  CHECK_EQ(HALOTUNE_PARSE, halotune_stencil_add(common, ""), "nothing");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_add(common, NULL), "NULL");
  CHECK_EQ(HALOTUNE_ARGUMENT, halotune_stencil_add(NULL, ""), "NULL");
}

/* Without any database, a template's defaults answer. */
TEST(an_empty_ctx_has_defaults) {
  struct work own = work_begin();
  struct store *store;
  halotune_ctx *ctx;
  halotune_config config;
  char name[32];
  CHECK_OK(store_open(own.path, STORE_WRITE, &store));
  store_close(store);
  const char *paths[] = {own.path};
  CHECK_OK(halotune_open(paths, 1, &ctx));
  add_shape(ctx, false, 3, 1, name);
  const halotune_problem problem = problem_of(name, "h100", 3, 200);
  CHECK_OK(halotune_lookup(ctx, &problem, &config));
  CHECK_EQ(HALOTUNE_MATCH_DEFAULT, config.match, "%s", config.template_name);
  CHECK_TEXT("direct", config.template_name, "the first template");
  int added = 1;
  for (; added < CATALOG_MOST_ADDED; added++) {
    char text[256];
    snprintf(
        text, sizeof text,
        "name: s%d\nabout: a\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = %d*u[1]\nboundary: skip\ndtypes: [f32]\ngrids: [[64]]\n",
        added, added);
    CHECK_EQ(HALOTUNE_OK, halotune_stencil_add(ctx, text), "%d: %s", added, halotune_error(ctx));
  }
  CHECK_EQ(
      HALOTUNE_ARGUMENT,
      halotune_stencil_add(
          ctx,
          "name: more\nabout: a\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = 7*u[2]\nboundary: skip\ndtypes: [f32]\ngrids: [[64]]\n"),
      "no room");
  halotune_close(ctx);
  work_end(&own);
}

/* The template that an answer is of. */
static const struct known_template *template_of(halotune_ctx *ctx, const halotune_config *config) {
  struct lookup_key key;
  struct answer answer;
  CHECK_OK(config_read(ctx, config, &key, &answer));
  return &ctx->catalog.templates[answer.template_at];
}

/* An older version of a template does not know what stencils say since lately: its rules would not leave them out. So
 * only the installed version answers for other stencils than those of its rows, with the parameters of any version's
 * rows. Where none is installed, the newest one answers for stencils that say nothing new. */
TEST(an_older_template_answers_for_no_stencil_that_it_does_not_know) {
  static const struct {
    const char *inputs, *update, *boundary;
    bool is_new;
  } stencils[] = {
      {"[u]", "v = u[-1,0] + u[1,0]", "clamp", false},
      {"[u]", "v = u[-1,0] + u[1,0]", "mirror", true},
      {"[u]", "v = u[-1,0] + u[1,0]", "{x: [clamp, zero], y: clamp}", true},
      {"[u]", "v = x*u[-1,0] + u[1,0]", "clamp", true},
      {"[u]", "v = u[-1,0] + u[1,0]", "skip\nmargins: {v: {x: [1, 2]}}", true},
      {"[u, w]", "v = u[-1,0] + u[1,0] + w[0,0]", "skip\nin_place: {v: w}", true},
  };
  struct work other = work_begin();
  const char *paths[] = {other.path};
  tuned_make(other.path, common_rows, COUNT(common_rows));
  tuned_change(other.path, "update template set hash = 'older ' || name, yaml = '# older' || char(10) || yaml");
  for (size_t i = 0; i < 2 * COUNT(stencils); i++) {
    const bool is_installed = i < COUNT(stencils), is_new = stencils[i % COUNT(stencils)].is_new;
    struct text text = {0};
    halotune_ctx *ctx;
    halotune_config config;
    halotune_problem problem = problem_of("lately", "h200", 2, 1001);
    text_printf(&text, "name: lately\ndims: 2\ninputs: %s\noutputs: [v]\nupdate: %s\nboundary: %s\n",
                stencils[i % COUNT(stencils)].inputs, stencils[i % COUNT(stencils)].update,
                stencils[i % COUNT(stencils)].boundary);
    text_printf(&text, "dtypes: [f32]\ngrids: [[64, 64]]\n");
    setenv("HALOTUNE_TEMPLATE_PATH", is_installed ? "templates" : other.folder, 1);
    CHECK_OK(halotune_open(paths, 1, &ctx));
    CHECK_OK(halotune_stencil_add(ctx, text_string(&text)));
    const halotune_status status = halotune_lookup(ctx, &problem, &config);
    CHECK_EQ(is_installed || !is_new ? HALOTUNE_OK : HALOTUNE_NOT_FOUND, status, "%s: %s", text_string(&text),
             halotune_error(ctx));
    if (status == HALOTUNE_OK) {
      CHECK_EQ(HALOTUNE_MATCH_SIMILAR, config.match, "%s", text_string(&text));
      CHECK(is_installed == (strncmp(template_of(ctx, &config)->hash, "older", 5) != 0), "%s", config.template_name);
    }
    problem.stencil = "heat2d"; /* which the older versions were measured with */
    CHECK_OK(halotune_lookup(ctx, &problem, &config));
    CHECK(strncmp(template_of(ctx, &config)->hash, "older", 5) == 0, "%s", config.template_name);
    text_free(&text);
    halotune_close(ctx);
  }
  setenv("HALOTUNE_TEMPLATE_PATH", "templates", 1);
  work_end(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_shape_of_a_benchmark_has_an_answer),
      cmocka_unit_test(where_coefficients_are_kept_means_nothing_without_any),
      cmocka_unit_test(the_nearest_stencil_lends_its_winner),
      cmocka_unit_test(a_question_ends_at_limits),
      cmocka_unit_test(stencils_with_long_texts_answer_until_these_are_much),
      cmocka_unit_test(templates_that_won_with_images_answer_for_stencils_with_images),
      cmocka_unit_test(a_star_tells_nothing_of_images_at_corners),
      cmocka_unit_test(a_template_that_is_refused_often_hides_no_other),
      cmocka_unit_test(weights_that_repeat_are_grouped),
      cmocka_unit_test(rows_of_the_stencil_itself_know_its_images),
      cmocka_unit_test(the_number_of_taps_counts),
      cmocka_unit_test(times_of_other_GPUs_follow_their_memory),
      cmocka_unit_test(a_doubtful_row_of_the_stencil_itself_may_lose),
      cmocka_unit_test(a_doubtful_row_answers_where_all_better_ones_are_refused),
      cmocka_unit_test(an_added_stencil_is_what_its_name_means),
      cmocka_unit_test(a_stencil_tells_its_names),
      cmocka_unit_test(texts_in_turn_take_one_place_each),
      cmocka_unit_test(coefficients_are_computed_where_some_are_given),
      cmocka_unit_test(what_is_no_stencil_is_refused),
      cmocka_unit_test(an_empty_ctx_has_defaults),
      cmocka_unit_test(an_older_template_answers_for_no_stencil_that_it_does_not_know),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
