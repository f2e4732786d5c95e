/* kernel_set.h: what stands behind a halotune_kernel: a problem, the variants that were loaded for it, and the sets of pointers
 * that they were launched on. */
#ifndef LIBRARY_KERNEL_KERNEL_SET_H
#define LIBRARY_KERNEL_KERNEL_SET_H

#include "gpu/driver/kernel.h"
#include "library/kernel/kernel_build.h"

/* A variant in the context. */
struct loaded_variant {
  struct loaded_variant *next;
  struct kernel kernel;
  struct built built; /* its cubin is freed once it is loaded */
  const char *template_name, *parameters;
  int alignment_bytes;
  bool runs_in_place;
};

/* A set of pointers that was checked, and what runs on it. Never changed once it is published. */
struct bound_set {
  struct loaded_variant *variant;
  struct kernel_fields fields;
  const void *pointers[2 * MAX_FIELDS]; /* inputs, then outputs */
};

/* A time loop has two or three; a program that always comes with new ones has its pointers checked at each launch. */
enum { MOST_BOUND_SETS = 16 };

struct halotune_kernel {
  struct halotune_ctx *ctx;
  const struct cu *cu;
  CUcontext context;
  struct question question; /* domain and device; any alignment */
  struct answer answer;
  double *coefficients;
  int input_count, output_count, pointer_count;
  _Atomic(struct bound_set *) sets[MOST_BOUND_SETS]; /* filled from the front */
  pthread_mutex_t lock;                              /* of what follows */
  struct loaded_variant *variants;                   /* the first that was loaded is the last */
  struct loaded_variant *main;
};

/* Build and load a variant, and put it into the list. The thread's context is the kernel's; the lock is held, or nobody else
 * knows the kernel yet. */
halotune_status kernel_add_variant(halotune_kernel *kernel, const struct answer *answer, struct loaded_variant **out);

#endif
