/* split_test.c: the forms into which updates are taken apart. */
#include "tests/unit/unit.h"

#include "tests/unit/stencils.h"

/* Each form as "first..last<kept_until" and its number of weights. A star after it means that the rest of the update
 * reads an input at the computed point. */
static const struct {
  const char *update, *forms;
  int partial_sums, delay;
} rows[] = {
    {"v = u[0,0,0]", "", 0, 0},
    {"v = u[0,0,1]", "1..1<1 1", 0, 1},
    {"v = u[0,0,-2]", "-2..-2<0 1", 2, 0},
    {"v = a*u[0,0,-1] + b*u[0,0,1]", "-1..1<1 2", 2, 1},
    {"v = a*(u[1,0,0] - u[-1,0,0])/b", "0..0<0 2", 0, 0},
    {"v = u[0,0,2] + u[0,0,0]*w[0,0,0]", "2..2<2 1 *u *w", 0, 2},
    {"v = u[0,0,1]*u[0,0,-1]", "-1..-1<1 1, 1..1<1 1", 2, 1},
    {"v = 2*u[0,0,0] + a*w[0,0,0]*(u[0,0,1] + u[0,0,-1])", "-1..1<1 2 *u *w", 2, 1},
    {"v = fma(a, u[0,0,1], b*u[1,0,0])", "0..1<1 2", 1, 1},
    {"v = fabs(u[0,0,1] - u[0,0,0]) + 1", "0..1<1 2", 1, 1},
    {"v = u[0,0,3] + 1", "3..3<3 1", 0, 3},
    {"t = u[0,0,1] - u[0,0,0]\nv = t*t + sqrt(t)", "0..1<1 2", 1, 1},
    {"v = u[0,0,1]\nv2 = u[0,0,1]*u[1,0,0]", "1..1<1 1, 0..0<1 1, 1..1<1 1", 1, 1},
    /* more forms than MAX_FORMS */
    {"v = u[1,0,0]*u[2,0,0]*u[3,0,0]*u[4,0,0]*u[5,0,0]*u[6,0,0]*u[7,0,0]*u[8,0,0]*u[9,0,0]", "", 0, 0},
};

static void describe_split(const struct stencil *stencil, const struct split *split, struct text *text) {
  for (int i = 0; i < split->form_count; i++) {
    const struct form *form = &split->forms[i];
    text_printf(text, "%s%d..%d<%d %d", i > 0 ? ", " : "", form->first_plane, form->last_plane, form->kept_until,
                form->weight_count);
  }
  for (int i = 0; i < stencil->input_count && split->form_count > 0; i++) {
    if (split->reads_beside[0][i]) text_printf(text, " *%s", stencil->inputs[i]);
  }
}

TEST(an_update_is_taken_apart_into_sums_and_a_rest) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    struct text text = {0};
    CHECK_OK(stencil_of_update(3, rows[i].update, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    const struct split *split = &analysis->split;
    describe_split(stencil, split, &text);
    CHECK_TEXT(rows[i].forms, text_string(&text), "row %zu \"%s\"", i, rows[i].update);
    if (split->form_count > 0) {
      CHECK_EQ(rows[i].partial_sums, split->partial_sums, "row %zu \"%s\"", i, rows[i].update);
      CHECK_EQ(rows[i].delay, split->delay[0], "row %zu \"%s\"", i, rows[i].update);
    }
    text_free(&text);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_update_is_taken_apart_into_sums_and_a_rest)};
  return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
