/* occupancy.h: how many blocks of a kernel one multiprocessor holds at a time, and what limits the number. It needs no
 * GPU. */
#ifndef GPU_ARCHITECTURE_OCCUPANCY_H
#define GPU_ARCHITECTURE_OCCUPANCY_H

#include "base/text/text.h"
#include "gpu/architecture/arch.h"

/* The resources that can run out: enumerator, name. */
#define OCCUPANCY_LIST(X)    \
  X(THREADS, "threads")      \
  X(REGISTERS, "registers")  \
  X(SHARED, "shared memory") \
  X(BLOCKS, "blocks")        \
  X(BARRIERS, "barriers")

#define OCCUPANCY_AS_ENUMERATOR(name, text) OCCUPANCY_##name,
enum occupancy_resource { OCCUPANCY_LIST(OCCUPANCY_AS_ENUMERATOR) OCCUPANCY_RESOURCES };
#undef OCCUPANCY_AS_ENUMERATOR

/* The resources that one block of the kernel takes. */
struct block_needs {
  int threads;
  int registers;    /* per thread */
  int shared_bytes; /* static and dynamic together */
  int barriers;     /* from the compiler's report; 0 and 1 never limit the blocks */
};

struct occupancy {
  int blocks;                         /* blocks on one multiprocessor; 0: the kernel does not fit */
  int threads;                        /* blocks times threads per block */
  double fraction;                    /* warps in use over the warps that fit, from 0 to 1 */
  int blocks_by[OCCUPANCY_RESOURCES]; /* the blocks that each resource alone would allow; INT_MAX: any number */
  /* bit `1u << resource` is set for each resource that allows no more than `blocks` */
  unsigned limits;
};

/* Compute the occupancy as the toolkit's cuda_occupancy.h does, with the largest shared memory that the SM can have.
 * The driver may choose less shared memory for a kernel that does not ask for it (its carve-out).
 *   needs  threads from 1, the others from 0; threads and registers at most 1 << 12, the others at most 1 << 30 */
struct occupancy occupancy_of(const struct sm_limits *limits, const struct block_needs *needs);

/* Append the calculation in one line that a person can check: "threads: 2048 / 256 = 8; shared memory: ...; limit:
 * threads, 8 blocks, 2048 of 2048 threads (100 %)". */
void occupancy_explain(const struct sm_limits *limits, const struct block_needs *needs, struct text *out);

#endif
