/* stencil_file_test.c: every field of a stencil file, and the stencils in kernels/. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <stdlib.h>

#include "base/text/text.h"
#include "stencil/file/stencil.h"

static halotune_status parse_text(const char *text, struct stencil **out) {
  struct source source = source_of("s", text, strlen(text));
  return stencil_parse(&source, out);
}

static const char full[] = "name: wave\n"
                           "about: a wave, 'quoted' words and \xC3\xBCmlauts\n"
                           "source: the author's memory\n"
                           "kind: stencil\n"
                           "dims: 3\n"
                           "inputs: [u, u_prev]\n"
                           "outputs: [v, energy]\n"
                           "coefficients:\n"
                           "  h: 1/(nx-1)  # spacing\n"
                           "  r: 0.25*h*nx\n"
                           "update: |\n"
                           "  change = r*(u[1,0,0] - 2*u[0,0,0] + u[-1,0,0])\n"
                           "  v = 2*u[0,0,0] - u_prev[0,0,0]\n"
                           "    + change\n"
                           "  energy = change*change\n"
                           "boundary: [periodic, clamp, zero]\n"
                           "iterate: {v: u, u: u_prev}\n"
                           "dtypes: [f64]\n"
                           "grids: [[5, 4, 3], [9, 8, 7]]\n"
                           "tolerance: 2.5\n"
                           "exact: {u: x + 10*y + 100*z, u_prev: sin(pi/2)*nz, energy: r}\n";

TEST(every_field_is_read) {
  struct stencil *s;
  double values[2];
  CHECK_OK(parse_text(full, &s));
  CHECK_TEXT("wave", s->name, "name");
  CHECK_TEXT("a wave, 'quoted' words and \xC3\xBCmlauts", s->about, "about");
  CHECK_TEXT("the author's memory", s->origin, "source");
  CHECK_EQ(STENCIL_STENCIL, s->kind, "kind");
  CHECK_EQ(3, s->dims, "dims");
  CHECK_EQ(2, s->input_count, "inputs");
  CHECK_TEXT("u_prev", s->inputs[1], "inputs");
  CHECK_EQ(2, s->output_count, "outputs");
  CHECK_TEXT("energy", s->outputs[1], "outputs");
  CHECK_EQ(2, s->coefficient_count, "coefficients");
  CHECK_TEXT("r", s->coefficients[1].name, "coefficients");
  CHECK_OK(stencil_coefficients(s, &s->grids[1], values));
  CHECK_NEAR(0.125, values[0], 0, "h");
  CHECK_NEAR(0.25 * 0.125 * 9, values[1], 0, "r");
  CHECK_EQ(3, s->update.count, "update");
  CHECK_TEXT("change", s->update.assignments[0].name, "update");
  CHECK_EQ(0, s->update.assignments[1].output, "update");
  CHECK_EQ(15, s->update.assignments[2].place.line, "update");
  CHECK_EQ(3, s->update.assignments[2].place.column, "update");
  CHECK_EQ(BOUNDARY_PERIODIC, s->boundary[0][SIDE_LOW].rule, "boundary");
  CHECK_EQ(BOUNDARY_CLAMP, s->boundary[1][SIDE_LOW].rule, "boundary");
  CHECK_EQ(BOUNDARY_ZERO, s->boundary[2][SIDE_LOW].rule, "boundary");
  CHECK_EQ(2, s->iterate_count, "iterate");
  CHECK(s->iterate[0].from_output && s->iterate[0].from == 0 && s->iterate[0].to == 0, "v becomes u");
  CHECK(!s->iterate[1].from_output && s->iterate[1].from == 0 && s->iterate[1].to == 1, "u becomes u_prev");
  CHECK(!s->dtypes[DTYPE_F32] && s->dtypes[DTYPE_F64], "dtypes");
  CHECK_EQ(2, s->grid_count, "grids");
  CHECK_EQ(7, s->grids[1].n[2], "grids");
  CHECK_NEAR(2.5, s->tolerance, 0, "tolerance");
  CHECK_EQ(3, s->exact_count, "exact");
  CHECK(s->exact[2].is_output && s->exact[2].field == 1, "exact");
  stencil_free(s);
}

TEST(what_may_be_left_out_has_its_default) {
  struct stencil *s;
  CHECK_OK(parse_text("name: n\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = u[0]\nboundary: zero\n"
                      "dtypes: [f32]\ngrids: [[7]]",
                      &s));
  CHECK_TEXT("", s->about, "about");
  CHECK_TEXT("", s->origin, "source");
  CHECK_EQ(STENCIL_STENCIL, s->kind, "kind");
  CHECK_EQ(0, s->coefficient_count, "coefficients");
  CHECK_EQ(0, s->iterate_count, "iterate");
  CHECK_EQ(0, s->exact_count, "exact");
  CHECK_NEAR(0, s->tolerance, 0, "tolerance");
  CHECK_EQ(1, s->grids[0].n[1] * s->grids[0].n[2], "the axes that it does not have");
  stencil_free(s);
}

TEST(empty_maps_are_as_none) {
  struct stencil *s;
  CHECK_OK(
      parse_text("name: n\ndims: 1\ninputs: [u]\noutputs: [v]\ncoefficients: {}\nupdate: v = u[0]\nboundary: [skip]\n"
                 "dtypes: [f64, f32]\ngrids: [[1]]",
                 &s));
  CHECK_EQ(0, s->coefficient_count, "coefficients");
  CHECK(s->dtypes[DTYPE_F32] && s->dtypes[DTYPE_F64], "dtypes");
  stencil_free(s);
}

static const struct {
  const char *boundary;
  long n, point;
  double x;
} coordinate_rows[] = {
    {"skip", 5, 0, 0},
    {"skip", 5, 1, 0.25},
    {"skip", 5, 4, 1},
    {"skip", 1, 0, 0},
    {"clamp", 5, 4, 1},
    {"zero", 5, 3, 0.75},
    {"periodic", 5, 0, 0},
    {"periodic", 5, 1, 0.2},
    {"periodic", 5, 4, 0.8},
    {"periodic", 1, 0, 0},
    {"periodic_endpoint", 5, 1, 0.25},
    {"periodic_endpoint", 5, 4, 1},
};

TEST(coordinates_run_over_the_unit_interval) {
  for (size_t i = 0; i < COUNT(coordinate_rows); i++) {
    struct text text = {0};
    struct stencil *s;
    double value;
    text_printf(&text,
                "name: n\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = u[0]\nboundary: %s\ndtypes: [f32]\n"
                "grids: [[7]]\nexact: {u: x}\n",
                coordinate_rows[i].boundary);
    CHECK_OK(parse_text(text_string(&text), &s));
    struct grid grid = {{coordinate_rows[i].n, 1, 1}};
    CHECK_OK(stencil_exact(s, &s->exact[0], &grid, NULL, 1, (const long[]){coordinate_rows[i].point, 0, 0}, &value));
    CHECK_NEAR(coordinate_rows[i].x, value, 0, "row %zu", i);
    stencil_free(s);
    text_free(&text);
  }
}

static const struct {
  const char *lines;
  long steps;
  bool is_for;
  double value; /* of the output */
} step_rows[] = {
    {"exact: {u: 1, v: 2}", 1, true, 2},
    {"exact: {u: 1, v: 2}", 3, false, 2},
    {"exact: {u: 1, v: \"2 + pow(2, steps)\"}", 3, true, 10},
    {"exact: {u: 1, v: steps}", 1, true, 1},
    {"coefficients: {steps: 0.5}\nexact: {u: 1, v: steps}", 3, false, 0.5},
};

