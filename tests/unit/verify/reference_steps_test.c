/* reference_steps_test.c: time steps and scans, and requests that the reference refuses. */
#include <stdatomic.h>

#include "tests/unit/unit.h"
#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/scene.h"
#include "tuner/verify/spot.h"

#define UPWIND                                                                                              \
  "inputs: [u]\noutputs: [v]\ncoefficients: {a: 0.3, b: 0.25, c: 0.2, d: 0.125, e: 0.1}\niterate: {v: u}\n" \
  "update: v = a*u[0,0,0] + b*u[-2,0,0] + c*u[1,0,0] + d*u[0,-1,0]*u[0,0,2] + e*u[1,-1,0]\n"

TEST(two_half_runs_equal_one_run) {
  static const char *const rules[] = {"periodic", "periodic_endpoint",      "clamp", "zero",
                                      "skip",     "[skip, periodic, clamp]"};
  for (size_t i = 0; i < COUNT(rules); i++) {
    char lines[512];
    snprintf(lines, sizeof lines, UPWIND "boundary: %s", rules[i]);
    struct reference_case whole = reference_case_open(3, lines, (struct grid){{7, 11, 13}});
    struct reference_case half = reference_case_open(3, lines, (struct grid){{7, 11, 13}});
    size_t bytes = (size_t)whole.points * sizeof(double);
    reference_case_fill(&whole, INPUT_RANDOM, 1);
    reference_case_fill(&half, INPUT_RANDOM, 1);
    reference_case_share_skipped(&whole);
    reference_case_share_skipped(&half);
    CHECK_OK(reference_case_run(&whole, 7, 1, false));
    CHECK_OK(reference_case_run(&half, 3, 1, false));
    memcpy(half.inputs[0], half.outputs[0], bytes);
    CHECK_OK(reference_case_run(&half, 4, 2, false));
    CHECK(memcmp(whole.outputs[0], half.outputs[0], bytes) == 0, "%s", rules[i]);
    reference_case_close(&whole), reference_case_close(&half);
  }
}

/* The wave's three buffers exchange places as they do on a device: the one that is no longer needed receives the
 * output. */
TEST(several_steps_are_single_steps_with_buffers_in_rotation) {
  for (int steps = 1; steps <= 6; steps++) {
    struct reference_case c = reference_case_kernel("wave25", (struct grid){{11, 13, 10}});
    struct reference_case one = reference_case_kernel("wave25", (struct grid){{11, 13, 10}});
    size_t bytes = (size_t)c.points * sizeof(double);
    reference_case_fill(&c, INPUT_SMOOTH, 3);
    reference_case_fill(&one, INPUT_SMOOTH, 3);
    reference_case_share_skipped(&c);
    reference_case_share_skipped(&one);
    for (long i = 0; i < c.points; i++) CHECK(c.outputs[0][i] != 0, "point %ld", i);
    CHECK_OK(reference_case_run(&c, steps, 1, false));
    for (int step = 0; step < steps; step++) {
      if (step > 0) {
        double *free_buffer = one.inputs[1];
        one.inputs[1] = one.inputs[0];
        one.inputs[0] = one.outputs[0];
        one.outputs[0] = free_buffer;
      }
      CHECK_OK(reference_case_run(&one, 1, 1, false));
    }
    CHECK(memcmp(c.outputs[0], one.outputs[0], bytes) == 0, "%d steps", steps);
    reference_case_close(&c), reference_case_close(&one);
  }
}

/* Worked out by hand, with one cell, so that every tap reads this cell. */
TEST(iterate_moves_all_fields_at_once) {
  struct reference_case c = reference_case_open(
      1,
      "inputs: [p, q, r, k]\noutputs: [s, t]\nboundary: periodic\niterate: {s: p, p: q, q: r, t: k}\n"
      "update: |\n  s = 1000*p[0] + 100*q[1] + 10*r[-1] + k[0]\n  t = k[0] + 1\n",
      (struct grid){{1, 1, 1}});
  /* p q r k: 1 2 3 4 -> 1234 1 2 5 -> 1234125 1234 1 6 */
  static const double want_s[] = {1234, 1234125, 1000 * 1234125.0 + 123400 + 10 + 6}, want_t[] = {5, 6, 7};
  for (int steps = 1; steps <= 3; steps++) {
    for (int i = 0; i < 4; i++) c.inputs[i][0] = i + 1;
    CHECK_OK(reference_case_run(&c, steps, 1, false));
    CHECK_NEAR(want_s[steps - 1], c.outputs[0][0], 0, "%d steps", steps);
    CHECK_NEAR(want_t[steps - 1], c.outputs[1][0], 0, "%d steps", steps);
  }
  for (int i = 0; i < 4; i++) CHECK_NEAR(i + 1, c.inputs[i][0], 0, "input %d is left alone", i);
  reference_case_close(&c);
}

