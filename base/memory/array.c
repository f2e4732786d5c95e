/* array.c: grows lists by doubling their room. */
#include "base/memory/array.h"

#include <limits.h>
#include <stdlib.h>

void *array_grow(void *items, int count, int *capacity, size_t element_bytes) {
  enum { SMALLEST = 8 };
  if (count < *capacity) return items;
  if (*capacity > INT_MAX / 2) return NULL;
  int wanted = *capacity > 0 ? 2 * *capacity : SMALLEST;
  void *grown = realloc(items, (size_t)wanted * element_bytes);
  if (grown) *capacity = wanted;
  return grown;
}
