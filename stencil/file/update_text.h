/* update_text.h: a stencil's formulas as text. */
#ifndef STENCIL_FILE_UPDATE_TEXT_H
#define STENCIL_FILE_UPDATE_TEXT_H

#include "base/text.h"
#include "stencil/file/stencil.h"

/* Append the update as it will be computed: an assignment a line, each behind `indent`. Returns HALOTUNE_OK or
 * HALOTUNE_MEMORY. */
halotune_status describe_update(struct text *text, const struct stencil *stencil, const char *indent);

/* Append a formula of `exact`. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status describe_formula(struct text *text, const struct stencil *stencil, struct formula formula);

#endif