static const struct grid scan_grids[] = {{{7, 11, 13}}, {{600, 2, 3}}, {{1, 1, 1}}, {{2, 700, 1}}};

TEST(the_last_plane_of_a_scan_is_the_plain_sum) {
  static const char *const names[] = {"scan_x", "scan_y", "scan_z"};
  for (size_t i = 0; i < COUNT(scan_grids) * MAX_DIMS; i++) {
    int axis = (int)(i % MAX_DIMS);
    struct reference_case c = reference_case_kernel(names[axis], scan_grids[i / MAX_DIMS]);
    const long *n = c.grid.n;
    long stride = axis == 0 ? 1 : axis == 1 ? n[0] : n[0] * n[1];
    reference_case_fill(&c, INPUT_RANDOM, i);
    CHECK_OK(reference_case_run(&c, 1, (int)(i % 3), true));
    for (long start = 0; start < c.points; start++) {
      if (start / stride % n[axis] != 0) continue;
      double sum = 0, magnitude = 0;
      for (long k = 0; k < n[axis]; k++) {
        long at = start + k * stride;
        sum += c.inputs[0][at];
        magnitude += fabs(c.inputs[0][at]);
        CHECK_NEAR(sum, c.outputs[0][at], 0, "%s, grid %zu, point %ld", names[axis], i / MAX_DIMS, at);
        CHECK_NEAR(magnitude, c.magnitudes[0][at], 0, "%s, grid %zu, point %ld", names[axis], i / MAX_DIMS, at);
      }
    }
    reference_case_close(&c);
  }
}

