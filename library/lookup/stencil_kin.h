/* stencil_kin.h: what the rows of all stencils are worth for one stencil. */
#ifndef LIBRARY_LOOKUP_STENCIL_KIN_H
#define LIBRARY_LOOKUP_STENCIL_KIN_H

#include <stdbool.h>
#include <stdlib.h>

struct kin {
  float *errors; /* for each stencil, the error that its rows add; infinite: they say nothing; NAN: it was not read */
  int *families; /* the families of rows that say something, by their numbers in the table */
  int family_count;
  bool *has_images;      /* for each stencil, whether its rows know such images as the stencil in question has; NULL if
                            that has none */
  bool *finds_images[2]; /* for the first template of each name: whether it has a row of such a stencil; [0] of a GPU,
                            [1] of an emulation. NULL where has_images is */
};

static inline void kin_free(struct kin *kin) {
  if (!kin) return;
  free(kin->errors);
  free(kin->families);
  free(kin->has_images);
  for (int i = 0; i < 2; i++) free(kin->finds_images[i]);
  free(kin);
}

#endif