TEST(a_formula_that_uses_steps_is_for_any_number_of_them) {
  for (size_t i = 0; i < COUNT(step_rows); i++) {
    const bool has_name = strstr(step_rows[i].lines, "coefficients") != NULL;
    struct text text = {0};
    struct stencil *s;
    double value, values[1];
    text_printf(&text,
                "name: n\ndims: 1\ninputs: [u]\noutputs: [v]\nupdate: v = %su[0]\nboundary: skip\ndtypes: [f32]\n"
                "grids: [[7]]\n%s\n",
                has_name ? "steps*" : "", step_rows[i].lines);
    CHECK_OK(parse_text(text_string(&text), &s));
    CHECK_OK(stencil_coefficients(s, &s->grids[0], values));
    const struct exact *exact = &s->exact[1];
    const long point[MAX_DIMS] = {0};
    CHECK_EQ(step_rows[i].is_for, stencil_exact_is_for(s, exact, step_rows[i].steps), "row %zu", i);
    CHECK_OK(stencil_exact(s, exact, &s->grids[0], values, step_rows[i].steps, point, &value));
    CHECK_NEAR(step_rows[i].value, value, 0, "row %zu", i);
    stencil_free(s);
    text_free(&text);
  }
}

TEST(formulas_see_their_own_axis) {
  struct stencil *s;
  double value, values[2];
  CHECK_OK(parse_text(full, &s));
  CHECK_OK(stencil_coefficients(s, &s->grids[0], values));
  const long point[] = {1, 3, 1};
  CHECK_OK(stencil_exact(s, &s->exact[0], &s->grids[0], values, 1, point, &value));
  CHECK_NEAR(1 / 5.0 + 10 * 1 + 100 * 0.5, value, 1e-12, "x + 10*y + 100*z");
  CHECK_OK(stencil_exact(s, &s->exact[1], &s->grids[0], values, 1, point, &value));
  CHECK_NEAR(3, value, 1e-12, "sin(pi/2)*nz");
  CHECK_OK(stencil_exact(s, &s->exact[2], &s->grids[0], values, 1, point, &value));
  CHECK_NEAR(values[1], value, 0, "r");
  stencil_free(s);
}

