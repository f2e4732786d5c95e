/* stages_test.c: lists of stages, what their reaches add up to, and which updates can be a chain. */
#include "stencil/launch/stages.h"

#include "stencil/template/facts.h"
#include "tests/unit/unit.h"

#define FIELDS "inputs: [u]\noutputs: [v]\niterate: {v: u}\ncoefficients: {a: 0.5}\n"
#define SPACE "dims: 3\nboundary: skip\ndtypes: [f32]\ngrids: [[9, 8, 7]]\n"

struct test_update {
  struct stencil *stencil;
  struct analysis *analysis;
};

static struct test_update read_update(const char *fields, const char *update) {
  struct text file = {0};
  struct test_update out;
  text_printf(&file, "name: test\n%supdate: %s\n", fields, update);
  CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&file), file.length}, &out.stencil));
  CHECK_OK(analysis_make(out.stencil, &out.analysis));
  text_free(&file);
  return out;
}

static void free_update(const struct test_update *update) {
  analysis_free(update->analysis);
  stencil_free(update->stencil);
}

static const char ahead[] = "v = a*u[0,0,-1] + u[0,3,2]", behind[] = "v = u[-1,0,-2] + a*u[0,1,0]";

/* The reach of the first and of the last stages along z, to the low and to the high side. */
TEST(reaches_add_up) {
  static const struct {
    int updates, steps, count, first_low, first_high, last_low, last_high;
  } rows[] = {
      {1, 3, 0, 0, 0, 0, 0}, {1, 3, 1, 1, 2, 1, 2}, {1, 3, 3, 3, 6, 3, 6}, {2, 1, 1, 1, 2, 2, 0},
      {2, 1, 2, 3, 2, 3, 2}, {2, 2, 3, 4, 4, 5, 2}, {2, 2, 4, 6, 4, 6, 4}, {2, 2, 0, 0, 0, 0, 0},
  };
  const struct test_update updates[] = {read_update(FIELDS SPACE, ahead), read_update(FIELDS SPACE, behind)};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stages stages = stages_of_update(updates[0].stencil, updates[0].analysis, rows[i].steps);
    if (rows[i].updates == 2)
      stages.step[stages.step_count++] = launch_stage_of(updates[1].stencil, updates[1].analysis);
    CHECK_EQ(rows[i].updates * rows[i].steps, stages_count(&stages), "row %zu", i);
    CHECK_EQ(rows[i].updates == 1, stages_are_alike(&stages), "row %zu", i);
    CHECK_EQ(rows[i].first_low, stages_reach_first(&stages, rows[i].count, 2, SIDE_LOW), "row %zu", i);
    CHECK_EQ(rows[i].first_high, stages_reach_first(&stages, rows[i].count, 2, SIDE_HIGH), "row %zu", i);
    CHECK_EQ(rows[i].last_low, stages_reach_last(&stages, rows[i].count, 2, SIDE_LOW), "row %zu", i);
    CHECK_EQ(rows[i].last_high, stages_reach_last(&stages, rows[i].count, 2, SIDE_HIGH), "row %zu", i);
    for (int stage = 0; stage < stages_count(&stages); stage++) {
      CHECK(stages_get(&stages, stage)->stencil == updates[stage % rows[i].updates].stencil, "row %zu: %d", i, stage);
    }
  }
  for (size_t i = 0; i < COUNT(updates); i++) free_update(&updates[i]);
}

/* The farthest reach of any update, and that of a time step. */
TEST(a_chain_reaches_as_far_as_any_of_its_updates) {
  const struct test_update updates[] = {read_update(FIELDS SPACE, ahead), read_update(FIELDS SPACE, behind)};
  const struct analysis *const parts[] = {updates[0].analysis, updates[1].analysis};
  struct stages stages = stages_of_update(updates[0].stencil, updates[0].analysis, 1);
  struct analysis *chain;
  double facts[FACT_COUNT];
  stages.step[stages.step_count++] = launch_stage_of(updates[1].stencil, updates[1].analysis);
  CHECK_OK(stages_check(&stages));
  CHECK_OK(analysis_of_chain(updates[0].stencil, parts, 2, &chain));
  facts_fill_stencil(updates[0].stencil, chain, facts);
  facts_set_stages(&stages, facts);
  const struct {
    enum fact fact;
    double want;
  } rows[] = {{FACT_low_x, 1},      {FACT_high_x, 0},      {FACT_low_y, 0},       {FACT_high_y, 3},
              {FACT_low_z, 2},      {FACT_high_z, 2},      {FACT_taps, 4},        {FACT_step_stages, 2},
              {FACT_step_low_x, 1}, {FACT_step_high_x, 0}, {FACT_step_low_y, 0},  {FACT_step_high_y, 4},
              {FACT_step_low_z, 3}, {FACT_forms, 0},       {FACT_step_high_z, 2}, {FACT_taps_on_axes, 0}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_NEAR(rows[i].want, facts[rows[i].fact], 0, "%s", fact_rows[rows[i].fact].name);
  }
  analysis_free(chain);
  for (size_t i = 0; i < COUNT(updates); i++) free_update(&updates[i]);
}

TEST(updates_of_a_chain_have_the_same_fields) {
  static const struct {
    const char *fields, *update, *error;
  } rows[] = {
      {FIELDS SPACE, "v = u[0,0,1]*a", NULL},
      {"inputs: [w]\noutputs: [v]\niterate: {v: w}\ncoefficients: {a: 0.5}\n" SPACE, "v = a*w[0,0,1]", "other fields"},
      {"inputs: [u, w]\noutputs: [v]\niterate: {v: u}\ncoefficients: {a: 0.5}\n" SPACE, "v = a*u[0,0,1] + w[0,0,0]",
       "other fields"},
      {"inputs: [u]\noutputs: [v]\niterate: {v: u}\ncoefficients: {b: 0.5}\n" SPACE, "v = b*u[0,0,1]",
       "other coefficients"},
      {"inputs: [u]\noutputs: [v]\ncoefficients: {a: 0.5}\n" SPACE, "v = a*u[0,0,1]", "no chain can have"},
      {FIELDS "dims: 3\nboundary: {x: periodic, y: skip, z: skip}\ndtypes: [f32]\ngrids: [[9, 8, 7]]\n",
       "v = a*u[0,0,1]", "other boundaries"},
      {FIELDS "dims: 2\nboundary: skip\ndtypes: [f32]\ngrids: [[9, 8]]\n", "v = a*u[0,1]", "other dimensions"},
      {FIELDS SPACE, "v = a*u[0,0,1] + x", "no chain can have"},
  };
  const struct test_update first = read_update(FIELDS SPACE, ahead);
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct test_update second = read_update(rows[i].fields, rows[i].update);
    struct stages stages = stages_of_update(first.stencil, first.analysis, 1);
    stages.step[stages.step_count++] = launch_stage_of(second.stencil, second.analysis);
    CHECK_EQ(rows[i].error ? HALOTUNE_ARGUMENT : HALOTUNE_OK, stages_check(&stages), "row %zu", i);
    CHECK(!rows[i].error || strstr(fail_text(), rows[i].error), "row %zu: %s", i, fail_text());
    free_update(&second);
  }
  free_update(&first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reaches_add_up),
      cmocka_unit_test(a_chain_reaches_as_far_as_any_of_its_updates),
      cmocka_unit_test(updates_of_a_chain_have_the_same_fields),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
