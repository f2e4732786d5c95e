/* template_definitions.h: subexpressions with names, the field `define` of a template's file; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_DEFINITIONS_H
#define STENCIL_TEMPLATE_TEMPLATE_DEFINITIONS_H

#include "stencil/template/template_reader.h"

/* Read `define`, where the file has it. Each definition may use those above it; all get into the scope. */
halotune_status template_definitions_read(struct reader *r);

/* Refuse a definition that no formula has used. */
halotune_status template_definitions_check_use(const struct reader *r);

#endif
