/* emulated_fields.h: a scene's fields in buffers of the host backend, and launches of a variant on them. */
#ifndef TUNER_VERIFY_EMULATED_FIELDS_H
#define TUNER_VERIFY_EMULATED_FIELDS_H

#include "tuner/verify/emulated_check.h"

/* Buffers of inputs first, then of outputs. End with emulated_fields_free. */
struct emulated_fields {
  const struct scene *scene;
  const struct generated *generated;
  struct emulation_buffer *buffers[2 * MAX_FIELDS];
  int inputs[MAX_FIELDS], outputs[MAX_FIELDS]; /* which buffer each field is in */
  int buffer_count;
  struct emulation_buffer *workspace; /* NULL: the variant has none */
};

/* Make buffers with the domain's strides. Inputs are the scene's, outputs are poisoned, or with several steps the scene's
 * too; so is what lies between rows. A workspace is zero.
 *   out  after a failure emulated_fields_free is harmless
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status emulated_fields_make(const struct scene *scene, const struct generated *generated,
                                     struct emulated_fields *out);
void emulated_fields_free(struct emulated_fields *fields);

/* One launch on the fields where they are now; as emulation_run. */
halotune_status emulated_fields_launch(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                       struct check_order order, struct emulation_outcome *outcome);

/* One launch on inputs that are all 1, and fields as they were then: what it left in the workspace is of no use to a launch on
 * the scene's inputs. Only before any other launch. */
halotune_status emulated_fields_rehearse(struct emulated_fields *fields, struct emulation_batch *batch, int variant,
                                         struct check_order order, struct emulation_outcome *outcome);

/* Element `i` of a buffer. */
double emulated_fields_get(const struct emulated_fields *fields, int buffer, long i);

/* Whether strides are so long that only a small part of each field can be filled, poisoned and looked at. */
bool emulated_fields_are_sparse(const struct emulated_fields *fields);

#endif
