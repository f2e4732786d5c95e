/* inputs.c: fills inputs. A point's value depends only on seed, field and indices. */
#include "tuner/verify/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/random.h"
#include "base/system/parallel.h"
#include "stencil/analysis/iterate.h"
#include "tuner/verify/box.h"

enum { WAVES = 3, WIDE_EXPONENT = 30 };

static const struct value_range usual_of_nonlinear = {0.25, 1}, usual_of_signs = {-1, 1};

const char *const input_kind_names[INPUT_KIND_COUNT] = {
    [INPUT_SMOOTH] = "smooth",
    [INPUT_RANDOM] = "random",
    [INPUT_WIDE] = "wide",
};

struct wave {
  double number[MAX_DIMS]; /* number of wave lengths in the period of each axis */
  double phase;
  /* sine and cosine of the angle along x, for each point of a row; NULL: computed where they are needed */
  double *sine, *cosine;
};

struct filling {
  struct grid grid;
  enum input_kind kind;
  enum dtype dtype;
  struct input_rule rule;
  struct wave waves[WAVES];
  const struct ending *ending;
  double *values;
};

/* A number in (0, 1): an odd multiple of 2^-53, so it is never 0, 1/2 or 1. */
static double random_fraction(uint64_t bits) { return (double)(bits >> 12 << 1 | 1) * 0x1p-53; }

static double random_value(uint64_t key, uint64_t index) { return 2 * random_fraction(random_bits(key, index)) - 1; }

static double wide_value(uint64_t key, uint64_t index) {
  uint64_t bits = random_bits(key, index);
  int exponent = (int)(random_bits(~key, index) % (uint64_t)(2 * WIDE_EXPONENT)) - WIDE_EXPONENT;
  double size =
      ldexp(1 + random_fraction(bits), exponent); /* the lowest bit, which `fraction` does not use, is the sign */
  return bits & 1 ? -size : size;
}

static double wave_angle(const struct wave *wave, int axis, long i, long period) {
  return 2 * M_PI * wave->number[axis] * (double)(i % period) / (double)period;
}

/* Choose the waves. A wave has a different number of wave lengths along each axis, so that swapped axes show. The
 * number is at most what the grid can resolve, so that no axis becomes constant. */
static void choose_waves(struct filling *filling) {
  for (int k = 0; k < WAVES; k++) {
    struct wave *wave = &filling->waves[k];
    uint64_t bits = random_bits(filling->rule.key, (uint64_t)k);
    wave->phase = 2 * M_PI * random_fraction(random_bits(filling->rule.key, (uint64_t)WAVES + (uint64_t)k));
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      long number = 1 + (k + axis) % MAX_DIMS;
      long most = filling->rule.period[axis] > 3 ? filling->rule.period[axis] / 2 : 1;
      bool backwards = bits >> axis & 1;
      wave->number[axis] = (double)((number < most ? number : most) * (backwards ? -1 : 1));
    }
  }
}

/* Compute sines and cosines along x once for all rows, unless they are more numbers than the field has. */
static halotune_status make_tables(struct filling *filling) {
  const long nx = filling->grid.n[0], rows = filling->grid.n[1] * filling->grid.n[2];
  if (rows < 2 * WAVES) return HALOTUNE_OK;
  double *tables = malloc((size_t)2 * WAVES * (size_t)nx * sizeof *tables);
  if (!tables) return fail_memory();
  for (int k = 0; k < WAVES; k++) {
    struct wave *wave = &filling->waves[k];
    wave->sine = tables + nx * 2 * k;
    wave->cosine = wave->sine + nx;
    for (long x = 0; x < nx; x++) {
      wave->sine[x] = sin(wave_angle(wave, 0, x, filling->rule.period[0]));
      wave->cosine[x] = cos(wave_angle(wave, 0, x, filling->rule.period[0]));
    }
  }
  return HALOTUNE_OK;
}

/* Some points of a row, whose first one is at x, y, z. */
struct piece {
  long x, y, z, count;
  double *values;
};

