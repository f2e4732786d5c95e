/* prelude.h: writes the part of a generated source that stands before the template; private to stencil/. */
#ifndef STENCIL_GENERATE_PRELUDE_H
#define STENCIL_GENERATE_PRELUDE_H

#include "stencil/generate/prelude_parts.h"

/* Append the template's parameters as macros. Ignores a lack of memory; check text_ok. */
void prelude_write_parameters(struct text *text, const struct variant_spec *spec);

/* Append the prelude. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status prelude_write(struct text *text, const struct prelude *prelude);

#endif
