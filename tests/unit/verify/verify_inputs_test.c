/* verify_inputs_test.c: test inputs are repeatable, in the range of their kind, and differ wherever a kernel may
 * confuse two points. */
#include "tests/unit/unit.h"

#include "tests/unit/verify/reference_case.h"
#include "tuner/verify/box.h"

#define KEEP "update: v = u[-1,0,0] + u[1,0,0]\ninputs: [u]\noutputs: [v]\nboundary: "

static struct reference_case open_case(const char *boundary, struct grid grid) {
  char lines[256];
  snprintf(lines, sizeof lines, KEEP "%s", boundary);
  return reference_case_open(3, lines, grid);
}

static double *filled(const struct reference_case *c, struct inputs inputs, int field) {
  double *values = reference_field(c->points, NAN);
  CHECK_OK(inputs_fill(&inputs, field, c->stencil, &c->grid, &(const struct ending){0}, values));
  return values;
}

static long count_equal(const double *a, const double *b, long points) {
  long equal = 0;
  for (long i = 0; i < points; i++) equal += a[i] == b[i];
  return equal;
}

/* Longer than one part of the loop over rows, so that two threads have work. */
static const struct grid large = {{300, 70, 3}}, cube = {{7, 7, 7}};

TEST(the_same_request_gives_the_same_bytes_on_any_number_of_threads) {
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
      struct reference_case c = open_case("[skip, periodic_endpoint, skip]", large);
      struct inputs inputs = {(enum input_kind)kind, 7, (enum dtype)dtype, 1, false, false};
      double *want = filled(&c, inputs, 0);
      for (int threads = 0; threads < 5; threads++) {
        inputs.threads = threads;
        double *got = filled(&c, inputs, 0);
        CHECK(memcmp(want, got, (size_t)c.points * sizeof *want) == 0, "%s, %s, %d threads", input_kind_names[kind],
              dtype_names[dtype], threads);
        free(got);
      }
      free(want);
      reference_case_close(&c);
    }
  }
}

/* Rows are filled in pieces. Tables of sines, which only many rows have, change no bit. */
TEST(a_long_row_is_the_same_alone_and_among_many) {
  enum { LONG = 9001 };
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    const struct inputs inputs = {(enum input_kind)kind, 7, DTYPE_F64, 2, false, false};
    struct reference_case few = open_case("periodic", (struct grid){{LONG, 1, 1}});
    struct reference_case many = open_case("periodic", (struct grid){{LONG, 4, 3}});
    double *alone = filled(&few, inputs, 0), *first = filled(&many, inputs, 0);
    CHECK(memcmp(alone, first, LONG * sizeof *alone) == 0, "%s", input_kind_names[kind]);
    free(alone), free(first);
    reference_case_close(&few);
    reference_case_close(&many);
  }
}

static const struct {
  uint64_t seed;
  int field;
} others[] = {
    {2, 0}, {0, 0}, {1, 1}, {1, MAX_FIELDS}, {1, 2}, {UINT64_MAX, 0}, {1ull << 63 | 1, 0}, {1ull << 32 | 1, 0}};

TEST(another_seed_or_field_gives_other_values) {
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    struct reference_case c = open_case("skip", cube);
    struct inputs inputs = {.kind = (enum input_kind)kind, .seed = 1, .dtype = DTYPE_F64, .threads = 1};
    double *one = filled(&c, inputs, 0);
    for (size_t i = 0; i < COUNT(others); i++) {
      inputs.seed = others[i].seed;
      double *other = filled(&c, inputs, others[i].field);
      CHECK(count_equal(one, other, c.points) <= 2, "%s, row %zu", input_kind_names[kind], i);
      free(other);
    }
    free(one);
    reference_case_close(&c);
  }
}

TEST(another_kind_gives_other_values) {
  struct reference_case c = open_case("skip", cube);
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    double *a = filled(&c, (struct inputs){(enum input_kind)kind, 1, DTYPE_F64, 1, false, false}, 0);
    double *b =
        filled(&c, (struct inputs){(enum input_kind)((kind + 1) % INPUT_KIND_COUNT), 1, DTYPE_F64, 1, false, false}, 0);
    CHECK(count_equal(a, b, c.points) <= 2, "%s", input_kind_names[kind]);
    free(a), free(b);
  }
  reference_case_close(&c);
}

