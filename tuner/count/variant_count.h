/* variant_count.h: the accesses to memory of one variant. The emulation counts them for the block in the middle of the
 * grid. */
#ifndef TUNER_COUNT_VARIANT_COUNT_H
#define TUNER_COUNT_VARIANT_COUNT_H

#include "stencil/generate/generate.h"
#include "tuner/emulate/emulation.h"

struct variant_count {
  struct emulation_counts counts; /* counts of the block; the first buffers are inputs, followed by outputs */
  uint64_t points;                /* that the block computes */
  uint64_t read_bytes;  /* different ones, of the inputs that lie along all axes; of a mask words of four bytes */
  uint32_t input_bytes; /* that these inputs have for each point */
  uint32_t element_bytes;
};

/* One variant and its result. */
struct count_job {
  struct variant_spec spec;
  bool has_count; /* false: `reason` says why */
  bool is_cached; /* it was counted before */
  struct variant_count count;
  char reason[EMULATION_OUTCOME_TEXT_BYTES];
};

/* Count variants. Counts are cached by the source, its launch, the stencil, the domain and the compiler, beside the
 * variants that the emulation compiled.
 *   jobs     each with its spec; the call sets the rest
 *   options  of the compiler and the cache; the call sets `counts`
 * Returns HALOTUNE_OK whatever the results are; else what emulation_build and emulation_count return. */
halotune_status variants_count(struct count_job *jobs, int count, const struct emulation_options *options);

/* Figures for each point that the block computes. */
struct count_figures {
  double loads, stores;     /* instructions of threads on global memory; a vector is one */
  double issued_loads;      /* loads with idle lanes: 32 times the instructions of warps */
  double load_sectors;      /* pieces of 32 bytes that the instructions ask for */
  double over_read;         /* distinct bytes that are read, over the points' own; NAN if all inputs are thin */
  double shared_wavefronts; /* wavefronts of loads and stores. NAN without shared memory, as the next ones */
  double mean_conflicts;    /* wavefronts over the fewest possible, of all accesses together */
  double worst_conflicts;   /* the same of the access that has the most */
  double engine_bytes;      /* bytes that the copy engine moves */
};
struct count_figures count_figures_of(const struct variant_count *count);

#endif
