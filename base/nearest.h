/* nearest.h: the known name that a user probably meant by an unknown one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

enum { NEAREST_NAME_BYTES = 64 };

/* Begin with nearest_to. */
struct nearest {
  const char *typed; /* not owned */
  size_t length;
  int slips; /* between it and the nearest name so far */
  char question[NEAREST_NAME_BYTES +
                32]; /* "; did you mean 'star7'?", the end of an error message; "" while no known name is near */
};

/* Begin with the name that was typed; it has `length` bytes. */
struct nearest nearest_to(const char *typed, size_t length);

/* Compare a known name with the typed one. It is near if it has at most one slip for every three letters of the longer name. A slip
 * is a letter too many, a missing letter, another letter, or two letters in the wrong order; upper and lower case are equal. Of
 * equally near names the first one stays. If the typed name itself is known, there is no question. */
void nearest_try(struct nearest *nearest, const char *known);

#endif
