/* iterate_test.c: the buffers of fields after launches of one step and of several steps. */
#include "stencil/analysis/iterate.h"

#include "tests/unit/stencils.h"
#include "tests/unit/unit.h"

/* Buffers of fields, numbered by inputs, then outputs, then carried arrays. */
static const struct {
  const char *stencil;
  int steps;
  int inputs[4], outputs[4]; /* after the launch; outputs include carried arrays */
} places[] = {
    {"star7", 1, {1}, {0}},
    {"star7", 2, {1}, {0}},
    {"star7", 7, {1}, {0}},
    /* u, the step before, the velocity; the new step */
    {"diffusion2d", 4, {2, 1}, {0}},
    {"wave25", 1, {3, 0, 2}, {1}},
    {"wave25", 2, {3, 4, 2}, {0, 1}}, /* the step before the last one is carried */
    {"wave25", 5, {3, 4, 2}, {0, 1}},
};

TEST(buffers_change_places_as_iterate_says) {
  for (size_t i = 0; i < COUNT(places); i++) {
    struct stencil *stencil;
    struct carried carried[MAX_FIELDS];
    int inputs[MAX_FIELDS], outputs[MAX_FIELDS];
    CHECK_OK(stencil_of_kernels(places[i].stencil, &stencil));
    const int written = stencil->output_count + iterate_carried(stencil, places[i].steps, carried);
    for (int k = 0; k < stencil->input_count; k++) inputs[k] = k;
    for (int k = 0; k < written; k++) outputs[k] = stencil->input_count + k;
    iterate_advance(stencil, places[i].steps, inputs, outputs);
    for (int k = 0; k < stencil->input_count; k++) {
      CHECK_EQ(places[i].inputs[k], inputs[k], "%s %d input %s", places[i].stencil, places[i].steps,
               stencil->inputs[k]);
    }
    for (int k = 0; k < written; k++) {
      CHECK_EQ(places[i].outputs[k], outputs[k], "%s %d output %d", places[i].stencil, places[i].steps, k);
    }
    stencil_free(stencil);
  }
}

/* The wave of tests/data/wave_in_place: v lies in the buffer of u_prev. */
TEST(an_output_in_place_stays_with_its_input) {
  struct stencil *stencil;
  int inputs[MAX_FIELDS] = {0, 1}, outputs[MAX_FIELDS] = {1};
  CHECK_OK(stencil_of_kernels("../tests/data/wave_in_place", &stencil));
  iterate_advance(stencil, 1, inputs, outputs);
  CHECK_EQ(1, inputs[0], "u is what was computed over u_prev");
  CHECK_EQ(0, inputs[1], "u_prev is what was u");
  CHECK_EQ(0, outputs[0], "v goes there next");
  stencil_free(stencil);
}

/* The two outputs of tests/data/two_in_place, in the buffers of inputs or apart. */
TEST(some_outputs_may_stay_with_their_inputs) {
  static const struct {
    int before[2], inputs[3], after[2];
  } rows[] = {
      {{3, 4}, {3, 4, 2}, {0, 1}},
      {{1, 3}, {1, 3, 2}, {3, 0}}, /* v over b */
      {{3, 0}, {3, 0, 2}, {1, 3}}, /* q over a */
      {{1, 0}, {1, 0, 2}, {0, 1}},
  };
  struct stencil *stencil;
  CHECK_OK(stencil_of_kernels("../tests/data/two_in_place", &stencil));
  for (size_t i = 0; i < COUNT(rows); i++) {
    int inputs[MAX_FIELDS] = {0, 1, 2}, outputs[MAX_FIELDS] = {rows[i].before[0], rows[i].before[1]};
    iterate_advance(stencil, 1, inputs, outputs);
    for (int k = 0; k < 3; k++) CHECK_EQ(rows[i].inputs[k], inputs[k], "row %zu, input %d", i, k);
    for (int k = 0; k < 2; k++) CHECK_EQ(rows[i].after[k], outputs[k], "row %zu, output %d", i, k);
  }
  stencil_free(stencil);
}

