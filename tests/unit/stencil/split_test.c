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

/* Each form as its groups of several points, "weights of the planes: points as x,y of inputs 0 and 1, after their scale
 * if it is not 1", then the planes that share a sum, "plane=first plane"; and the operations of all forms, without and
 * with groups. */
static const struct {
  int dims;
  const char *update, *groups;
  int weights, operations;
} repeats[] = {
    {3, "v = u[0,0,0]", "", 0, 0},
    /* a star gains nothing, however equal its weights are */
    {3, "v = a*u[0,0,0] + b*(u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1])", "", 7, 7},
    {3, "v = u[0,0,-2] + u[0,0,-1] + u[0,0,0] + u[0,0,1]", "", 4, 4},
    /* equal planes: by name, as numbers, as products; they need not be mirror images */
    {3, "v = a*u[0,0,-1] + b*u[1,0,-1] + a*u[0,0,1] + b*u[1,0,1]", "2=0", 4, 3},
    {3, "v = 0.5*u[0,0,-1] + 3*u[1,0,-1] + 0.50*u[0,0,2] + 3*u[1,0,2]", "3=0", 4, 3},
    {3, "v = 2*(a*u[0,0,0] + b*(u[1,0,0] + a*u[1,1,0])) + 2*a*u[0,0,1] + 2*b*u[1,0,1] + 2*b*a*u[1,1,1]", "1=0", 6, 4},
    {3, "v = a*u[0,0,-1] + b*u[1,0,-1] + b*u[0,0,1] + a*u[1,0,1]", "", 4, 4},
    {3, "v = a*u[0,0,-1] + b*u[1,0,-1] - a*u[0,0,1] - b*u[1,0,1]", "", 4, 4},
    /* a and a coefficient of the same value differ: a user may change one of them */
    {3, "v = a*u[0,0,-1] + a*u[1,0,-1] + 0.5*u[0,0,1] + 0.5*u[1,0,1]", "w0 w-1 w1: 0,0 1,0", 4, 3},
    /* equal points: worth an addition if several sums weigh them */
    {3, "v = a*(u[0,-1,0] + u[0,1,0])", "", 2, 2},
    {3, "v = a*(u[0,-1,0] + u[0,1,0]) + b*(u[0,-1,1] + u[0,1,1])", "w0 w1: 0,-1 0,1", 4, 3},
    {3, "v = a*(u[0,-1,0] + u[0,1,0]) + b*(u[0,-1,1] + u[0,2,1])", "", 4, 4},
    {3, "v = a*(u[0,-1,0] + w[0,1,0]) + b*(u[0,-1,1] + w[0,1,1]) + w[1,0,0]", "w0 w1: 0,-1 w0,1", 5, 4},
    /* or if neighbours in x share sums of columns */
    {3, "v = a*(u[-1,-1,0] + u[-1,1,0] + u[1,-1,0] + u[1,1,0])", "w0: -1,-1 -1,1 1,-1 1,1", 4, 3},
    {3, "v = a*(u[-1,-1,0] + u[-1,1,0] + u[1,-1,0] + u[1,2,0])", "", 4, 4},
    /* both */
    {3, "v = a*(u[0,0,-1] + u[1,0,-1]) + b*u[2,0,-1] + c*(u[0,0,0] + u[1,0,0]) + a*(u[0,0,1] + u[1,0,1]) + b*u[2,0,1]",
     "w0 w2 w0: 0,0 1,0 2=0", 8, 5},
    /* multiples, of numbers alone */
    {3, "v = 0.25*u[0,0,0] + 0.5*u[1,0,0] + u[0,0,1] + 2*u[1,0,1]", "w0 w2: 0,0 2*1,0", 4, 3},
    {3, "v = u[1,0,0] - u[-1,0,0] + 2*u[1,0,1] - 2*u[-1,0,1]", "w0 w2: -1,0 -1*1,0", 4, 3},
    {3, "v = a*u[0,0,0] + 2*a*u[1,0,0] + b*u[0,0,1] + 2*b*u[1,0,1]", "", 4, 4},
    {3, "v = 0.25*u[0,0,0] + 0.5*u[1,0,0] + a*u[0,0,1] + 2*u[1,0,1]", "", 4, 4},
    {3, "v = 0.25*u[0,0,0] + 0.5*u[1,0,0] + u[0,0,1] + 2.0000001*u[1,0,1]", "", 4, 4},
    {3, "v = u[0,0,0] + 1e-9*u[1,0,0] + 2*u[0,0,1] + 2e-9*u[1,0,1]", "", 4, 4},
    {3, "v = u[0,-1,0] + 3*u[0,2,0] + 0.1*u[2,-1,0] + 0.1*3*u[2,2,0]", "w0: 0,-1 3*0,2 0.1*2,-1 0.3*2,2", 4, 3},
    {3, "v = u[0,-1,0] + 3*u[0,2,0] + 0.1*u[2,-1,0] + 0.2*u[2,2,0]", "", 4, 4},
    {2, "v = u[-1,-1] + 2*u[0,-1] + 3*u[1,-1] + 2*u[-1,0] + 4*u[0,0] + 6*u[1,0] + u[-1,1] + 2*u[0,1] + 3*u[1,1]",
     "w0 w1 w0: -1,0 2*0,0 3*1,0", 9, 5},
    /* equal points are joined where multiples of them save nothing */
    {3, "v = a*(u[0,-1,0] + u[0,1,0]) + b*(u[0,-1,1] + u[0,1,1]) + 2*u[1,0,0] + 3*u[2,0,0]", "w0 w3: 0,-1 0,1", 6, 5},
    /* in two dimensions a row is a plane */
    {2, "v = a*(u[-1,-1] + u[1,-1]) + b*u[0,-1] + c*(u[-1,0] + u[1,0]) + a*(u[-1,1] + u[1,1]) + b*u[0,1]",
     "w0 w2 w0: -1,0 1,0 2=0", 8, 5},
    /* each form has its own */
    {3, "v = fabs(a*u[0,0,0] + b*u[1,0,0] + a*u[0,0,1] + b*u[1,0,1]) + fabs(u[0,0,1] - u[0,0,-1])", "; 1=0", 6, 5},
};