TEST(a_coefficient_that_is_not_finite_on_another_grid_fails_there) {
  struct stencil *s;
  double value;
  CHECK_OK(parse_text("name: n\ndims: 2\ninputs: [u]\noutputs: [v]\ncoefficients: {h: 1/(nx-1)}\nupdate: v = h*u[0,0]\n"
                      "boundary: skip\ndtypes: [f32]\ngrids: [[7, 7]]",
                      &s));
  CHECK_EQ(HALOTUNE_ARGUMENT, stencil_coefficients(s, &(struct grid){{1, 7, 1}}, &value), "one point");
  CHECK_TEXT("the coefficient 'h' of n is not a finite number on the grid [1, 7]", fail_text(), "one point");
  stencil_free(s);
}

static const struct {
  const char *name;
  int dims, inputs, outputs, coefficients, iterates, exacts;
} kernels[] = {
    {"advect1d", 1, 1, 1, 3, 1, 0},     {"box27", 3, 1, 1, 27, 1, 0},       {"box2d9", 2, 1, 1, 9, 1, 0},
    {"copy", 1, 1, 1, 0, 0, 0},         {"derivative_x", 3, 1, 1, 4, 0, 2}, {"derivative_y", 3, 1, 1, 4, 0, 2},
    {"derivative_z", 3, 1, 1, 4, 0, 2}, {"diffusion2d", 2, 2, 1, 4, 1, 0},  {"gradient", 3, 1, 3, 6, 0, 4},
    {"heat2d", 2, 1, 1, 2, 1, 0},       {"scan_x", 3, 1, 1, 0, 0, 2},       {"scan_y", 3, 1, 1, 0, 0, 2},
    {"scan_z", 3, 1, 1, 0, 0, 2},       {"star13", 3, 1, 1, 13, 1, 0},      {"star25", 3, 1, 1, 25, 1, 0},
    {"star2d9", 2, 1, 1, 9, 1, 0},      {"star7", 3, 1, 1, 7, 1, 0},        {"triad", 1, 2, 1, 1, 0, 0},
    {"wave25", 3, 3, 1, 9, 2, 0},
};

static int is_stencil_file(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".yaml") == 0;
}

TEST(the_folder_holds_the_stencils_of_this_table) {
  struct dirent **entries = NULL;
  int count = scandir("kernels", &entries, is_stencil_file, alphasort);
  CHECK_EQ(COUNT(kernels), count, "files in kernels/");
  for (int i = 0; i < count; i++) {
    char path[300];
    struct stencil *s;
    snprintf(path, sizeof path, "kernels/%s", entries[i]->d_name);
    CHECK_OK(stencil_read(path, &s));
    CHECK_TEXT(kernels[i].name, s->name, "%s", path);
    CHECK(strncmp(entries[i]->d_name, s->name, strlen(s->name)) == 0, "%s is named %s", path, s->name);
    CHECK(*s->about && *s->origin, "%s: about and source", path);
    CHECK_EQ(kernels[i].dims, s->dims, "%s", path);
    CHECK_EQ(kernels[i].inputs, s->input_count, "%s", path);
    CHECK_EQ(kernels[i].outputs, s->output_count, "%s", path);
    CHECK_EQ(kernels[i].coefficients, s->coefficient_count, "%s", path);
    CHECK_EQ(kernels[i].iterates, s->iterate_count, "%s", path);
    CHECK_EQ(kernels[i].exacts, s->exact_count, "%s", path);
    stencil_free(s);
    free(entries[i]);
  }
  free(entries);
}

/* With such weights a stencil keeps values within the bounds of its inputs, over any number of steps. */
static const char *const averages[] = {"star7", "star13", "star25", "box27", "box2d9", "star2d9"};

