/* update_text.h: prints a stencil's update and formulas as text. */
#ifndef STENCIL_FILE_UPDATE_TEXT_H
#define STENCIL_FILE_UPDATE_TEXT_H

#include "base/text/text.h"
#include "stencil/file/stencil.h"

/* Append the update in C syntax, one assignment a line, each line after `indent`. Returns HALOTUNE_OK or
 * HALOTUNE_MEMORY. */
halotune_status describe_update(struct text *text, const struct stencil *stencil, const char *indent);

/* The name of the temporary that holds a node's value when an assignment is printed, because an assignment before it
 * computes this node; NULL for none. */
const char *assigned_temporary(const struct stencil *stencil, int assignment, int node);

/* Append a formula of `exact`. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status describe_formula(struct text *text, const struct stencil *stencil, struct formula formula);

#endif
