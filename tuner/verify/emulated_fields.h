/* emulated_fields.h: a scene's fields in buffers of the emulation, and launches of a variant on them. */
#ifndef TUNER_VERIFY_EMULATED_FIELDS_H
#define TUNER_VERIFY_EMULATED_FIELDS_H

#include "stencil/generate/generate.h"
#include "tuner/emulate/emulation.h"
#include "tuner/verify/scene.h"

/* The order in which the emulation executes threads and blocks. */
struct check_order {
  enum emulation_order threads, blocks;
  uint64_t seed;
};

/* Buffers of inputs come first, followed by buffers that a launch writes: outputs, and the arrays that it carries. End
 * with emulated_fields_free. */
struct emulated_fields {
  const struct scene *scene;
  const struct generated *generated;
  struct emulation_buffer *buffers[2 * MAX_FIELDS];
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* number of the buffer that holds each field */
  struct input_layout layouts[2 * MAX_FIELDS]; /* layout of each buffer; written fields lie along all axes */
  int buffer_count;
  struct emulation_buffer *workspace; /* NULL: the variant has none */
};

/* Make buffers with the domain's strides. Inputs get the scene's values. Outputs and gaps between rows are poisoned;
 * for several launches outputs get the scene's values, too. A workspace is zero.
 *   out  after a failure emulated_fields_free is harmless
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status emulated_fields_make(const struct scene *scene, const struct generated *generated,
                                     struct emulated_fields *out);
void emulated_fields_free(struct emulated_fields *fields);

/* Like emulated_fields_make, for one launch in which each output that the stencil's `in_place` names lies in the memory
 * of its input. */
halotune_status emulated_fields_make_in_place(const struct scene *scene, const struct generated *generated,
                                              struct emulated_fields *out);

/* Make buffers full of zeros, of any size: memory is used only where a kernel accesses them. Only the scene's request
 * is read. Returns as emulated_fields_make. */
halotune_status emulated_fields_make_empty(const struct scene *scene, const struct generated *generated,
                                           struct emulated_fields *out);

/* Execute one block of a launch and count its accesses. Buffers are numbered as in struct emulated_fields. Returns what
 * emulation_count returns. */
halotune_status emulated_fields_count(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                      const unsigned block[MAX_DIMS], struct emulation_outcome *outcome,
                                      struct emulation_counts *counts);

/* Launch once on the fields in their present places. Returns what emulation_run returns. */
halotune_status emulated_fields_launch(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                       struct check_order order, struct emulation_outcome *outcome);

/* Launch once on inputs that are all 1, and restore the fields. This fills the workspace with the leftovers of an
 * earlier launch, which are wrong for the scene's inputs. Call it only before any other launch. */
halotune_status emulated_fields_rehearse(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                         struct check_order order, struct emulation_outcome *outcome);

/* Element `i` of a buffer. */
double emulated_fields_get(const struct emulated_fields *fields, int buffer, long i);

/* Whether strides are so long that only a small part of each field can be filled, poisoned and checked. */
bool emulated_fields_are_sparse(const struct emulated_fields *fields);

#endif
