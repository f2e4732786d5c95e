/* facts_test.c: facts about the fields that change from step to step. */
#include "gpu/architecture/arch.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

static const struct {
  const char *path;
  int buffers, carried_on, near;
} rows[] = {
    {"kernels/copy.yaml", 0, 0, 0},
    {"kernels/star7.yaml", 2, 1, 1},
    /* u_prev is read at the point, and takes the value of u */
    {"kernels/wave25.yaml", 3, 1, 1},
    /* u_old has neighbours, u_older has none; the second output becomes no input */
    {"kernels/asymmetric/skew_steps_3d.yaml", 4, 1, 2},
    /* all changing fields are read at the point */
    {"examples/solvers/maxwell_e.yaml", 6, 3, 0},
    /* w is read at the point, and u with neighbours takes its value in the next step; p and q have no neighbours */
    {"tests/data/march_ends.yaml", 5, 1, 2},
    {"tests/data/march_walls.yaml", 4, 2, 2},
};

TEST(facts_count_the_fields_that_change) {
  const struct device_limits limits = arch_device_limits(arch_find(9, 0));
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    double facts[FACT_COUNT];
    CHECK_OK(stencil_read(rows[i].path, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    const struct domain domain = domain_dense(stencil, analysis, &stencil->grids[0]);
    facts_fill(stencil, analysis, DTYPE_F32, &domain, &limits, false, facts);
    CHECK_EQ(rows[i].buffers, (int)facts[FACT_stage_buffers], "%s", rows[i].path);
    CHECK_EQ(rows[i].carried_on, (int)facts[FACT_carried_on], "%s", rows[i].path);
    CHECK_EQ(rows[i].near, (int)facts[FACT_near_inputs], "%s", rows[i].path);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

/* A step may make the last point of an axis with a repeated end point other than the first one. */
TEST(launches_of_several_steps_keep_repeated_end_points_equal) {
  static const struct {
    const char *update, *boundary;
    bool iterates;
  } cases[] = {
      {"u[-1,0]*(x < 5 ? 1 : 2)", "[periodic_endpoint, periodic]", false},
      {"u[0,-1] + y", "[clamp, periodic_endpoint]", false},
      {"u[-1,0]*(y < 5 ? 1 : 2)", "[periodic_endpoint, periodic]", true},
      {"u[-1,0]*(x < 5 ? 1 : 2)", "periodic", true},
      {"u[-1,0] + u[0,1]", "periodic_endpoint", true},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    char text[512];
    double facts[FACT_COUNT] = {0};
    snprintf(text, sizeof text,
             "name: test\ndims: 2\ninputs: [u]\noutputs: [v]\nupdate: |\n  v = %s\nboundary: %s\niterate: {v: u}\n"
             "dtypes: [f32]\ngrids: [[64, 64]]\n",
             cases[i].update, cases[i].boundary);
    const struct source source = source_of("test.yaml", text, strlen(text));
    CHECK_OK(stencil_parse(&source, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    facts_fill_stencil(stencil, analysis, facts);
    CHECK_EQ(cases[i].iterates, facts[FACT_iterates] != 0, "%s, %s", cases[i].update, cases[i].boundary);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_count_the_fields_that_change),
      cmocka_unit_test(launches_of_several_steps_keep_repeated_end_points_equal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
