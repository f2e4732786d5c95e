/* arch.h: GPU architectures by name (sm_90), and what one multiprocessor of each holds. */
#ifndef GPU_ARCHITECTURE_ARCH_H
#define GPU_ARCHITECTURE_ARCH_H

#include "base/fail.h"
#include "stencil/template/facts.h"

/* A real architecture, as cubins are made for: sm_90 is {9, 0, 0}, sm_100a is {10, 0, 'a'}. */
struct arch {
  int major, minor; /* the compute capability */
  char feature;     /* 'a': for this capability only; 'f': for its family; 0: also for later ones of the same major */
};

/* What a streaming multiprocessor (SM) has to share out among blocks. */
struct sm_limits {
  int warp_size; /* threads */
  int max_threads_per_block, max_threads_per_sm, max_blocks_per_sm;
  int registers_per_sm, registers_per_block; /* of 32 bits */
  int max_registers_per_thread;
  int register_unit;  /* a warp gets registers in multiples of this */
  int sub_partitions; /* the registers lie in this many equal parts; a warp lives in one */
  int shared_per_sm_bytes;
  int shared_per_block_bytes; /* the most a kernel may ask for (by opting in where that is needed) */
  int shared_reserved_bytes;  /* taken by the system for each block, beside what the kernel asks for */
  int shared_unit_bytes;      /* a block gets shared memory in multiples of this */
  int max_barriers_per_sm;    /* 0: not a limit */
};

struct arch_facts {
  int major, minor;
  const char *generation; /* "Hopper" */
  struct sm_limits limits;
};

/* Read "sm_90", "sm_100a", "sm_103f".
 *   out  untouched on failure
 * Returns HALOTUNE_OK or HALOTUNE_ARGUMENT; also for compute_90, which is PTX that the driver would compile again. */
halotune_status arch_parse(const char *text, struct arch *out);

/* The facts of a compute capability from 7.5 to 12.1, a static table; NULL for one that it does not have.
 * Threads: any number at once. */
const struct arch_facts *arch_find(int major, int minor);

/* The table's ends; what lies between is in order. */
const struct arch_facts *arch_oldest(void);
const struct arch_facts *arch_newest(void);

/* What the rules of templates may know of it. */
struct device_limits arch_device_limits(const struct arch_facts *facts);

#endif