static void add_wave(const struct filling *filling, const struct wave *wave, const struct piece *piece) {
  const long *period = filling->rule.period;
  const double rest = wave->phase + wave_angle(wave, 1, piece->y, period[1]) + wave_angle(wave, 2, piece->z, period[2]);
  const double sine = sin(rest) / WAVES, cosine = cos(rest) / WAVES;
  for (long i = 0; i < piece->count && wave->sine; i++)
    piece->values[i] += wave->sine[piece->x + i] * cosine + wave->cosine[piece->x + i] * sine;
  for (long i = 0; i < piece->count && !wave->sine; i++) {
    const double angle = wave_angle(wave, 0, piece->x + i, period[0]);
    piece->values[i] += sin(angle) * cosine + cos(angle) * sine;
  }
}

static void fill_smooth(const struct filling *filling, const struct piece *piece) {
  memset(piece->values, 0, (size_t)piece->count * sizeof *piece->values);
  for (int k = 0; k < WAVES; k++) add_wave(filling, &filling->waves[k], piece);
  for (long i = 0; i < piece->count; i++) {
    if (piece->values[i] == 0) piece->values[i] = 0.5;
  }
}

/* Map a value of a kind into a range. Wide values span a tenth of their powers of two, down from the upper end of the
 * range. Near the lower end many would be equal after rounding. */
static double into_range(double value, enum input_kind kind, const struct value_range *range) {
  double share = kind == INPUT_WIDE ? exp2((log2(fabs(value)) - WIDE_EXPONENT) / 10) : (1 + value) / 2;
  return range->low + (range->high - range->low) * share;
}

/* Round down to an element of a mask. The upper end of the range itself is not a value. */
static double whole_value(double value, const struct input_rule *rule) {
  return fmin(floor(value), rule->range.high - 1);
}

static void fill_piece(const struct filling *filling, const struct piece *piece) {
  const struct input_rule *rule = &filling->rule;
  double *values = piece->values;
  if (filling->kind == INPUT_SMOOTH) {
    fill_smooth(filling, piece);
  } else {
    const uint64_t start = (uint64_t)grid_index(&filling->grid, 0, piece->y, piece->z);
    for (long i = 0; i < piece->count; i++) {
      const uint64_t index = start + (uint64_t)((piece->x + i) % rule->period[0]);
      values[i] = filling->kind == INPUT_RANDOM ? random_value(rule->key, index) : wide_value(rule->key, index);
    }
  }
  for (long i = 0; i < piece->count && rule->range.low < rule->range.high; i++)
    values[i] = into_range(values[i], filling->kind, &rule->range);
  for (long i = 0; i < piece->count && rule->is_u8; i++) values[i] = whole_value(values[i], rule);
  for (long i = 0; i < piece->count && filling->dtype == DTYPE_F32; i++) values[i] = (double)(float)values[i];
}

enum { PIECE_POINTS = 1 << 12 };

static long pieces_of_row(const struct grid *grid) { return 1 + (grid->n[0] - 1) / PIECE_POINTS; }

/* Fill pieces of rows, which are numbered through x, then y, then z. */
static void fill_pieces(void *context, int thread, long first, long end) {
  const struct filling *filling = context;
  const long *n = filling->grid.n, *period = filling->rule.period, pieces = pieces_of_row(&filling->grid);
  (void)thread;
  const long between_questions = 1 + PIECE_POINTS / n[0];
  for (long number = first; number < end; number++) {
    if (number % between_questions == 0 && ending_has_come(filling->ending)) return;
    const long row = number / pieces, x = number % pieces * PIECE_POINTS, left = n[0] - x;
    fill_piece(filling, &(struct piece){.x = x,
                                        .y = row % n[1] % period[1],
                                        .z = row / n[1] % period[2],
                                        .count = left < PIECE_POINTS ? left : PIECE_POINTS,
                                        .values = filling->values + row * n[0] + x});
  }
}

