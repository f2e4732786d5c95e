/* tensor.h: the tensor maps of a launch, and what copies by them move. */
#ifndef EMULATE_RUNTIME_TENSOR_H
#define EMULATE_RUNTIME_TENSOR_H

#include "tuner/emulate/runtime/copy.h"
#include "tuner/emulate/runtime/protocol.h"

/* A box begins at a multiple of so many bytes in shared memory, and of so many in a row of the grid. */
enum { TENSOR_MAP_BYTES = 128, TENSOR_COPY_ALIGNMENT_BYTES = 128, TENSOR_ROW_ALIGNMENT_BYTES = 16 };

/* Describe map number `slot`, below EMULATION_MAX_ARGUMENTS, until the next launch does. Returns the argument's value. */
void *tensor_make(unsigned slot, unsigned char *array, const struct emulation_wire_tensor *shape);

/* A copy by a map between its array, from the element `at` on, and `shared`. Both places are checked; neither end of
 * the copy is filled in. */
struct copy tensor_copy_make(const void *map, const int *at, int rank, const void *shared, int line);

/* Do it: from the array, with zeros for what lies beyond it. */
void tensor_load(const struct copy *copy);

/* Forget stores that nothing waited for. */
void tensor_stores_drop(struct copies *stores);

#endif
