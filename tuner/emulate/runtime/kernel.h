/* kernel.h: what a compiled variant offers the runner. cuda_on_cpu.h has the same in C++. */
#ifndef EMULATE_RUNTIME_KERNEL_H
#define EMULATE_RUNTIME_KERNEL_H

struct kernel {
  const char *name;                    /* NULL ends the table */
  void (*run)(void *const *arguments); /* one thread; each argument is a pointer to its value */
  const unsigned *argument_bytes;
  unsigned argument_count;
};

#define KERNEL_TABLE "halotune_kernels" /* the symbol of an array of them */

#endif
