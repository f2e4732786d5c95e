/* template_names.h: which names, words and numbers a template's file may use; private to stencil/. They become macros
 * in generated source, and the prelude implements some parameters itself. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_NAMES_H
#define STENCIL_TEMPLATE_TEMPLATE_NAMES_H

#include "stencil/template/template.h"

/* The words of the parameters that the prelude implements, for all templates that declare them. Their order is that of
 * prelude.h's enums. */
extern const char *const coefficient_words[3],
    *const load_path_words[4], *const extents_words[2], *const streaming_words[4], *const weights_words[2];

/* Each of these functions returns NULL if the text is right, else a text that says what is wrong. */

const char *parameter_name_error(const char *name, size_t length);
const char *parameter_word_error(const char *word, size_t length);

/* A number is copied into the source as it is spelled, so C and this program must read it alike. */
const char *parameter_number_error(const char *spelled);

/* Check a text that becomes a comment in generated source. */
const char *about_error(const char *text, size_t length);

/* Check whether a parameter that the prelude implements may have this value. Other parameters may have any value. */
const char *served_value_error(const struct parameter *parameter, int value);

/* Check whether the macros of all parameters and words differ from each other and from the macros that exist already.
 *   wrong, detail  receive which parameter is wrong and why; NULL in `detail`: none is
 * Returns HALOTUNE_OK, also if one is wrong, or HALOTUNE_MEMORY. */
halotune_status template_macros_check(const struct template *template, int *wrong, const char **detail);

#endif