static const struct grid grids[] = {
    {{7, 5, 3}}, {{2, 2, 2}},  {{3, 3, 3}},  {{4, 4, 4}}, {{5, 4, 6}},   {{2, 1, 1}}, {{1, 2, 1}},
    {{1, 1, 2}}, {{64, 1, 1}}, {{1, 33, 2}}, {{6, 1, 9}}, {{700, 3, 2}}, {{1, 1, 8}}, {{1, 1, 1}},
};

/* Whether no line of points along the axis is constant. A tap that is off by one along the axis then shows. */
static bool is_varied(const struct grid *grid, int axis, long period, const double *values) {
  long stride = 1;
  for (int k = 0; k < axis; k++) stride *= grid->n[k];
  for (long i = 0; i < grid_points(grid) && period > 1; i++) {
    if (i / stride % grid->n[axis] != 0) continue;
    bool varied = false;
    for (long k = 1; k < period; k++) varied = varied || values[i + k * stride] != values[i];
    if (!varied) return false;
  }
  return true;
}

TEST(no_line_along_any_axis_is_constant) {
  static const char *const rules[] = {"skip", "periodic", "periodic_endpoint", "clamp", "zero"};
  for (size_t i = 0; i < COUNT(grids) * COUNT(rules); i++) {
    struct reference_case c = open_case(rules[i % COUNT(rules)], grids[i / COUNT(rules)]);
    for (int k = 0; k < INPUT_KIND_COUNT * DTYPE_COUNT * 6; k++) {
      struct inputs inputs = {(enum input_kind)(k % INPUT_KIND_COUNT),
                              (uint64_t)(k / 6),
                              (enum dtype)(k / INPUT_KIND_COUNT % DTYPE_COUNT),
                              1,
                              k / 6 % 2,
                              false};
      double *values = filled(&c, inputs, k % 2);
      for (int axis = 0; axis < MAX_DIMS; axis++) {
        bool endpoint = c.stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT;
        CHECK(is_varied(&c.grid, axis, c.grid.n[axis] - endpoint, values), "grid %zu, %s, %s, seed %llu, axis %c",
              i / COUNT(rules), rules[i % COUNT(rules)], input_kind_names[inputs.kind], (unsigned long long)inputs.seed,
              axis_names[axis]);
      }
      free(values);
    }
    reference_case_close(&c);
  }
}

/* Neither swapped nor mirrored axes leave the values of a cube unchanged. */
TEST(no_symmetry_of_the_cube_keeps_the_values) {
  static const int orders[][MAX_DIMS] = {{0, 1, 2}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}};
  struct reference_case c = open_case("skip", cube);
  const long n = cube.n[0];
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    double *values = filled(&c, (struct inputs){(enum input_kind)kind, 3, DTYPE_F32, 1, false, false}, 0);
    for (int symmetry = 1; symmetry < 6 * 8; symmetry++) {
      long same = 0;
      for (long i = 0; i < c.points; i++) {
        const long from[] = {i % n, i / n % n, i / n / n};
        long to[MAX_DIMS];
        for (int axis = 0; axis < MAX_DIMS; axis++) {
          to[axis] = from[orders[symmetry / 8][axis]];
          if (symmetry >> axis & 1) to[axis] = n - 1 - to[axis];
        }
        same += values[i] == values[grid_index(&cube, to[0], to[1], to[2])];
      }
      CHECK(same < c.points / 2, "%s, symmetry %d: %ld points", input_kind_names[kind], symmetry, same);
    }
    free(values);
  }
  reference_case_close(&c);
}

