/* inputs.c: fills inputs. A point's value depends only on seed, field and indices. */
#include "tuner/verify/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "tuner/verify/box.h"

enum { WAVES = 3, WIDE_EXPONENT = 30 };

static const struct value_range usual_of_nonlinear = {0.25, 1};

const char *const input_kind_names[INPUT_KIND_COUNT] = {
    [INPUT_SMOOTH] = "smooth",
    [INPUT_RANDOM] = "random",
    [INPUT_WIDE] = "wide",
};

struct wave {
  double number[MAX_DIMS]; /* wave lengths along the axis' period */
  double phase;
  double *sine, *cosine; /* of the angle along x, for each point of a row */
};

struct filling {
  struct grid grid;
  long period[MAX_DIMS]; /* the values of an axis repeat after this many points */
  enum input_kind kind;
  enum dtype dtype;
  uint64_t key;
  struct wave waves[WAVES];
  struct value_range range; /* both 0: the values of the kind */
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

static double angle(const struct wave *wave, int axis, long i, long period) {
  return 2 * M_PI * wave->number[axis] * (double)(i % period) / (double)period;
}

/* Choose the waves. A wave has a different number of wave lengths along each axis, so that swapped axes show. The
 * number is at most what the grid can resolve, so that no axis becomes constant. */
static halotune_status make_waves(struct filling *filling) {
  size_t nx = (size_t)filling->grid.n[0];
  double *tables = malloc((size_t)2 * WAVES * nx * sizeof *tables);
  if (!tables) return fail_memory();
  for (int k = 0; k < WAVES; k++) {
    struct wave *wave = &filling->waves[k];
    uint64_t bits = random_bits(filling->key, (uint64_t)k);
    wave->phase = 2 * M_PI * random_fraction(random_bits(filling->key, (uint64_t)WAVES + (uint64_t)k));
    wave->sine = tables + nx * (size_t)(2 * k);
    wave->cosine = wave->sine + nx;
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      long number = 1 + (k + axis) % MAX_DIMS;
      long most = filling->period[axis] > 3 ? filling->period[axis] / 2 : 1;
      bool backwards = bits >> axis & 1;
      wave->number[axis] = (double)((number < most ? number : most) * (backwards ? -1 : 1));
    }
    for (long x = 0; x < filling->grid.n[0]; x++) {
      wave->sine[x] = sin(angle(wave, 0, x, filling->period[0]));
      wave->cosine[x] = cos(angle(wave, 0, x, filling->period[0]));
    }
  }
  return HALOTUNE_OK;
}

static void fill_smooth_row(const struct filling *filling, long y, long z, double *row) {
  long nx = filling->grid.n[0];
  memset(row, 0, (size_t)nx * sizeof *row);
  for (int k = 0; k < WAVES; k++) {
    const struct wave *wave = &filling->waves[k];
    double rest = wave->phase + angle(wave, 1, y, filling->period[1]) + angle(wave, 2, z, filling->period[2]);
    double sine = sin(rest) / WAVES, cosine = cos(rest) / WAVES;
    for (long x = 0; x < nx; x++) row[x] += wave->sine[x] * cosine + wave->cosine[x] * sine;
  }
  for (long x = 0; x < nx; x++) {
    if (row[x] == 0) row[x] = 0.5;
  }
}

/* Map a value of a kind into a range. Wide values span a tenth of their powers of two, down from the upper end of the
 * range. Near the lower end many would be equal after rounding. */
static double into_range(double value, enum input_kind kind, const struct value_range *range) {
  double share = kind == INPUT_WIDE ? exp2((log2(fabs(value)) - WIDE_EXPONENT) / 10) : (1 + value) / 2;
  return range->low + (range->high - range->low) * share;
}

/* Fill rows, which are numbered through y, then z. */
static void fill_rows(void *context, int thread, long first, long end) {
  const struct filling *filling = context;
  const long *n = filling->grid.n, *period = filling->period;
  (void)thread;
  for (long r = first; r < end; r++) {
    double *row = filling->values + r * n[0];
    long y = r % n[1] % period[1], z = r / n[1] % period[2];
    uint64_t start = (uint64_t)grid_index(&filling->grid, 0, y, z);
    if (filling->kind == INPUT_SMOOTH) {
      fill_smooth_row(filling, y, z, row);
    } else {
      for (long x = 0; x < n[0]; x++) {
        uint64_t index = start + (uint64_t)(x % period[0]);
        row[x] = filling->kind == INPUT_RANDOM ? random_value(filling->key, index) : wide_value(filling->key, index);
      }
    }
    for (long x = 0; x < n[0] && filling->range.low < filling->range.high; x++)
      row[x] = into_range(row[x], filling->kind, &filling->range);
    for (long x = 0; x < n[0] && filling->dtype == DTYPE_F32; x++) row[x] = (double)(float)row[x];
  }
}

halotune_status inputs_fill(const struct inputs *inputs, int field, const struct stencil *stencil,
                            const struct grid *grid, double *values) {
  enum { PART_POINTS = 1 << 14 };
  struct filling filling = {.grid = *grid, .kind = inputs->kind, .dtype = inputs->dtype, .values = values};
  filling.key = random_bits(random_bits(inputs->seed, (uint64_t)inputs->kind), (uint64_t)field);
  if (field < stencil->input_count) filling.range = stencil->values[field];
  if (inputs->is_nonlinear && filling.range.low == filling.range.high) filling.range = usual_of_nonlinear;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    bool endpoint = axis < stencil->dims && stencil->boundary[axis] == BOUNDARY_PERIODIC_ENDPOINT && grid->n[axis] > 1;
    filling.period[axis] = grid->n[axis] - endpoint;
  }
  if (filling.kind == INPUT_SMOOTH) {
    halotune_status status = make_waves(&filling);
    if (status != HALOTUNE_OK) return status;
  }
  parallel_for(grid->n[1] * grid->n[2], 1 + PART_POINTS / grid->n[0], parallel_threads(inputs->threads), fill_rows,
               &filling);
  free(filling.waves[0].sine); /* the start of all tables */
  return HALOTUNE_OK;
}

struct sharing {
  const double *from;
  double *to;
};

static void share_values(void *context, long first, long count) {
  const struct sharing *sharing = context;
  memcpy(sharing->to + first, sharing->from + first, (size_t)count * sizeof *sharing->to);
}

void inputs_share_skipped(const struct stencil *stencil, const struct box *box, const struct grid *grid,
                          double *const inputs[], double *const outputs[]) {
  int leader[2 * MAX_FIELDS]; /* inputs, then outputs: the first field with which each one exchanges places */
  int field_count = stencil->input_count + stencil->output_count;
  for (int i = 0; i < field_count; i++) leader[i] = i;
  for (int pass = 0; pass < stencil->iterate_count; pass++) { /* as many passes as the longest chain may need */
    for (int i = 0; i < stencil->iterate_count; i++) {
      const struct iterate *entry = &stencil->iterate[i];
      int from = entry->from + (entry->from_output ? stencil->input_count : 0);
      int first = leader[from] < leader[entry->to] ? leader[from] : leader[entry->to];
      leader[from] = leader[entry->to] = first;
    }
  }
  for (int i = 0; i < field_count; i++) {
    if (leader[i] == i) continue;
    struct sharing sharing = {inputs[leader[i]],
                              i < stencil->input_count ? inputs[i] : outputs[i - stencil->input_count]};
    box_outside(box, grid, share_values, &sharing);
  }
}
