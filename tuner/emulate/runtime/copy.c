/* copy.c: lists of pending copies. */
#include "tuner/emulate/runtime/copy.h"

#include <stdlib.h>

#include "tuner/emulate/runtime/report.h"

void copies_drop(struct copies *copies) { copies->first = copies->end = copies->group = 0; }

struct copy *copy_add(struct copies *copies) {
  if (copies->first == copies->end) copies->first = copies->end = 0;
  if (copies->end == copies->capacity) {
    copies->capacity = copies->capacity > 0 ? 2 * copies->capacity : 16;
    copies->items = must_have(realloc(copies->items, copies->capacity * sizeof *copies->items), "asynchronous copies");
  }
  return &copies->items[copies->end++];
}
