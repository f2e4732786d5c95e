/* counts.h: the accesses of one block to memory, as the runner reports them to the program. */
#ifndef EMULATE_RUNTIME_COUNTS_H
#define EMULATE_RUNTIME_COUNTS_H

#include "tuner/emulate/runtime/protocol.h"

/* One kind of access to global memory. Instructions are those of warps. */
struct emulation_global_counts {
  uint64_t instructions;
  uint64_t lanes;   /* active lanes, summed over all instructions */
  uint64_t bytes;   /* moved for all lanes */
  uint64_t sectors; /* different pieces of 32 bytes in an instruction, summed over all instructions */
};

/* One kind of access to shared memory. */
struct emulation_shared_counts {
  uint64_t instructions, lanes, bytes;
  uint64_t wavefronts, fewest_wavefronts; /* fewest: if there were no bank conflicts */
};

/* The different places of one buffer that the block accesses. */
struct emulation_touched {
  uint64_t words, sectors, lines; /* of 4, 32 and 128 bytes */
};

struct emulation_counts {
  uint64_t threads;                                           /* of the block */
  struct emulation_global_counts global_loads, global_stores; /* asynchronous copies of threads are loads */
  struct emulation_shared_counts shared_loads, shared_stores; /* and stores to shared memory */
  uint64_t worst_wavefronts, worst_fewest;           /* of the one access with the worst conflicts; 0: there is none */
  uint64_t async_copies;                             /* instructions of global_loads that end in shared memory */
  uint64_t engine_copies;                            /* boxes and rows that the copy engine moves, either way; */
  uint64_t engine_loaded_bytes, engine_stored_bytes; /* no instruction of a warp moves these bytes */
  struct emulation_touched loaded[EMULATION_MAX_BUFFERS], stored[EMULATION_MAX_BUFFERS];
};

#endif