/* The carried arrays, ordered by `later`: output, later, input. */
static const struct {
  const char *iterate;
  int steps, carried_count;
  struct carried carried[3];
} chains[] = {
    {"{v: u}", 9, 0, {{0, 0, 0}}},
    {"{v: u, u: p}", 1, 0, {{0, 0, 0}}},
    {"{v: u, u: p}", 2, 1, {{0, 1, 1}}},
    {"{v: u, u: p, p: q}", 2, 1, {{0, 1, 1}}},
    {"{v: u, u: p, p: q}", 3, 2, {{0, 1, 1}, {0, 2, 2}}},
    {"{v: u, u: p, p: q}", 8, 2, {{0, 1, 1}, {0, 2, 2}}},
    {"{v: u, p: q, q: p}", 4, 0, {{0, 0, 0}}},
    {"{r: q, v: u, u: p}", 4, 1, {{0, 1, 1}}},
};

TEST(a_launch_carries_what_inputs_take_over_from_inputs) {
  for (size_t i = 0; i < COUNT(chains); i++) {
    char text[512];
    struct stencil *stencil;
    struct carried carried[MAX_FIELDS];
    int length = snprintf(text, sizeof text,
                          "name: test\ndims: 1\ninputs: [u, p, q]\noutputs: [v, r]\ndtypes: [f32]\ngrids: [[9]]\n"
                          "boundary: clamp\niterate: %s\nupdate: |\n  v = u[1] + p[0] + q[0]\n  r = u[0]\n",
                          chains[i].iterate);
    CHECK_OK(stencil_parse(&(struct source){"test.yaml", text, (size_t)length}, &stencil));
    CHECK_EQ(chains[i].carried_count, iterate_carried(stencil, chains[i].steps, carried), "%s %d", chains[i].iterate,
             chains[i].steps);
    for (int c = 0; c < chains[i].carried_count; c++) {
      CHECK_EQ(chains[i].carried[c].output, carried[c].output, "%s %d", chains[i].iterate, chains[i].steps);
      CHECK_EQ(chains[i].carried[c].later, carried[c].later, "%s %d", chains[i].iterate, chains[i].steps);
      CHECK_EQ(chains[i].carried[c].input, carried[c].input, "%s %d", chains[i].iterate, chains[i].steps);
    }
    /* One launch of several steps must give each input the value that single steps give it. Values count steps. */
    int values[16] = {0, -1, -2}, one[16] = {0, -1, -2}, inputs[] = {0, 1, 2}, outputs[] = {3, 4, 5, 6, 7},
        one_inputs[] = {0, 1, 2}, one_outputs[] = {3, 4};
    for (int step = 1; step <= chains[i].steps; step++) {
      one[one_outputs[0]] = 10 * step;
      one[one_outputs[1]] = 10 * step + 1;
      iterate_advance(stencil, 1, one_inputs, one_outputs);
    }
    for (int o = 0; o < 2; o++) values[outputs[o]] = 10 * chains[i].steps + o;
    for (int c = 0; c < chains[i].carried_count; c++)
      values[outputs[2 + c]] = 10 * (chains[i].steps - carried[c].later) + carried[c].output;
    iterate_advance(stencil, chains[i].steps, inputs, outputs);
    for (int k = 0; k < 3; k++)
      CHECK_EQ(one[one_inputs[k]], values[inputs[k]], "%s %d input %d", chains[i].iterate, chains[i].steps, k);
    stencil_free(stencil);
  }
}

/* A file can declare as many fields as there may be. Arrays of the code have room for MAX_FIELDS written ones. */
TEST(a_launch_writes_no_more_arrays_than_there_is_room_for) {
  static const struct {
    const char *iterate;
    int outputs, most;
  } rows[] = {
      {"i0: i1, i1: i2, i2: i3", 15, 2},
      {"i0: i1, i1: i2, i2: i3", 14, 3},
      {"i0: i1, i1: i2, i2: i3", 16, 1},
      {"i0: i1, i1: i2, i2: i3", 13, 8},
      {"i0: i1", 15, 8},

  };
  for (size_t row = 0; row < COUNT(rows); row++) {
    struct stencil *stencil;
    struct carried carried[MAX_FIELDS];
    struct text text = {0};
    text_printf(&text, "name: test\ndims: 1\ndtypes: [f32]\ngrids: [[9]]\nboundary: clamp\ninputs: [i0");
    for (int i = 1; i < MAX_FIELDS; i++) text_printf(&text, ", i%d", i);
    text_printf(&text, "]\noutputs: [o0");
    for (int o = 1; o < rows[row].outputs; o++) text_printf(&text, ", o%d", o);
    text_printf(&text, "]\niterate: {o0: i0, %s}\nupdate: |\n", rows[row].iterate);
    for (int o = 0; o < rows[row].outputs; o++)
      text_printf(&text, "  o%d = i%d[0]%s\n", o, o, o == 0 ? " + i13[1] + i14[0] + i15[0]" : "");
    CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, &stencil));
    const int most = iterate_most_steps(stencil, 8);
    CHECK_EQ(rows[row].most, most, "%s, %d outputs", rows[row].iterate, rows[row].outputs);
    CHECK(rows[row].outputs + iterate_carried(stencil, most, carried) <= MAX_FIELDS, "%s", rows[row].iterate);
    stencil_free(stencil);
    text_free(&text);
  }
}

