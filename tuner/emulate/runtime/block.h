/* block.h: runs a kernel's blocks. */
#ifndef EMULATE_RUNTIME_BLOCK_H
#define EMULATE_RUNTIME_BLOCK_H

#include "tuner/emulate/runtime/turn.h"

/* A kernel in the table of a compiled variant. cuda_and_ptx_on_cpu.h declares the same in C++. */
struct kernel {
  const char *name;                    /* NULL ends the table */
  void (*run)(void *const *arguments); /* runs one thread; each argument is a pointer to its value */
  const unsigned *argument_bytes;
  unsigned argument_count;
};

#define KERNEL_TABLE "halotune_kernels" /* the symbol of the table */

/* Run all blocks to their end. It reports errors, and then does not return. */
void blocks_run(const struct launch *what);

#endif