TEST(averages_have_positive_weights_of_sum_one) {
  for (size_t i = 0; i < COUNT(averages); i++) {
    char path[128];
    double values[64], sum = 0;
    struct stencil *s;
    snprintf(path, sizeof path, "kernels/%s.yaml", averages[i]);
    CHECK_OK(stencil_read(path, &s));
    CHECK(s->coefficient_count <= (int)COUNT(values), "%s", path);
    CHECK_OK(stencil_coefficients(s, &s->grids[0], values));
    for (int k = 0; k < s->coefficient_count; k++) {
      CHECK(values[k] > 0, "%s: %s", path, s->coefficients[k].name);
      sum += values[k];
    }
    CHECK_NEAR(1, sum, 1e-12, "%s", path);
    stencil_free(s);
  }
}

/* The text as some editors save it: with CR LF for each LF, and a UTF-8 byte order mark. */
static char *as_some_editors_write(const char *text) {
  struct text out = {0};
  text_printf(&out, "\xEF\xBB\xBF");
  for (const char *c = text; *c; c++) text_printf(&out, *c == '\n' ? "\r\n" : "%c", *c);
  return out.bytes;
}

TEST(line_ends_and_the_mark_of_utf8_make_no_difference) {
  struct stencil *s;
  char *text = as_some_editors_write(full);
  CHECK_OK(parse_text(text, &s));
  CHECK_TEXT("wave", s->name, "name");
  CHECK_EQ(15, s->update.assignments[2].place.line, "update");
  CHECK_EQ(3, s->update.assignments[2].place.column, "update");
  stencil_free(s);
  free(text);
  text = as_some_editors_write("name: 2d\n");
  CHECK_EQ(HALOTUNE_PARSE, parse_text(text, &s), "an error in the first line");
  CHECK(strncmp(fail_text(), "s:1:7: ", 7) == 0, "%s", fail_text());
  free(text);
}

TEST(texts_in_memory_are_as_long_as_files_at_most) {
  for (int too_many = 0; too_many <= 1; too_many++) {
    struct text text = {0};
    struct stencil *s;
    text_printf(&text, "%s# %*c", full, MAX_STENCIL_BYTES + too_many - (int)strlen(full) - 2, 'x');
    CHECK_EQ(too_many ? HALOTUNE_PARSE : HALOTUNE_OK, parse_text(text_string(&text), &s), "%s", fail_text());
    CHECK((s == NULL) == too_many, "%d too many", too_many);
    stencil_free(s);
    text_free(&text);
  }
}

static const char *const updates[] = {
    "update: v = u[0] + u[1]",
    "update:   v = u[0] + u[1]  # a comment",
    "update:\n  v = u[0] + u[1]",
    "update: |\n  v = u[0] + u[1]",
    "update: |-\n  v = u[0]\n    + u[1]\n",
    "update: |  # a comment\n\n\n        v =\n          u[0]\n          # another\n          + u[1]\n\n",
    "update: |\n  t = u[0]; v = t + u[1];",
    "update: v = u[+0] + u[01]",
    "update: \"v = u[0] + u[1]\"",
    "update: 'v = u[0] + u[1]  # a comment'",
};

TEST(an_update_may_be_written_in_many_ways) {
  for (size_t i = 0; i < COUNT(updates); i++) {
    struct text text = {0};
    struct stencil *s;
    text_printf(&text, "name: n\ndims: 1\ninputs: [u]\noutputs: [v]\n%s\nboundary: zero\ndtypes: [f32]\ngrids: [[7]]\n",
                updates[i]);
    CHECK_OK(parse_text(text_string(&text), &s));
    const struct expr *sum = &s->exprs.nodes[s->update.assignments[s->update.count - 1].root];
    CHECK_EQ(EXPR_ADD, sum->kind, "row %zu", i);
    CHECK_EQ(1, s->exprs.nodes[sum->args[1]].offset[0], "row %zu", i);
    stencil_free(s);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_field_is_read),
      cmocka_unit_test(what_may_be_left_out_has_its_default),
      cmocka_unit_test(empty_maps_are_as_none),
      cmocka_unit_test(coordinates_run_over_the_unit_interval),
      cmocka_unit_test(a_formula_that_uses_steps_is_for_any_number_of_them),
      cmocka_unit_test(formulas_see_their_own_axis),
      cmocka_unit_test(a_coefficient_that_is_not_finite_on_another_grid_fails_there),
      cmocka_unit_test(the_folder_holds_the_stencils_of_this_table),
      cmocka_unit_test(averages_have_positive_weights_of_sum_one),
      cmocka_unit_test(line_ends_and_the_mark_of_utf8_make_no_difference),
      cmocka_unit_test(texts_in_memory_are_as_long_as_files_at_most),
      cmocka_unit_test(an_update_may_be_written_in_many_ways),
  };
  return cmocka_run_group_tests_name("stencil_file", tests, NULL, NULL);
}
