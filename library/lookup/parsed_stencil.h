/* parsed_stencil.h: a stencil that was parsed from its text, with what lookups need of it. */
#ifndef LIBRARY_LOOKUP_PARSED_STENCIL_H
#define LIBRARY_LOOKUP_PARSED_STENCIL_H

#include "stencil/template/facts.h"

struct parsed_stencil {
  struct stencil *stencil;
  struct analysis *analysis;
  const char **coefficients; /* their names, in the order of the file */
  double facts[FACT_COUNT];  /* facts of the stencil itself; all others are 0 */
  bool is_basic; /* it uses only features that every version of the language has; see enum form in stencil_file.c */
};

/* Parse a stencil. `out` is NULL on failure; end it with parsed_stencil_free. Returns HALOTUNE_OK, HALOTUNE_PARSE or
 * HALOTUNE_MEMORY. */
halotune_status parsed_stencil_make(const struct source *source, struct parsed_stencil **out);
void parsed_stencil_free(struct parsed_stencil *parsed);

#endif
