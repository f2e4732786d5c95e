/* verify_finite_test.c: a scene is made only if the reference has finite values. */
#include "tests/unit/unit.h"

#include <limits.h>
#include <string.h>

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/scene.h"

#define HEAD "inputs: [u]\noutputs: [v]\nboundary: skip\n"

static const struct {
  const char *lines;
  enum dtype dtype;
  int steps;
  const char *failure; /* NULL: the scene is made */
} rows[] = {
    {"update: v = sqrt(u[0,0])", DTYPE_F32, 1, NULL},
    {"update: v = sqrt(u[0,0]-5)", DTYPE_F64, 1, "v is nan at point (0, 0, 0) after 1 step"},
    {"update: v = sqrt(u[0,0]-5)\nvalues: {u: [6, 7]}", DTYPE_F64, 1, NULL},
    {"update: v = sqrt(u[-1,0]-5) + u[0,-1]", DTYPE_F64, 1, "v is nan at point (1, 1, 0) after 1 step"},
    {"update: v = sqrt(u[0,0]-0.2)-2\niterate: {v: u}", DTYPE_F64, 1, NULL},
    {"update: v = sqrt(u[0,0]-0.2)-2\niterate: {v: u}", DTYPE_F64, 2, "v is nan at point (0, 0, 0) after 2 steps"},
    {"update: v = u[0,0]*u[0,0]*u[0,0]\nvalues: {u: [1e13, 1e14]}", DTYPE_F32, 1,
     "no kernel can be compared in f32: give"},
    {"update: v = u[0,0]*u[0,0]*u[0,0]\nvalues: {u: [1e13, 1e14]}", DTYPE_F64, 1, NULL},
    {"update: v = 1e20*u[0,0]*1e20", DTYPE_F32, 1, "such as 'values: {u: [1, 2]}'"},
};

TEST(a_point_without_a_number_is_told) {
  const struct grid grid = {{40, 30, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    char lines[256];
    struct scene scene;
    snprintf(lines, sizeof lines, HEAD "%s", rows[i].lines);
    struct reference_case c = reference_case_open(2, lines, grid);
    struct scene_request request = {.stencil = c.stencil,
                                    .analysis = c.analysis,
                                    .dtype = rows[i].dtype,
                                    .domain = domain_dense(c.stencil, c.analysis, &grid),
                                    .coefficients = c.coefficients,
                                    .input = INPUT_RANDOM,
                                    .seed = 1,
                                    .steps = rows[i].steps,
                                    .threads = 2};
    halotune_status status = scene_make(&request, &scene);
    CHECK((status == HALOTUNE_ARGUMENT) == (rows[i].failure != NULL), "row %zu: %s", i, fail_text());
    if (rows[i].failure) CHECK(strstr(fail_text(), rows[i].failure), "row %zu: %s", i, fail_text());
    scene_free(&scene);
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_point_without_a_number_is_told)};
  return cmocka_run_group_tests_name("verify_finite", tests, NULL, NULL);
}
