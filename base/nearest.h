/* nearest.h: of the names that are known, the one that was probably meant by one that is not. */
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
                32]; /* "; did you mean 'star7'?", to be put behind a complaint; "" while no name is near */
};

/* The name that was typed, `length` bytes of it. */
struct nearest nearest_to(const char *typed, size_t length);

/* Look at a name that is known. It is near where it has at most one slip for every three letters of the longer one: a
 * letter too many, a missing or another one, or two in the wrong order, upper and lower case being one. Of equally near
 * names the first stays. Where the very name that was typed is known, there is no question. */
void nearest_try(struct nearest *nearest, const char *known);

#endif