TEST(values_are_finite_not_zero_and_within_their_range) {
  static const struct {
    enum input_kind kind;
    double least, most;   /* of the values' sizes */
    double below, beyond; /* some size is at most `below`, and some is at least `beyond` */
  } rows[] = {
      {INPUT_SMOOTH, 0x1p-149, 1, 0.01, 0.8},
      {INPUT_RANDOM, 0x1p-53, 1, 0.001, 0.999},
      {INPUT_WIDE, 0x1p-30, 0x1p30, 0x1p-29, 0x1p29},
  };
  for (size_t i = 0; i < COUNT(rows) * DTYPE_COUNT; i++) {
    size_t r = i / DTYPE_COUNT;
    struct reference_case c = open_case("skip", large);
    double *values = filled(&c, (struct inputs){rows[r].kind, 5, (enum dtype)(i % DTYPE_COUNT), 2, false, false}, 0);
    double least = INFINITY, most = 0;
    long negative = 0;
    for (long k = 0; k < c.points; k++) {
      double size = fabs(values[k]);
      CHECK(isfinite(values[k]) && size >= rows[r].least && size <= rows[r].most, "row %zu, point %ld: %g", r, k,
            values[k]);
      least = fmin(least, size), most = fmax(most, size);
      negative += values[k] < 0;
    }
    CHECK(least <= rows[r].below, "row %zu: %g", r, least);
    CHECK(most >= rows[r].beyond, "row %zu: %g", r, most);
    CHECK_NEAR(0.5, (double)negative / (double)c.points, 0.01, "row %zu", r);
    free(values);
    reference_case_close(&c);
  }
}

TEST(values_of_the_file_and_of_an_update_that_is_not_linear_fill_their_range) {
  static const struct {
    const char *lines;
    bool is_nonlinear;
    double low, high;
  } rows[] = {
      {"values: {u: [200, 300]}", false, 200, 300},
      {"values: {u: [-3, -0.01]}", true, -3, -0.01},
      {"values: {u: [0, 1e-3]}", true, 0, 1e-3},
      {"", true, 0.25, 1},
  };
  for (size_t i = 0; i < COUNT(rows) * INPUT_KIND_COUNT * DTYPE_COUNT; i++) {
    size_t r = i / INPUT_KIND_COUNT / DTYPE_COUNT;
    char lines[256];
    snprintf(lines, sizeof lines, KEEP "skip\n%s", rows[r].lines);
    struct reference_case c = reference_case_open(3, lines, large);
    struct inputs inputs = {(enum input_kind)(i % INPUT_KIND_COUNT),
                            5,
                            (enum dtype)(i / INPUT_KIND_COUNT % DTYPE_COUNT),
                            2,
                            rows[r].is_nonlinear,
                            false};
    double *values = filled(&c, inputs, 0), least = INFINITY, most = -INFINITY;
    const double span = rows[r].high - rows[r].low;
    for (long k = 0; k < c.points; k++) least = fmin(least, values[k]), most = fmax(most, values[k]);
    CHECK(least > rows[r].low && least < rows[r].low + 0.1 * span, "row %zu, %s: from %g", r,
          input_kind_names[inputs.kind], least);
    CHECK(most <= (float)rows[r].high && most > rows[r].high - 0.1 * span, "row %zu, %s: to %g", r,
          input_kind_names[inputs.kind], most);
    free(values);
    reference_case_close(&c);
  }
}

TEST(single_precision_is_the_double_rounded) {
  for (int kind = 0; kind < INPUT_KIND_COUNT; kind++) {
    struct reference_case c = open_case("skip", cube);
    struct inputs inputs = {(enum input_kind)kind, 11, DTYPE_F64, 1, false, false};
    double *whole = filled(&c, inputs, 0);
    inputs.dtype = DTYPE_F32;
    double *rounded = filled(&c, inputs, 0);
    for (long i = 0; i < c.points; i++) {
      CHECK_NEAR((double)(float)whole[i], rounded[i], 0, "%s, point %ld", input_kind_names[kind], i);
    }
    CHECK(count_equal(whole, rounded, c.points) <= 2, "%s: double precision is used", input_kind_names[kind]);
    free(whole), free(rounded);
    reference_case_close(&c);
  }
}

