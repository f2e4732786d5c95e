/* tensor_copy.c: implements tensor_copy and tensor_store of cuda_and_ptx_on_cpu.h; bulk_copy.c has their barriers.
 *
 * The shared memory of a store must not change between its issue and the wait for it, because the copy engine may read
 * it at any time. */
#include "tuner/emulate/runtime/tensor_copy.h"

#include <stdlib.h>
#include <string.h>

#include "tuner/emulate/runtime/calls.h"
#include "tuner/emulate/runtime/count.h"
#include "tuner/emulate/runtime/report.h"
#include "tuner/emulate/runtime/turn.h"

struct tensor {
  unsigned char *array;
  struct emulation_wire_tensor shape;
};

static struct tensor tensors[EMULATION_MAX_ARGUMENTS];

/* A tensor map as a kernel gets it. Its handle is neither a small number nor an address, so that a made-up map is
 * found. */
struct map {
  unsigned long long handle, unused[TENSOR_MAP_BYTES / sizeof(unsigned long long) - 1];
} __attribute__((aligned(TENSOR_MAP_BYTES)));

static const unsigned long long first_handle = 0x7E450000u;

void *tensor_make(unsigned slot, unsigned char *array, const struct emulation_wire_tensor *shape) {
  static struct map maps[EMULATION_MAX_ARGUMENTS];
  tensors[slot] = (struct tensor){array, *shape};
  maps[slot].handle = first_handle + slot;
  return &maps[slot];
}

struct copy tensor_copy_make(const void *map, const int *at, int rank, const void *shared, int line) {
  unsigned long long slot = ((const struct map *)map)->handle - first_handle;
  const struct tensor *tensor = slot < EMULATION_MAX_ARGUMENTS ? &tensors[slot] : NULL;
  if (!tensor || !tensor->array)
    report(EMULATION_UNDEFINED, "line %d copies with something that is not a tensor map", line);
  const struct emulation_wire_tensor *shape = &tensor->shape;
  if ((int)shape->rank != rank) {
    report(EMULATION_UNDEFINED, "line %d copies in %d dimensions with a tensor map of %u dimensions", line, rank,
           shape->rank);
  }
  struct copy copy = {.tensor = tensor, .at = {at[0], at[1], rank == 3 ? at[2] : 0}, .line = line};
  copy.bytes = shape->box[0] * shape->box[1] * shape->box[2] * shape->element_bytes;
  long long in_row_bytes = (long long)at[0] * shape->element_bytes;
  if (in_row_bytes % TENSOR_ROW_ALIGNMENT_BYTES != 0) {
    report(
        EMULATION_MISALIGNED,
        "line %d copies a box that begins at x = %d with a tensor map: byte %lld of a row, which is not a multiple of %d",
        line, at[0], in_row_bytes, TENSOR_ROW_ALIGNMENT_BYTES);
  }
  uintptr_t offset = (uintptr_t)shared - (uintptr_t)halotune_shared, size = launch.request->shared_bytes;
  if ((uintptr_t)shared % TENSOR_COPY_ALIGNMENT_BYTES != 0) {
    report(EMULATION_MISALIGNED,
           "line %d copies with a tensor map at byte %lld of shared memory, which is not a multiple of %d", line,
           (long long)(intptr_t)offset, TENSOR_COPY_ALIGNMENT_BYTES);
  }
  if (offset >= size || offset + copy.bytes > size) {
    report(EMULATION_OUT_OF_BOUNDS, "a tensor copy of %u bytes in line %d at byte %lld of %llu bytes of shared memory",
           copy.bytes, line, (long long)(intptr_t)offset, (unsigned long long)size);
  }
  return copy;
}

/* The part of a box's row that is inside the array: elements `first` to `end` - 1 of the box; `at` is the address of
 * `first`. */
struct row {
  long first, end;
  unsigned char *at;
};

