/* template_definitions.h: named subexpressions, the field `define` of a template's file; private to
 * stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_DEFINITIONS_H
#define STENCIL_TEMPLATE_TEMPLATE_DEFINITIONS_H

#include "stencil/template/template_reader.h"

/* Read `define` if the file has it, and add the names to the scope. A definition may use those above it. */
halotune_status template_definitions_read(struct reader *r);

/* Refuse a definition that no formula uses. */
halotune_status template_definitions_check_use(const struct reader *r);

#endif