/* Three waves of size 1/3 that differ along each axis. Whatever their phases, the mean of squares is 3*(1/3)^2/2. */
TEST(smooth_fields_are_three_different_waves) {
  static const struct grid waves[] = {{{32, 1, 1}}, {{1, 9, 1}}, {{1, 1, 8}}, {{8, 9, 10}}, {{7, 12, 1}}};
  for (size_t i = 0; i < COUNT(waves); i++) {
    for (uint64_t seed = 0; seed < 8; seed++) {
      struct reference_case c = open_case("periodic", waves[i]);
      double *values = filled(&c, (struct inputs){INPUT_SMOOTH, seed, DTYPE_F64, 1, false, false}, 0);
      double sum = 0, squares = 0;
      for (long k = 0; k < c.points; k++) sum += values[k], squares += values[k] * values[k];
      CHECK_NEAR(0, sum / (double)c.points, 1e-14, "row %zu, seed %d", i, (int)seed);
      CHECK_NEAR(1.0 / 6, squares / (double)c.points, 1e-14, "row %zu, seed %d", i, (int)seed);
      free(values);
      reference_case_close(&c);
    }
  }
}

/* The share of waves with these numbers along x, y and z, in any direction: the sum of squares of the Fourier
 * coefficients, which is (1/3/2)^2 for one wave of size 1/3. */
static double power(const struct grid *grid, const double *values, const int numbers[MAX_DIMS]) {
  double sum = 0;
  for (int signs = 0; signs < 4; signs++) { /* the others are the complex conjugates of these */
    double real = 0, imaginary = 0;
    for (long i = 0; i < grid_points(grid); i++) {
      const long p[] = {i % grid->n[0], i / grid->n[0] % grid->n[1], i / grid->n[0] / grid->n[1]};
      double turns = 0;
      for (int axis = 0; axis < MAX_DIMS; axis++) {
        double part = numbers[axis] * (double)p[axis] / (double)grid->n[axis];
        turns += (signs << 1) >> axis & 1 ? -part : part;
      }
      real += values[i] * cos(2 * M_PI * turns), imaginary += values[i] * sin(2 * M_PI * turns);
    }
    sum += real * real + imaginary * imaginary;
  }
  return sum / (double)grid_points(grid) / (double)grid_points(grid);
}

TEST(a_wave_has_another_number_along_each_axis) {
  static const struct grid grid = {{8, 9, 7}};
  for (uint64_t seed = 0; seed < 4; seed++) {
    struct reference_case c = open_case("periodic", grid);
    double *values = filled(&c, (struct inputs){INPUT_SMOOTH, seed, DTYPE_F64, 1, false, false}, 0), different = 0;
    for (int i = 0; i < 27; i++) {
      const int numbers[] = {1 + i % 3, 1 + i / 3 % 3, 1 + i / 9};
      double found = power(&grid, values, numbers);
      bool alike = numbers[0] == numbers[1] || numbers[1] == numbers[2] || numbers[2] == numbers[0];
      CHECK(!alike || found < 1e-20, "seed %d, wave %d %d %d: %g", (int)seed, numbers[0], numbers[1], numbers[2],
            found);
      different += found;
    }
    CHECK_NEAR(3.0 / 36, different, 1e-14, "seed %d", (int)seed);
    free(values);
    reference_case_close(&c);
  }
}

/* Along an axis of n points the largest step between neighbours (the last and the first point are neighbours, too) is
 * that of waves with 1, 2 and 3 periods: at most 2*pi*(1 + 2 + 3)/3/n. */
TEST(smooth_fields_are_smooth_and_periodic) {
  enum { N = 64 };
  for (int i = 0; i < 2 * MAX_DIMS; i++) {
    struct grid grid = {{1, 1, 1}};
    bool endpoint = i >= MAX_DIMS;
    grid.n[i % MAX_DIMS] = N + endpoint;
    struct reference_case c = open_case(endpoint ? "periodic_endpoint" : "periodic", (struct grid){{2, 2, 2}});
    double values[N + 1], steepest = 0;
    CHECK_OK(inputs_fill(&(struct inputs){INPUT_SMOOTH, 1, DTYPE_F64, 1, false, false}, 0, c.stencil, &grid,
                         &(const struct ending){0}, values));
    for (int k = 0; k < N; k++) steepest = fmax(steepest, fabs(values[(k + 1) % N] - values[k]));
    CHECK(steepest <= 4 * M_PI / N && steepest > M_PI / N, "row %d: %g", i, steepest);
    reference_case_close(&c);
  }
}

