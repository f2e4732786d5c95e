/* variant_text.h: a variant, printed: its template and the values of its parameters. */
#ifndef CLI_OUTPUT_VARIANT_TEXT_H
#define CLI_OUTPUT_VARIANT_TEXT_H

#include "base/text/json.h"
#include "stencil/template/template.h"

/* The option of commands that print variants; main reads it. */
#define LONG_OPTION \
  { "long", NULL, "show all parameters of a variant; a terminal shows those that differ from their defaults" }

/* Append "direct block_x=128 block_y=1 ...": all parameters, or on a terminal without --long those that differ from
 * their defaults. */
void variant_text(const struct template *template, const struct configuration *configuration, struct text *text);

/* Like variant_text, from the texts of a result.
 *   template  NULL: unknown, so that all parameters are appended
 *   words     "block_x=128 storage=planes" */
void variant_words_text(const char *name, const struct template *template, const char *words, struct text *text);

/* Append " block_x=128 storage=planes"; but on a terminal without --long only the parameters that differ from the
 * template's defaults, or " defaults" if none differs.
 *   template    NULL: unknown, so that all parameters are appended
 *   parameters  as a database stores them: {"block_x":128,"storage":"planes"} */
void parameters_text_brief(const struct template *template, const char *parameters, struct text *text);

/* {"block_x": 128, ...}: a new reference; NULL when memory is out. */
json_t *variant_json(const struct template *template, const struct configuration *configuration);

/* A parameter's value: a number or a word. A new reference; NULL when memory is out. */
json_t *parameter_value_json(const struct parameter *parameter, int choice);

#endif
