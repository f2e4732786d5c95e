/* access.c: evaluates the formulas of a template's `access`, and counts bank conflicts of shared memory. */
#include "stencil/template/access.h"

#include <math.h>

#include "stencil/template/banks.h"

enum { MAX_THREADS = 1024, MAX_STRIDE = 1 << 20 };

/* Compute the byte address at which each lane of a warp begins. Returns a bit for each lane that has a thread. */
static uint32_t warp_addresses(const long block[MAX_DIMS], const double stride[MAX_DIMS], int element_bytes, int warp,
                               uint64_t out[BANKS_LANES]) {
  long threads = block[0] * block[1] * block[2];
  uint32_t lanes = 0;
  for (int lane = 0; lane < BANKS_LANES; lane++) {
    long t = (long)warp * BANKS_LANES + lane;
    if (t >= threads) break;
    long x = t % block[0], y = t / block[0] % block[1], z = t / block[0] / block[1];
    double elements = (double)x * stride[0] + (double)y * stride[1] + (double)z * stride[2];
    out[lane] = (uint64_t)elements * (uint64_t)element_bytes;
    lanes |= UINT32_C(1) << lane;
  }
  return lanes;
}

/* Check the range of numbers, which may come from a user's file. */
static bool is_in_range(const long block[MAX_DIMS], const double stride[MAX_DIMS], int elements) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (block[axis] < 1 || block[axis] > MAX_THREADS) return false;
    if (!(stride[axis] >= 0 && stride[axis] <= MAX_STRIDE)) return false;
  }
  return block[0] * block[1] * block[2] <= MAX_THREADS && (elements == 1 || elements == 2 || elements == 4);
}

double access_bank_conflicts(const long block[MAX_DIMS], const double stride[MAX_DIMS], int elements,
                             int element_bytes) {
  if (!is_in_range(block, stride, elements)) return NAN;
  int bytes = elements * element_bytes, at_once = bytes < BANKS_MAX_BYTES_AT_ONCE ? bytes : BANKS_MAX_BYTES_AT_ONCE;
  double worst = 1;
  for (int warp = 0; (long)warp * BANKS_LANES < block[0] * block[1] * block[2]; warp++) {
    uint64_t addresses[BANKS_LANES];
    uint32_t lanes = warp_addresses(block, stride, element_bytes, warp, addresses);
    int taken = 0, fewest = 0;
    for (int part = 0; part < bytes / at_once; part++) {
      int fewest_of_part;
      taken += banks_wavefronts(addresses, lanes, at_once, &fewest_of_part);
      fewest += fewest_of_part;
      for (int lane = 0; lane < BANKS_LANES; lane++) addresses[lane] += (uint64_t)at_once;
    }
    worst = fmax(worst, (double)taken / fewest);
  }
  return worst;
}

static double worst_conflicts(const struct bindings *bindings, const long block[MAX_DIMS]) {
  const struct access_formulas *formulas = &bindings->template->access;
  double worst = NAN; /* fmax ignores NAN */
  for (int i = 0; i < formulas->shared_count; i++) {
    const struct shared_access *shared = &formulas->shared[i];
    double stride[MAX_DIMS], elements = bindings_value(bindings, shared->elements);
    if (elements == 0) continue;
    for (int axis = 0; axis < MAX_DIMS; axis++) stride[axis] = bindings_value(bindings, shared->stride[axis]);
    double conflicts = access_bank_conflicts(block, stride, elements > 0 && elements < 5 ? (int)elements : 0,
                                             (int)bindings->variables[FACT_element_bytes]);
    if (isnan(conflicts)) return NAN;
    worst = fmax(worst, conflicts);
  }
  return worst;
}

struct access access_of(const struct bindings *bindings) {
  const struct template *template = bindings->template;
  long block[MAX_DIMS];
  if (!template->has_access) return (struct access){NAN, NAN, NAN, NAN, NAN};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    const double threads = bindings_value(bindings, template->block[axis]);
    block[axis] = threads >= 1 && threads <= MAX_THREADS ? (long)threads : 0; /* 0 is out of range, as NaN is */
  }
  return (struct access){.loads_per_point = bindings_value(bindings, template->access.loads_per_point),
                         .over_read = bindings_value(bindings, template->access.over_read),
                         .computing_share = bindings_optional(bindings, &template->access.computing_share),
                         .bank_conflicts = worst_conflicts(bindings, block),
                         .shared_wavefronts = NAN};
}

double access_work(const struct bindings *bindings) {
  const double work = bindings_optional(bindings, &bindings->template->access.work);
  return isfinite(work) && work > 0 ? work : NAN;
}

double access_waves(const long grid[MAX_DIMS], int blocks_per_sm, int sm_count) {
  double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
  return blocks_per_sm > 0 ? blocks / ((double)blocks_per_sm * sm_count) : NAN;
}
