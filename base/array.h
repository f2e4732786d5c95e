/* array.h: sizes of arrays, and arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Make room for one more element behind the last one of a list that grows:
 *     if (!array_room(rows->list, rows->count, rows->capacity)) return fail_memory();
 *     rows->list[rows->count++] = row;
 *   list      a pointer variable, NULL or from malloc; the list may move; its owner frees it
 *   count     elements that are in use
 *   capacity  a variable, int or long: elements that there is room for; 0 for a list that is NULL
 * Returns false when memory is out, or where the list has more than INT_MAX / 2 elements; the list is then as it was. */
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

/* The function behind array_room: where `count` has reached `*capacity`, move `items` to a block of twice the size.
 * Returns the list; NULL on failure, and `items` is then still the caller's. */
void *array_grow(void *items, int count, int *capacity, size_t element_bytes);

#endif
