/* access.c: evaluates the formulas of a template's `access`, and counts bank conflicts of shared memory. */
#include "stencil/template/access.h"

#include <math.h>

enum { WARP = 32, BANKS = 32, BANK_BYTES = 4, MAX_BYTES_AT_ONCE = 16, MAX_THREADS = 1024, MAX_STRIDE = 1 << 20 };

/* Compute the byte address at which each thread of a warp begins. Returns the number of threads in the warp. */
static int warp_addresses(const long block[MAX_DIMS], const double stride[MAX_DIMS], int element_bytes, int warp,
                          long out[WARP]) {
  long threads = block[0] * block[1] * block[2];
  int count = 0;
  for (long t = (long)warp * WARP; t < threads && count < WARP; t++) {
    long x = t % block[0], y = t / block[0] % block[1], z = t / block[0] / block[1];
    double elements = (double)x * stride[0] + (double)y * stride[1] + (double)z * stride[2];
    out[count++] = (long)elements * element_bytes;
  }
  return count;
}

/* Count the passes of an access of `bytes` per thread: the largest number of different words in one bank. Threads that
 * touch the same word share it. */
static int count_passes(const long *addresses, int count, int bytes) {
  long words[BANKS][WARP];
  int in_bank[BANKS] = {0}, most = 0;
  for (int i = 0; i < count; i++) {
    for (long word = addresses[i] / BANK_BYTES; word < (addresses[i] + bytes) / BANK_BYTES; word++) {
      int bank = (int)(word % BANKS), k = 0;
      while (k < in_bank[bank] && words[bank][k] != word) k++;
      if (k == in_bank[bank]) words[bank][in_bank[bank]++] = word;
      if (in_bank[bank] > most) most = in_bank[bank];
    }
  }
  return most;
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
  int bytes = elements * element_bytes, at_once = bytes < MAX_BYTES_AT_ONCE ? bytes : MAX_BYTES_AT_ONCE;
  int together = WARP * BANK_BYTES / at_once; /* threads that one pass serves if there are no conflicts */
  double worst = 1;
  for (int warp = 0; (long)warp * WARP < block[0] * block[1] * block[2]; warp++) {
    long addresses[WARP];
    int count = warp_addresses(block, stride, element_bytes, warp, addresses), taken = 0, fewest = 0;
    for (int part = 0; part < bytes / at_once; part++) {
      for (int first = 0; first < count; first += together, fewest++) {
        taken += count_passes(addresses + first, count - first < together ? count - first : together, at_once);
      }
      for (int i = 0; i < count; i++) addresses[i] += at_once;
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
  if (!template->has_access) return (struct access){NAN, NAN, NAN, NAN};
  for (int axis = 0; axis < MAX_DIMS; axis++) block[axis] = (long)bindings_value(bindings, template->block[axis]);
  return (struct access){.loads_per_point = bindings_value(bindings, template->access.loads_per_point),
                         .over_read = bindings_value(bindings, template->access.over_read),
                         .computing_share = bindings_value(bindings, template->access.computing_share),
                         .bank_conflicts = worst_conflicts(bindings, block)};
}

double access_waves(const long grid[MAX_DIMS], int blocks_per_sm, int sm_count) {
  double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
  return blocks_per_sm > 0 ? blocks / ((double)blocks_per_sm * sm_count) : NAN;
}
