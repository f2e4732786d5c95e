/* tensor_copy.h: the tensor maps of a launch, and the copies that use them. */
#ifndef EMULATE_RUNTIME_TENSOR_COPY_H
#define EMULATE_RUNTIME_TENSOR_COPY_H

#include "tuner/emulate/runtime/copy.h"
#include "tuner/emulate/runtime/protocol.h"

/* The alignment of a box in shared memory, and in a row of the grid. */
enum { TENSOR_MAP_BYTES = 128, TENSOR_COPY_ALIGNMENT_BYTES = 128, TENSOR_ROW_ALIGNMENT_BYTES = 16 };

/* Describe tensor map number `slot`, which is below EMULATION_MAX_ARGUMENTS, until the next launch. Returns the
 * argument's value. */
void *tensor_make(unsigned slot, unsigned char *array, const struct emulation_wire_tensor *shape);

/* Make a copy between a map's array, from the element `at` on, and `shared`. Both positions are checked. The caller
 * fills in the copy's direction. */
struct copy tensor_copy_make(const void *map, const int *at, int rank, const void *shared, int line);

/* Copy from the array to shared memory, with zeros for elements outside the array. */
void tensor_load(const struct copy *copy);

/* Forget stores for which nothing waited. */
void tensor_stores_drop(struct copies *stores);

#endif
