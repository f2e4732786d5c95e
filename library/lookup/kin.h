/* kin.h: finds what the rows of all stencils are worth for the stencil of a question. */
#ifndef LIBRARY_LOOKUP_KIN_H
#define LIBRARY_LOOKUP_KIN_H

#include "library/lookup/question.h"
#include "library/lookup/stencil_kin.h"

/* Get the kin of the question's stencil. The first call makes it; it lives as long as the ctx.
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status kin_of_question(const struct question *question, const struct kin **out);

#endif
