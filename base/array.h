/* array.h: sizes of arrays, and arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Make room for one more element: when `count` has reached `*capacity`, double the capacity.
 *   items  NULL or from malloc; on success replaced by the result, which the caller frees
 * Returns the array, moved or not; NULL when memory is out, and `items` is then still the caller's. */
void *array_grow(void *items, int count, int *capacity, size_t element_bytes);

#endif
