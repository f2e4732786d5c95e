/* template_parameters.h: reads the parameters of a template's file; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_PARAMETERS_H
#define STENCIL_TEMPLATE_TEMPLATE_PARAMETERS_H

#include "stencil/template/template_common.h"

/* Read `parameters` and `common`. Adds facts, parameters and the parameters' words to the scope, in this order. */
halotune_status template_parameters_read(struct reader *r, struct reader *common);

#endif
