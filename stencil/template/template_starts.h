/* template_starts.h: reads the configurations that a template's author expects to be fast; private to
 * stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_STARTS_H
#define STENCIL_TEMPLATE_TEMPLATE_STARTS_H

#include "stencil/template/template_reader.h"

/* Read `starts` if the file has it. The parameters must be known. */
halotune_status template_starts_read(struct reader *r);

#endif
