/* kernel_set.h: the inside of a halotune_kernel: its problem, the variants that were loaded for it, and the sets of
 * pointers that they were launched on. */
#ifndef LIBRARY_KERNEL_KERNEL_SET_H
#define LIBRARY_KERNEL_KERNEL_SET_H

#include "gpu/driver/kernel.h"
#include "library/kernel/kernel_build.h"

/* A variant that is loaded into the CUDA context. */
struct loaded_variant {
  struct loaded_variant *next;
  struct kernel kernel;
  struct built built; /* without the cubin, which is freed after loading */
  const char *template_name, *parameters;
  int alignment_bytes;
  bool runs_in_place;
};

/* A set of pointers that was checked, and the variant that runs on it. It does not change after it is published. */
struct bound_set {
  struct loaded_variant *variant;
  struct kernel_fields fields;
  const void *pointers[2 * MAX_FIELDS]; /* first the inputs, then the outputs */
};

/* A time loop has two or three sets of pointers. If a program uses new pointers for each launch, they are checked each
 * time. */
enum { MOST_BOUND_SETS = 16 };

/* Launches of a run that are gathered in a graph, and the order of the buffers with which they begin and end. */
struct run_graph {
  CUgraphExec exec;
  int launches;
  const void *pointers[2 * MAX_FIELDS];
};

/* A run can begin with any order that the buffers have during the loop. */
enum { MOST_RUN_GRAPHS = 4 };

struct halotune_kernel {
  struct halotune_ctx *ctx;
  const struct cu *cu;
  CUcontext context;
  struct question question; /* domain and device, without demands */
  struct answer answer;
  double *coefficients;
  int input_count, output_count, pointer_count; /* output_count includes the arrays that a launch carries */
  struct halotune_kernel *fewer; /* the kernel for the steps that are left over, owned; NULL for single steps */
  _Atomic(struct bound_set *) sets[MOST_BOUND_SETS]; /* filled from the front */
  _Atomic(struct copier *) copier;                   /* used by halotune_pack; NULL before its first call */
  pthread_mutex_t lock;                              /* for the members below */
  struct loaded_variant *variants;                   /* a list, the newest first */
  struct loaded_variant *main;
  struct run_graph graphs[MOST_RUN_GRAPHS];
  int graph_count;
  bool gathers; /* launches of a run are gathered in graphs; set before the first run */
};

/* Build and load a variant, and put it into the list. The kernel's context is current. The caller holds the lock, or
 * no other thread knows the kernel yet. */
halotune_status kernel_add_variant(halotune_kernel *kernel, const struct answer *answer, struct loaded_variant **out);

/* Whether a launch on these pointers needs no check. */
bool kernel_knows(halotune_kernel *kernel, const void *const inputs[], void *const outputs[]);

/* The name of a launch's field for messages: an input, an output, or an array that the launch carries. */
const char *kernel_field_name(const halotune_kernel *kernel, int field);

/* The bytes of such a field, and of one of its elements. */
size_t kernel_field_bytes(const halotune_kernel *kernel, int field);
size_t kernel_element_bytes(const halotune_kernel *kernel, int field);

#endif
