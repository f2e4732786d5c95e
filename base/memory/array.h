/* array.h: sizes of arrays, and lists that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Make room for one more element at the end of a list:
 *     if (!array_room(rows->list, rows->count, rows->capacity)) return fail_memory();
 *     rows->list[rows->count++] = row;
 *   list      a pointer variable, NULL or from malloc; the list may move; its owner frees it
 *   count     elements in use
 *   capacity  a variable, int or long: elements for which there is room; 0 for a NULL list
 * Returns false when memory is out, or if the list has more than INT_MAX / 2 elements. The list then does not
 * change. */
#define array_room(list, count, capacity)                                                   \
  __extension__({                                                                           \
    int grown_capacity_ = (int)(capacity);                                                  \
    void *grown_list_ = array_grow((list), (int)(count), &grown_capacity_, sizeof *(list)); \
    if (grown_list_) {                                                                      \
      (list) = grown_list_;                                                                 \
      (capacity) = grown_capacity_;                                                         \
    }                                                                                       \
    grown_list_ != NULL;                                                                    \
  })

/* Make room for a number of elements that is known, at least 1. If there is less, move `items` to a block of exactly
 * this size. Returns the list. On failure it returns NULL, and the caller still owns `items`. */
void *array_reserve(void *items, int wanted, int *capacity, size_t element_bytes);

/* The function behind array_room. If `count` has reached `*capacity`, it moves `items` to a block of twice the size.
 * Returns the list. On failure it returns NULL, and the caller still owns `items`. */
void *array_grow(void *items, int count, int *capacity, size_t element_bytes);

#endif