/* Each power of two from -30 to 29 occurs once in 60 values, and half of the values are negative, within five standard
 * deviations. */
TEST(wide_fields_have_each_power_of_two_as_often) {
  struct reference_case c = open_case("skip", large);
  double *values = filled(&c, (struct inputs){INPUT_WIDE, 1, DTYPE_F64, 1, false, false}, 0);
  long counts[60] = {0}, negative[60] = {0};
  for (long i = 0; i < c.points; i++) {
    int exponent = ilogb(values[i]) + 30;
    CHECK(exponent >= 0 && exponent < 60, "point %ld: %g", i, values[i]);
    counts[exponent]++;
    negative[exponent] += values[i] < 0;
  }
  for (int i = 0; i < 60; i++) {
    CHECK_NEAR((double)c.points / 60, counts[i], 5 * sqrt((double)c.points / 60), "power %d", i - 30);
    CHECK_NEAR((double)counts[i] / 2, negative[i], 5 * sqrt((double)counts[i]) / 2, "signs of power %d", i - 30);
  }
  free(values);
  reference_case_close(&c);
}

TEST(random_fields_are_evenly_spread) {
  struct reference_case c = open_case("skip", large);
  double *values = filled(&c, (struct inputs){INPUT_RANDOM, 1, DTYPE_F64, 1, false, false}, 0);
  double sum = 0, squares = 0, neighbours = 0;
  long tenths[20] = {0};
  for (long i = 0; i < c.points; i++) {
    sum += values[i], squares += values[i] * values[i], neighbours += i > 0 ? values[i] * values[i - 1] : 0;
    tenths[(int)floor(10 * values[i]) + 10]++;
  }
  double points = (double)c.points, unit = 5 / sqrt(points); /* five standard deviations or more */
  CHECK_NEAR(0, sum / points, unit, "mean");
  CHECK_NEAR(1.0 / 3, squares / points, unit, "mean of squares");
  CHECK_NEAR(0, neighbours / points, unit, "neighbours");
  for (int i = 0; i < 20; i++) CHECK_NEAR(points / 20, tenths[i], 5 * sqrt(points / 20), "tenth %d", i);
  free(values);
  reference_case_close(&c);
}

static const struct {
  const char *boundary;
  bool repeats[MAX_DIMS];
} endpoints[] = {
    {"[periodic_endpoint, skip, periodic]", {true, false, false}},
    {"[clamp, periodic_endpoint, zero]", {false, true, false}},
    {"[skip, skip, periodic_endpoint]", {false, false, true}},
    {"periodic_endpoint", {true, true, true}},
    {"periodic", {false, false, false}},
};

TEST(only_a_periodic_end_point_repeats_the_first) {
  static const struct grid grid = {{6, 5, 4}};
  for (size_t i = 0; i < COUNT(endpoints) * INPUT_KIND_COUNT; i++) {
    size_t row = i / INPUT_KIND_COUNT;
    struct reference_case c = open_case(endpoints[row].boundary, grid);
    double *values =
        filled(&c, (struct inputs){(enum input_kind)(i % INPUT_KIND_COUNT), 9, DTYPE_F64, 1, false, false}, 0);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      long equal = 0, lines = c.points / grid.n[axis];
      for (long k = 0; k < c.points; k++) {
        long p[] = {k % 6, k / 6 % 5, k / 30};
        if (p[axis] != 0) continue;
        p[axis] = grid.n[axis] - 1;
        equal += values[k] == values[grid_index(&grid, p[0], p[1], p[2])];
      }
      CHECK_EQ(endpoints[row].repeats[axis] ? lines : 0, equal, "row %zu, axis %c", row, axis_names[axis]);
    }
    free(values);
    reference_case_close(&c);
  }
}

