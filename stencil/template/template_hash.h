/* template_hash.h: the hash of a template's meaning; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_HASH_H
#define STENCIL_TEMPLATE_TEMPLATE_HASH_H

#include "stencil/template/template.h"

/* Hash everything that decides which kernels a template makes: its name, parameters with values and defaults, rules and
 * formulas with their definitions written out, and the tokens of the CUDA text. Layout, comments, the order of
 * parameters and rules, the texts of `about` and `otherwise`, and the figures of `access` do not count.
 *   out  The high half is the hash of the two files alone. The low half also covers what they name in common.yml. So a
 *        version with another common.yml can still check a database.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_meaning(const struct template *template, const char *cuda, struct hash *out);

#endif