struct input_rule input_rule(const struct inputs *inputs, int field, const struct stencil *stencil,
                             const struct grid *grid) {
  struct input_rule rule = {.range = {0, 0}};
  rule.key = random_bits(random_bits(inputs->seed, (uint64_t)inputs->kind), (uint64_t)field);
  if (field < stencil->input_count) rule.range = stencil->values[field];
  if (inputs->is_nonlinear && rule.range.low == rule.range.high)
    rule.range = inputs->asks_signs ? usual_of_signs : usual_of_nonlinear;
  if (field < stencil->input_count && stencil->input_types[field] == INPUT_U8) {
    rule.is_u8 = true;
    rule.range = stencil->values[field];
    /* a mask without `values` gets 0 and 1 */
    rule.range.high = rule.range.low < rule.range.high ? rule.range.high + 1 : 2;
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    bool endpoint = axis < stencil->dims && grid->n[axis] > 1 &&
                    stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT;
    rule.period[axis] = grid->n[axis] - endpoint;
    const bool is_missing =
        field < stencil->input_count && axis < stencil->dims && !input_lies_along(stencil, field, axis);
    if (is_missing) rule.period[axis] = 1;
  }
  return rule;
}

double input_value(const struct input_rule *rule, const struct grid *grid, enum dtype dtype, long x, long y, long z) {
  const long index = grid_index(grid, x % rule->period[0], y % rule->period[1], z % rule->period[2]);
  double value = random_value(rule->key, (uint64_t)index);
  if (rule->range.low < rule->range.high) value = into_range(value, INPUT_RANDOM, &rule->range);
  if (rule->is_u8) return whole_value(value, rule);
  return dtype == DTYPE_F32 ? (double)(float)value : value;
}

halotune_status inputs_fill(const struct inputs *inputs, int field, const struct stencil *stencil,
                            const struct grid *grid, const struct ending *ending, double *values) {
  enum { PART_POINTS = 1 << 14 };
  struct filling filling = {
      .grid = *grid, .kind = inputs->kind, .dtype = inputs->dtype, .ending = ending, .values = values};
  filling.rule = input_rule(inputs, field, stencil, grid);
  if (filling.kind == INPUT_SMOOTH) {
    choose_waves(&filling);
    halotune_status status = make_tables(&filling);
    if (status != HALOTUNE_OK) return status;
  }
  const long piece = grid->n[0] < PIECE_POINTS ? grid->n[0] : PIECE_POINTS;
  parallel_for(grid->n[1] * grid->n[2] * pieces_of_row(grid), 1 + PART_POINTS / piece,
               parallel_threads(inputs->threads), fill_pieces, &filling);
  free(filling.waves[0].sine); /* the first table; all tables are in its memory */
  return ending_has_come(ending) ? fail(HALOTUNE_CANCELLED, "stopped while inputs were made") : HALOTUNE_OK;
}

struct sharing {
  const double *from;
  double *to;
};

static void share_values(void *context, long first, long count) {
  const struct sharing *sharing = context;
  memcpy(sharing->to + first, sharing->from + first, (size_t)count * sizeof *sharing->to);
}

struct box inputs_shared_box(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                             const struct grid *grid, int group) {
  int leader[2 * MAX_FIELDS];
  struct box shared = *box;
  iterate_leaders(stencil, leader);
  for (int output = 0; output < stencil->output_count; output++) {
    if (leader[stencil->input_count + output] != group) continue;
    shared = box_written(stencil, analysis, grid, output, &shared);
  }
  return shared;
}

void inputs_share_skipped(const struct stencil *stencil, const struct analysis *analysis, const struct box *box,
                          const struct grid *grid, double *const inputs[], double *const outputs[]) {
  int leader[2 * MAX_FIELDS];
  int field_count = stencil->input_count + stencil->output_count;
  iterate_leaders(stencil, leader);
  for (int i = 0; i < field_count; i++) {
    if (leader[i] == i) continue;
    struct sharing sharing = {inputs[leader[i]],
                              i < stencil->input_count ? inputs[i] : outputs[i - stencil->input_count]};
    struct box shared = inputs_shared_box(stencil, analysis, box, grid, leader[i]);
    box_outside(&shared, grid, share_values, &sharing);
  }
}
