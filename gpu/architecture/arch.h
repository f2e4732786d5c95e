/* arch.h: GPU architectures by name (sm_90), and the limits of one multiprocessor of each. */
#ifndef GPU_ARCHITECTURE_ARCH_H
#define GPU_ARCHITECTURE_ARCH_H

#include "base/fail.h"
#include "stencil/template/facts.h"

/* An architecture for which cubins are made: sm_90 is {9, 0, 0}, sm_100a is {10, 0, 'a'}. */
struct arch {
  int major, minor; /* the compute capability */
  /* 'a': code for this capability only; 'f': for its family; 0: also for later capabilities with the same major
   * number */
  char feature;
};

/* The resources that a streaming multiprocessor (SM) divides among blocks. */
struct sm_limits {
  int warp_size; /* threads */
  int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
  int registers_per_sm, registers_per_block; /* 32-bit registers */
  int max_registers_per_thread;
  int register_unit;  /* a warp gets registers in multiples of this */
  int sub_partitions; /* number of equal parts of the registers; all registers of a warp are in one part */
  int shared_per_sm_bytes;
  int shared_per_block_bytes; /* the most that a kernel may use; above 48 KiB it must opt in */
  int shared_reserved_bytes;  /* what the system takes for each block in addition to the kernel's own memory */
  int shared_unit_bytes;      /* a block gets shared memory in multiples of this */
  int max_barriers_per_sm;    /* 0: there is no limit */
};

struct arch_facts {
  int major, minor;
  const char *generation; /* "Hopper" */
  int multiprocessors;    /* multiprocessors of its data-centre GPU, or of its largest GPU if there is no such one */
  struct sm_limits limits;
  int results_per_clock[DTYPE_COUNT]; /* additions, multiplications or fma of a multiprocessor; 0: not known */
  double clock_ghz;                   /* a clock above the usual boost clocks of cards as they are sold; 0: not known */
};

/* Read "sm_90", "sm_100a", "sm_103f".
 *   out  unchanged on failure
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. It refuses compute_90, because that is PTX, which the driver would compile
 * again. */
halotune_status arch_parse(const char *text, struct arch *out);

/* Find the facts of a compute capability from 7.5 to 12.1 in a static table. Returns NULL for an unknown one.
 * Threads: any number at once. */
const struct arch_facts *arch_find(int major, int minor);

/* The first and last rows of the table, which is sorted. */
const struct arch_facts *arch_oldest(void);
const struct arch_facts *arch_newest(void);

/* What a multiprocessor of a compute capability (times ten: 90) computes at most, at clock_ghz: 10^9 additions,
 * multiplications and fma a second, each counted once. A card beyond that clock computes more, in proportion. Returns 0
 * where it is not known. */
double arch_peak_gops(int capability, enum dtype dtype);

/* The limits that rules of templates may use. */
struct device_limits arch_device_limits(const struct arch_facts *facts);

#endif
