/* parameters.h: the configuration that the stored parameters of a variant stand for. */
#ifndef LIBRARY_LOOKUP_PARAMETERS_H
#define LIBRARY_LOOKUP_PARAMETERS_H

#include "base/json.h"
#include "stencil/template/template.h"

/* The configuration that a text stands for. False where it is not of this template, or lacks one of its parameters. */
bool parameters_configure(const struct template *template, const char *text, struct configuration *out);

#endif