TEST(wrong_arguments_are_refused_with_a_sentence) {
  static const struct {
    const char *kernel;
    struct grid grid;
    int steps;
    const char *detail;
  } rows[] = {
      {"star7", {{8, 8, 0}}, 1, "a grid has at least one point along z, not 0"},
      {"star7", {{-1, 8, 8}}, 1, "a grid has at least one point along x, not -1"},
      {"star7", {{8, 8, 8}}, 0, "the number of steps must be at least 1, not 0"},
      {"star7", {{1L << 31, 1L << 31, 4}}, 1, "a grid of 2147483648x2147483648x4 points is too large"},
      {"heat2d", {{8, 8, 2}}, 1, "'heat2d' has no z axis: its grids have one point along z, not 2"},
      {"derivative_y",
       {{8, 1, 8}},
       1,
       "'derivative_y' is periodic along y with its end point repeated, which takes at least two points"},
      {"derivative_x",
       {{8, 8, 8}},
       2,
       "'derivative_x' makes one step only: it does not say in `iterate` which output becomes an input"},
      {"scan_x",
       {{8, 8, 8}},
       2,
       "'scan_x' makes one step only: it does not say in `iterate` which output becomes an input"},
      {"scan_x", {{8, 0, 8}}, 1, "a grid has at least one point along y, not 0"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct reference_case c = reference_case_kernel(rows[i].kernel, (struct grid){{8, 8, 1}});
    c.grid = rows[i].grid;
    CHECK_EQ(HALOTUNE_ARGUMENT, reference_case_run(&c, rows[i].steps, 1, true), "row %zu", i);
    CHECK_TEXT(rows[i].detail, fail_text(), "row %zu", i);
    reference_case_close(&c);
  }
  struct reference_case c = reference_case_kernel("star7", (struct grid){{8, 8, 8}});
  const double *inputs[] = {c.inputs[0]};
  struct reference reference = {.stencil = c.stencil,
                                .analysis = c.analysis,
                                .grid = c.grid,
                                .coefficients = c.coefficients,
                                .steps = 1,
                                .threads = 1,
                                .dtype = DTYPE_F64};
  CHECK_EQ(HALOTUNE_ARGUMENT, reference_run(&reference, inputs, c.inputs, NULL), "output");
  CHECK_TEXT("the input 'u' and the output 'v' are the same array", fail_text(), "output");
  CHECK_EQ(HALOTUNE_ARGUMENT, reference_run(&reference, inputs, c.outputs, c.inputs), "magnitude");
  reference_case_close(&c);
}

/* Comes with the question of this number. */
struct questions {
  atomic_long *asked;
  long most;
};

static bool is_over(const void *context) {
  const struct questions *questions = context;
  return atomic_fetch_add(questions->asked, 1) + 1 >= questions->most;
}

static struct ending ending_of(const struct questions *questions) {
  return (struct ending){.is_over = is_over, .context = questions};
}

TEST(the_ending_comes_within_a_step) {
  static const struct {
    int threads;
    long most;
    bool ends;
  } rows[] = {{1, 1, true}, {1, 3, true}, {4, 3, true}, {4, 1000000, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct reference_case c = reference_case_kernel("star7", (struct grid){{64, 64, 16}});
    atomic_long asked = 0;
    const struct questions questions = {&asked, rows[i].most};
    const double *inputs[] = {c.inputs[0]};
    const struct reference reference = {.stencil = c.stencil,
                                        .analysis = c.analysis,
                                        .grid = c.grid,
                                        .coefficients = c.coefficients,
                                        .steps = 1,
                                        .threads = rows[i].threads,
                                        .dtype = DTYPE_F64,
                                        .ending = ending_of(&questions)};
    const halotune_status want = rows[i].ends ? HALOTUNE_CANCELLED : HALOTUNE_OK;
    long computed = 0;
    CHECK_EQ(want, reference_run(&reference, inputs, c.outputs, c.magnitudes), "row %zu: %s", i, fail_text());
    for (long p = 0; p < c.points; p++) computed += c.outputs[0][p] != REFERENCE_UNTOUCHED;
    const long all = 62L * 62 * 14, part = 32L * 62;
    if (rows[i].ends) {
      CHECK(computed <= (rows[i].most - 1) * part, "row %zu: %ld points", i, computed);
      CHECK(asked < rows[i].most + rows[i].threads, "row %zu: %ld questions", i, (long)asked);
      CHECK_TEXT("stopped in step 1 of 1 of the reference", fail_text(), "row %zu", i);
    } else {
      CHECK_EQ(all, computed, "row %zu: points", i);
    }
    reference_case_close(&c);
  }
}

/* A row is computed in ten pieces. */
TEST(a_long_update_asks_in_each_piece) {
  enum { TERMS = 20000, PIECES = 10 };
  struct text lines = {0};
  text_printf(&lines, "inputs: [u]\noutputs: [v]\nboundary: periodic\nupdate: v = u[0]");
  for (int i = 0; i < TERMS; i++) text_printf(&lines, "+u[1]*u[%d]", i % 3);
  struct reference_case c =
      reference_case_open(1, text_string(&lines), (struct grid){{(long)PIECES * ROW_POINTS, 1, 1}});
  atomic_long asked = 0;
  const struct questions questions = {&asked, 1000000};
  const double *inputs[] = {c.inputs[0]};
  const struct reference reference = {.stencil = c.stencil,
                                      .analysis = c.analysis,
                                      .grid = c.grid,
                                      .coefficients = c.coefficients,
                                      .steps = 1,
                                      .threads = 1,
                                      .dtype = DTYPE_F64,
                                      .ending = ending_of(&questions)};
  CHECK_OK(reference_run(&reference, inputs, c.outputs, NULL));
  CHECK_EQ(PIECES, asked, "questions");
  text_free(&lines);
  reference_case_close(&c);
}

/* Wherever the ending comes, a scene is not made, and what it had is freed. */
TEST(a_scene_ends_at_each_question) {
  struct reference_case c = reference_case_kernel("star7", (struct grid){{40, 40, 40}});
  halotune_status status = HALOTUNE_CANCELLED;
  long most = 1;
  for (; status == HALOTUNE_CANCELLED && most < 1000; most++) {
    atomic_long asked = 0;
    const struct questions questions = {&asked, most};
    const struct scene_request request = {.stencil = c.stencil,
                                          .analysis = c.analysis,
                                          .dtype = DTYPE_F32,
                                          .domain = domain_dense(c.stencil, c.analysis, &c.grid),
                                          .coefficients = c.coefficients,
                                          .input = INPUT_RANDOM,
                                          .seed = 1,
                                          .steps = 2,
                                          .launch_steps = 1,
                                          .threads = 1,
                                          .ending = ending_of(&questions)};
    struct scene scene;
    status = scene_make(&request, &scene);
    CHECK_EQ(status == HALOTUNE_OK, scene_has_fields(&scene), "question %ld", most);
    scene_free(&scene);
    if (most > 1) continue;
    double values[2][ROW_POINTS];
    const struct result_row row = {values[0], values[1]};
    CHECK_OK(scene_plan(&request, &scene));
    const struct spot spot = spot_draw(&scene, &scene.box, 0);
    CHECK_EQ(HALOTUNE_CANCELLED, spot_reference(&scene, &spot, &row), "a spot");
  }
  CHECK_OK(status);
  CHECK(most > 40, "it was asked %ld times", most);
  reference_case_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_half_runs_equal_one_run),
      cmocka_unit_test(several_steps_are_single_steps_with_buffers_in_rotation),
      cmocka_unit_test(iterate_moves_all_fields_at_once),
      cmocka_unit_test(the_last_plane_of_a_scan_is_the_plain_sum),
      cmocka_unit_test(wrong_arguments_are_refused_with_a_sentence),
      cmocka_unit_test(the_ending_comes_within_a_step),
      cmocka_unit_test(a_long_update_asks_in_each_piece),
      cmocka_unit_test(a_scene_ends_at_each_question),
  };
  return cmocka_run_group_tests_name("reference_steps", tests, NULL, NULL);
}
