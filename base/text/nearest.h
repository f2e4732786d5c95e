/* nearest.h: finds the known name that a user probably meant by an unknown one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_NAME_BYTES = 64 };

/* Start with nearest_to. */
struct nearest {
  const char *typed; /* owned by the caller */
  size_t length;
  int slips; /* between `typed` and the nearest name so far */
  /* "; did you mean 'star7'?" for the end of an error message; "" if no known name is near */
  char question[NEAREST_NAME_BYTES + 32];
};

/* Start with the name that the user typed; it has `length` bytes. */
struct nearest nearest_to(const char *typed, size_t length);

/* Compare a known name with the typed one. The name is near if it has at most one slip for every three letters of
 * the longer name. A slip is an extra letter, a missing letter, a wrong letter, or two letters in the wrong order.
 * Case does not matter. Of equally near names the first one stays. If the typed name itself is known, there is no
 * question. */
void nearest_try(struct nearest *nearest, const char *known);

#endif
