/* kin.h: what the rows of all stencils are worth for one stencil. */
#ifndef LIBRARY_LOOKUP_KIN_H
#define LIBRARY_LOOKUP_KIN_H

#include <stdbool.h>

#include "base/fail.h"

struct question;

struct kin {
  float *errors; /* for each stencil, what its rows add to the error; infinite: its rows say nothing */
  int *families; /* the families of rows that say something, by their numbers in the table */
  int family_count;
  bool *has_images;      /* for each stencil; NULL if the stencil in question has no images */
  bool *finds_images[2]; /* for the first template of each name: whether it has a row of a stencil with images; [0] of
                            a GPU, [1] of an emulation. NULL where has_images is */
};

/* Get the kin of the question's stencil. The first call makes it; it lives as long as the ctx.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status kin_of_question(const struct question *question, const struct kin **out);

void kin_free(struct kin *kin);

#endif