static struct row row_of(const struct copy *copy, unsigned y, unsigned z) {
  const struct emulation_wire_tensor *shape = &copy->tensor->shape;
  long x0 = copy->at[0], row = (long)copy->at[1] + y, plane = (long)copy->at[2] + z, most = (long)shape->extents[0];
  struct row found = {.first = x0 < 0 ? -x0 : 0,
                      .end = most - x0 < (long)shape->box[0] ? most - x0 : (long)shape->box[0]};
  bool inside = row >= 0 && row < (long)shape->extents[1] && plane >= 0 && plane < (long)shape->extents[2];
  if (!inside || found.first >= found.end) return (struct row){0, 0, NULL};
  found.at = copy->tensor->array + (uint64_t)plane * shape->plane_bytes + (uint64_t)row * shape->row_bytes +
             (uint64_t)(x0 + found.first) * shape->element_bytes;
  return found;
}

void tensor_load(const struct copy *copy) {
  const struct emulation_wire_tensor *shape = &copy->tensor->shape;
  size_t element = shape->element_bytes, row_bytes = shape->box[0] * element;
  unsigned char *to = copy->to;
  memset(to, 0, copy->bytes);
  for (unsigned z = 0; z < shape->box[2]; z++) {
    for (unsigned y = 0; y < shape->box[1]; y++, to += row_bytes) {
      struct row row = row_of(copy, y, z);
      size_t bytes = (size_t)(row.end - row.first) * element;
      if (!row.at) continue;
      count_engine_bytes(row.at, bytes, false);
      memcpy(to + (size_t)row.first * element, row.at, bytes);
    }
  }
}

static void write_to_array(const struct copy *copy) {
  const struct emulation_wire_tensor *shape = &copy->tensor->shape;
  size_t element = shape->element_bytes, row_bytes = shape->box[0] * element;
  const unsigned char *from = copy->from;
  for (unsigned z = 0; z < shape->box[2]; z++) {
    for (unsigned y = 0; y < shape->box[1]; y++, from += row_bytes) {
      struct row row = row_of(copy, y, z);
      size_t bytes = (size_t)(row.end - row.first) * element;
      if (!row.at) continue;
      count_engine_bytes(row.at, bytes, true);
      memcpy(row.at, from + (size_t)row.first * element, bytes);
    }
  }
}

void tensor_stores_drop(struct copies *stores) {
  for (unsigned i = stores->first; i < stores->end; i++) free(stores->items[i].seen);
  copies_drop(stores);
}

void halotune_tensor_fence(void) { turn.block->is_fenced = true; }

void halotune_tensor_store(const void *map, const int *at, int rank, const void *from, int line) {
  struct copies *stores = &turn.thread->stores;
  struct copy copy = tensor_copy_make(map, at, rank, from, line);
  if (copy.at[0] < 0 || copy.at[1] < 0 || copy.at[2] < 0) {
    report(EMULATION_UNDEFINED,
           "line %d stores a box that begins at %d, %d, %d; no coordinate of a store may be negative", line, copy.at[0],
           copy.at[1], copy.at[2]);
  }
  if (!turn.block->is_fenced) {
    report(EMULATION_UNDEFINED,
           "line %d has the copy engine read shared memory, and no thread called tensor_fence() before", line);
  }
  copy.from = from;
  copy.group = stores->group;
  copy.seen = must_have(malloc(copy.bytes), "a store");
  memcpy(copy.seen, from, copy.bytes);
  *copy_add(stores) = copy;
}

void halotune_tensor_commit(void) { turn.thread->stores.group++; }

void halotune_tensor_wait(unsigned pending_groups) {
  struct copies *stores = &turn.thread->stores;
  for (; stores->first < stores->end; stores->first++) {
    struct copy *copy = &stores->items[stores->first];
    if (copy->group + pending_groups >= stores->group) return;
    if (memcmp(copy->seen, copy->from, copy->bytes) != 0) {
      report(EMULATION_UNWAITED_COPY,
             "shared memory was written between line %d, which has the copy engine store it, and the wait", copy->line);
    }
    count_engine_copy();
    write_to_array(copy);
    free(copy->seen);
  }
}