/* Each field holds its number (inputs 1, 2, 3, outputs 4, 5). The rows give the values at the skipped ends; inside the
 * values must not change. */
static const struct {
  const char *iterate;
  double ends[5];
} shares[] = {
    {"{}", {1, 2, 3, 4, 5}},
    {"{v: u}", {1, 2, 3, 1, 5}},
    {"{v: w}", {1, 2, 3, 2, 5}},
    {"{r: u}", {1, 2, 3, 4, 1}},
    {"{v: u, u: w}", {1, 1, 3, 1, 5}},
    {"{v: u, r: w}", {1, 2, 3, 1, 2}},
    {"{v: u, r: p}", {1, 2, 3, 1, 3}},
    {"{v: p, p: w, w: u}", {3, 3, 3, 3, 5}},
    {"{w: u, p: w, v: p}", {3, 3, 3, 3, 5}},
    {"{v: w, w: p, r: u}", {1, 2, 2, 2, 1}},
    /* entries of a chain in reverse order */
    {"{p: w, u: p, v: u}", {1, 1, 1, 1, 5}},
    {"{v: u, u: p, p: w}", {1, 1, 1, 1, 5}},
    {"{w: p, u: w, r: u}", {1, 1, 1, 4, 1}},
};

TEST(fields_that_change_places_share_their_skipped_points) {
  for (size_t i = 0; i < COUNT(shares); i++) {
    char lines[512];
    snprintf(lines, sizeof lines,
             "inputs: [u, w, p]\noutputs: [v, r]\nboundary: [skip, periodic, skip]\n%s%s\n"
             "update: |\n  v = u[-1,1,0] + w[0,0,1] + p[0,0,0]\n  r = u[0,0,0]\n",
             i > 0 ? "iterate: " : "", i > 0 ? shares[i].iterate : "");
    struct reference_case c = reference_case_open(3, lines, (struct grid){{4, 2, 3}});
    for (int field = 0; field < 5; field++) {
      for (long k = 0; k < c.points; k++) (field < 3 ? c.inputs[field] : c.outputs[field - 3])[k] = field + 1;
    }
    reference_case_share_skipped(&c);
    for (int field = 0; field < 5; field++) {
      for (long k = 0; k < c.points; k++) {
        bool computed = k % 4 >= 1 && k / 8 < 2;
        CHECK_NEAR(computed ? field + 1 : shares[i].ends[field],
                   (field < 3 ? c.inputs[field] : c.outputs[field - 3])[k], 0, "row %zu, field %d, point %ld", i, field,
                   k);
      }
    }
    reference_case_close(&c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_same_request_gives_the_same_bytes_on_any_number_of_threads),
      cmocka_unit_test(a_long_row_is_the_same_alone_and_among_many),
      cmocka_unit_test(another_seed_or_field_gives_other_values),
      cmocka_unit_test(another_kind_gives_other_values),
      cmocka_unit_test(no_line_along_any_axis_is_constant),
      cmocka_unit_test(no_symmetry_of_the_cube_keeps_the_values),
      cmocka_unit_test(values_are_finite_not_zero_and_within_their_range),
      cmocka_unit_test(single_precision_is_the_double_rounded),
      cmocka_unit_test(smooth_fields_are_three_different_waves),
      cmocka_unit_test(a_wave_has_another_number_along_each_axis),
      cmocka_unit_test(smooth_fields_are_smooth_and_periodic),
      cmocka_unit_test(wide_fields_have_each_power_of_two_as_often),
      cmocka_unit_test(random_fields_are_evenly_spread),
      cmocka_unit_test(values_of_the_file_and_of_an_update_that_is_not_linear_fill_their_range),
      cmocka_unit_test(only_a_periodic_end_point_repeats_the_first),
      cmocka_unit_test(fields_that_change_places_share_their_skipped_points),
  };
  return cmocka_run_group_tests_name("verify_inputs", tests, NULL, NULL);
}