static void describe_groups(const struct form *form, struct text *text) {
  const int planes = form->last_plane - form->first_plane + 1;
  const char *separator = "";
  for (int i = 0; i < form->group_count; i++) {
    const struct point_group *group = &form->groups[i];
    if (group->point_count == 1) continue;
    for (int plane = 0; plane < planes; plane++, separator = " ")
      text_printf(text, "%sw%d", separator, group->weights[plane]);
    text_printf(text, ":");
    for (int k = 0; k < group->point_count; k++) {
      text_printf(text, " ");
      if (group->scales[k] != 1) text_printf(text, "%.7g*", group->scales[k]);
      text_printf(text, "%s%d,%d", group->points[k].input > 0 ? "w" : "", group->points[k].x, group->points[k].y);
    }
  }
  for (int plane = 0; plane < planes; plane++) {
    if (form->shared_with[plane] < 0 || form->shared_with[plane] == plane) continue;
    text_printf(text, "%s%d=%d", separator, plane, form->shared_with[plane]);
    separator = " ";
  }
}

TEST(weights_that_repeat_are_grouped_where_this_saves_operations) {
  for (size_t i = 0; i < COUNT(repeats); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    struct text text = {0};
    CHECK_OK(stencil_of_update(repeats[i].dims, repeats[i].update, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    const struct split *split = &analysis->split;
    for (int f = 0; f < split->form_count; f++) {
      if (f > 0) text_printf(&text, "; ");
      describe_groups(&split->forms[f], &text);
    }
    CHECK_TEXT(repeats[i].groups, text_string(&text), "row %zu \"%s\"", i, repeats[i].update);
    CHECK_EQ(repeats[i].weights, split->weight_count, "row %zu \"%s\"", i, repeats[i].update);
    CHECK_EQ(repeats[i].operations, split->grouped_operations, "row %zu \"%s\"", i, repeats[i].update);
    text_free(&text);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

/* The sums of a form whose points all have one weight in one plane and another one in the next. */
static void add_points(struct text *update, int points) {
  const char *const inputs[] = {"u", "w"};
  text_printf(update, "v = ");
  for (int plane = 0; plane < 2; plane++) {
    for (int i = 0; i < points; i++) {
      const int at = i % 1089;
      text_printf(update, "%s%s*%s[%d,%d,%d]", plane == 0 && i == 0 ? "" : " + ", plane == 0 ? "a" : "b",
                  inputs[i / 1089], at % 33 - 16, at / 33 - 16, plane);
    }
  }
}

/* Comparing all points of a form with each other takes time that grows with the square of their number. */
TEST(very_many_points_of_a_form_are_not_grouped) {
  static const struct { int points, groups; } cases[] = {{1089, 1}, {1090, 1090}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct text update = {0};
    struct stencil *stencil;
    struct analysis *analysis;
    add_points(&update, cases[i].points);
    CHECK_OK(stencil_of_update(3, text_string(&update), &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_EQ(1, analysis->split.form_count, "%d points", cases[i].points);
    const struct form *form = &analysis->split.forms[0];
    CHECK_EQ(cases[i].groups, form->group_count, "%d points", cases[i].points);
    CHECK_EQ(2 * cases[i].points, analysis->split.weight_count, "%d points", cases[i].points);
    for (int group = 0; group < form->group_count; group++)
      CHECK(form->groups[group].scales[0] == 1, "the scale of a point that is alone");
    analysis_free(analysis);
    stencil_free(stencil);
    text_free(&update);
  }
}

/* Weights are compared as texts. Where all of them together have more than 8 MiB, the update stays whole. */
TEST(weights_that_are_too_long_together_are_not_compared) {
  static const struct { int points, forms; } cases[] = {{2000, 1}, {3000, 0}};
  enum { SIDE = 15, NAME_BYTES = 63, FACTORS = 49 };
  char name[NAME_BYTES + 1];
  memset(name, 'c', NAME_BYTES);
  name[NAME_BYTES] = '\0';
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct text text = {0};
    struct stencil *stencil;
    struct analysis *analysis;
    text_printf(&text, "name: test\ndims: 3\ninputs: [u]\noutputs: [v]\ncoefficients: {%s: 0.9}\nboundary: skip\n",
                name);
    text_printf(&text, "dtypes: [f32]\ngrids: [[64, 64, 64]]\nupdate: |\n  s = %s", name);
    for (int k = 1; k < FACTORS; k++) text_printf(&text, "*%s", name);
    text_printf(&text, "\n  t = u[0,0,0]");
    for (int k = 1; k < cases[i].points; k++)
      text_printf(&text, "%s + u[%d,%d,%d]", k % 100 == 0 ? "\n   " : "", k % SIDE, k / SIDE % SIDE, k / SIDE / SIDE);
    text_printf(&text, "\n  v = s*t\n");
    const struct source source = source_of("test", text_string(&text), text.length);
    CHECK_OK(stencil_parse(&source, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_EQ(cases[i].forms, analysis->split.form_count, "%d points", cases[i].points);
    analysis_free(analysis);
    stencil_free(stencil);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(an_update_is_taken_apart_into_sums_and_a_rest),
                                     cmocka_unit_test(weights_that_repeat_are_grouped_where_this_saves_operations),
                                     cmocka_unit_test(very_many_points_of_a_form_are_not_grouped),
                                     cmocka_unit_test(weights_that_are_too_long_together_are_not_compared)};
  return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
