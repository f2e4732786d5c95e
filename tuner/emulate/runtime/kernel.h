/* kernel.h: the table of kernels in a compiled variant. cuda_on_cpu.h declares the same in C++. */
#ifndef EMULATE_RUNTIME_KERNEL_H
#define EMULATE_RUNTIME_KERNEL_H

struct kernel {
  const char *name;                    /* NULL ends the table */
  void (*run)(void *const *arguments); /* runs one thread; each argument is a pointer to its value */
  const unsigned *argument_bytes;
  unsigned argument_count;
};

#define KERNEL_TABLE "halotune_kernels" /* the symbol of the table */

#endif
