/* template_names.h: which names, words and numbers a template's file may use; private to stencil/. They become macros of
 * generated sources, and the prelude serves some parameters itself. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_NAMES_H
#define STENCIL_TEMPLATE_TEMPLATE_NAMES_H

#include "stencil/template/template.h"

/* The words of the parameters that the prelude serves, in whatever template declares them; in the order of prelude.h's enums. */
extern const char *const coefficient_words[3], *const load_path_words[4], *const extents_words[2],
                                                                              *const streaming_words[4];

/* Each of these returns NULL where all is well, else what is wrong. */

const char *parameter_name_error(const char *name, size_t length);
const char *parameter_word_error(const char *word, size_t length);

/* A number goes into the source as it is spelled, so that C and this program have to read it alike. */
const char *parameter_number_error(const char *spelled);

/* A text that stands in a comment of generated sources. */
const char *about_error(const char *text, size_t length);

/* Whether a parameter that the prelude serves may have this value. Any is right for other parameters. */
const char *served_value_error(const struct parameter *parameter, int value);

/* The macros of all parameters and their words are distinct, and unlike those that are there already.
 *   parameter, detail  receive which one is wrong, and how, where this returns false */
bool template_macros_are_free(const struct template *template, int *parameter, const char **detail);

#endif