/* Points that no step computes keep their values in the buffers, so each field must stay in buffers of its own group,
 * in whatever order a file names the fields. Buffers 0 to 3 are those of inputs a to d, 4 and 5 those of v and r. */
static const struct {
  const char *iterate;
  int steps;
  int group[6]; /* of each buffer, the input that its output becomes; its own number: none */
} groups[] = {
    {"{v: a, r: b}", 1, {0, 1, 2, 3, 0, 1}},
    {"{v: b, r: a}", 1, {0, 1, 2, 3, 1, 0}},
    {"{v: b, b: a, r: d, d: c}", 1, {1, 1, 3, 3, 1, 3}},
    {"{v: d, d: b, r: c, c: a}", 3, {2, 3, 2, 3, 3, 2}},
    {"{v: d, a: b, b: a}", 1, {0, 1, 2, 3, 3, 5}},
};

TEST(buffers_stay_in_the_group_of_their_output) {
  for (size_t row = 0; row < COUNT(groups); row++) {
    char text[512];
    struct stencil *stencil;
    struct carried carried[MAX_FIELDS];
    int leader[2 * MAX_FIELDS], inputs[MAX_FIELDS], outputs[MAX_FIELDS], group[12];
    int length = snprintf(text, sizeof text,
                          "name: test\ndims: 1\ninputs: [a, b, c, d]\noutputs: [v, r]\ndtypes: [f32]\ngrids: [[9]]\n"
                          "boundary: skip\niterate: %s\nupdate: |\n  v = a[1] + b[0]\n  r = c[0] + d[0]\n",
                          groups[row].iterate);
    CHECK_OK(stencil_parse(&(struct source){"test.yaml", text, (size_t)length}, &stencil));
    iterate_leaders(stencil, leader);
    for (int i = 0; i < 6; i++) CHECK_EQ(groups[row].group[i], leader[i], "%s field %d", groups[row].iterate, i);
    const int written = stencil->output_count + iterate_carried(stencil, groups[row].steps, carried);
    for (int i = 0; i < 6; i++) group[i] = leader[i];
    for (int o = stencil->output_count; o < written; o++) group[4 + o] = leader[carried[o - 2].input];
    for (int i = 0; i < 4; i++) inputs[i] = i;
    for (int o = 0; o < written; o++) outputs[o] = 4 + o;
    for (int launch = 1; launch <= 5; launch++) {
      const bool swaps = strstr(groups[row].iterate, "a: b") != NULL; /* a and b have no output */
      iterate_advance(stencil, groups[row].steps, inputs, outputs);
      for (int i = swaps ? 2 : 0; i < 4; i++)
        CHECK_EQ(leader[i], group[inputs[i]], "%s launch %d input %d", groups[row].iterate, launch, i);
      for (int o = 0; o < written; o++)
        CHECK_EQ(group[4 + o], group[outputs[o]], "%s launch %d output %d", groups[row].iterate, launch, o);
    }
    stencil_free(stencil);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_output_in_place_stays_with_its_input),
      cmocka_unit_test(some_outputs_may_stay_with_their_inputs),
      cmocka_unit_test(buffers_change_places_as_iterate_says),
      cmocka_unit_test(a_launch_writes_no_more_arrays_than_there_is_room_for),
      cmocka_unit_test(buffers_stay_in_the_group_of_their_output),
      cmocka_unit_test(a_launch_carries_what_inputs_take_over_from_inputs),
  };
  cmocka_set_message_output(CM_OUTPUT_TAP);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
