/* explain_counters.h: what NVIDIA's profiler counted while a kernel ran. */
#ifndef CLI_EXPLAIN_EXPLAIN_COUNTERS_H
#define CLI_EXPLAIN_EXPLAIN_COUNTERS_H

#include <stdint.h>

#include "base/fail.h"

/* The units whose use is known: member, what the unit is, the profiler's metric in percent of the peak. */
#define COUNTER_UNITS(X)                                                                                           \
  X(link, "the link between the halves of the L2 cache",                                                           \
    "lts__ltcfabric2ltc_cycles_active.avg.pct_of_peak_sustained_elapsed")                                          \
  X(memory, "memory", "dram__throughput.avg.pct_of_peak_sustained_elapsed")                                        \
  X(shared, "shared memory and the L1 cache", "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed") \
  X(issue, "issue slots", "smsp__issue_active.avg.pct_of_peak_sustained_active")

#define AS_NUMBER(member, what, metric) COUNTER_##member,
enum counter_unit { COUNTER_UNITS(AS_NUMBER) COUNTERS };
#undef AS_NUMBER

struct counters {
  double time_us, percent[COUNTERS]; /* NAN: not counted */
  double waiting;  /* warps that wait for the most frequent reason, for each issued instruction; NAN: not counted */
  char reason[64]; /* "long scoreboard" */
};

extern const char *const counter_names[COUNTERS];

/* The winner's launch, as far as it distinguishes the launch from others in a table. */
struct counted_launch {
  const char *kernel;                                               /* the function's name */
  int64_t block[3], blocks[3], registers, shared_bytes, capability; /* capability: 90 for 9.0 */
  const char *gpu;
};

/* Read the first launch of the winner from a table that `ncu --csv --page raw` wrote, with any --print-units. Each
 * member of `winner` for which the table has a column must agree. Every table has the function, threads and blocks. It
 * may have registers, dynamic shared memory, compute capability and the GPU's name. Returns HALOTUNE_OK; HALOTUNE_IO;
 * HALOTUNE_PARSE if there is no such table; HALOTUNE_NOT_FOUND if it has no such launch, with what differs, or no unit
 * that is known. */
halotune_status counters_read(const char *path, const struct counted_launch *winner, struct counters *out);

#endif
