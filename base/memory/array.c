/* array.c: grows lists, to a size or by doubling their room. */
#include "base/memory/array.h"

#include <limits.h>
#include <stdlib.h>

void *array_reserve(void *items, int wanted, int *capacity, size_t element_bytes) {
  if (wanted <= *capacity) return items;
  void *grown = realloc(items, (size_t)wanted * element_bytes);
  if (grown) *capacity = wanted;
  return grown;
}

void *array_grow(void *items, int count, int *capacity, size_t element_bytes) {
  enum { SMALLEST = 8 };
  if (count < *capacity) return items;
  if (*capacity > INT_MAX / 2) return NULL;
  return array_reserve(items, *capacity > 0 ? 2 * *capacity : SMALLEST, capacity, element_bytes);
}
