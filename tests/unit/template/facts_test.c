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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(facts_count_the_fields_that_change),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
