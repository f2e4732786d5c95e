/* template_hash.h: what a template means, as a hash; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_HASH_H
#define STENCIL_TEMPLATE_TEMPLATE_HASH_H

#include "stencil/template/template.h"

/* The hash of all that decides which kernels a template makes: name, parameters with values and defaults, rules and formulas with
 * their definitions written out, and the tokens of the CUDA text. Layout, comments, the order of parameters and rules, what
 * `about` and `otherwise` say, and the figures of `access` do not count.
 *   out  its high half is that of the two files alone, its low half that of the files with what they name in common.yml. So a
 *        database can be checked by a version with another common.yml.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_meaning(const struct template *template, const char *cuda, struct hash *out);

#endif
