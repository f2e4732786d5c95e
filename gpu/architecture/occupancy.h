/* occupancy.h: how many blocks of a kernel one multiprocessor holds at a time, and why not more. No GPU is asked. */
#ifndef GPU_ARCHITECTURE_OCCUPANCY_H
#define GPU_ARCHITECTURE_OCCUPANCY_H

#include "base/text.h"
#include "gpu/architecture/arch.h"

/* What can run out: enumerator, name. */
#define OCCUPANCY_LIST(X)    \
  X(THREADS, "threads")      \
  X(REGISTERS, "registers")  \
  X(SHARED, "shared memory") \
  X(BLOCKS, "blocks")        \
  X(BARRIERS, "barriers")

#define OCCUPANCY_AS_ENUMERATOR(name, text) OCCUPANCY_##name,
enum occupancy_resource { OCCUPANCY_LIST(OCCUPANCY_AS_ENUMERATOR) OCCUPANCY_RESOURCES };
#undef OCCUPANCY_AS_ENUMERATOR

/* What one block of the kernel takes. */
struct block_needs {
  int threads;
  int registers;    /* a thread */
  int shared_bytes; /* static and dynamic together */
  int barriers;     /* as in the compiler's report; 0 or 1 never limit */
};

struct occupancy {
  int blocks;                         /* on one multiprocessor; 0: the kernel does not fit */
  int threads;                        /* blocks times threads of a block */
  double fraction;                    /* warps in use of the warps there are, 0 to 1 */
  int blocks_by[OCCUPANCY_RESOURCES]; /* what each resource alone would allow; INT_MAX: any number */
  unsigned limits;                    /* bit `1u << resource` for each that allows no more than `blocks` */
};

/* The arithmetic is that of the toolkit's cuda_occupancy.h, with the largest shared memory the SM can be set to. The
 * driver may set a smaller one for a kernel that does not ask (its carve-out).
 *   needs  threads from 1, the others from 0, none above 1 << 30 */
struct occupancy occupancy_of(const struct sm_limits *limits, const struct block_needs *needs);

/* Append the arithmetic as a person would check it, one line: "threads: 2048 / 256 = 8; shared memory: ...; limit:
 * threads, 8 blocks, 2048 of 2048 threads (100 %)". */
void occupancy_explain(const struct sm_limits *limits, const struct block_needs *needs, struct text *out);

#endif
