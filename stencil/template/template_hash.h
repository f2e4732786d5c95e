/* template_hash.h: the hash of a template's meaning; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_HASH_H
#define STENCIL_TEMPLATE_TEMPLATE_HASH_H

#include "stencil/file/yaml.h"
#include "stencil/template/template.h"

/* Hash the members of the fields `common` and `rules` that name parts of common.yml, in any order: names, values and
 * defaults, as they are written. A program with another common.yml finds the same hash. Sets taken_hash and takes_any.
 *   root  of the template's file
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_hash_taken(struct template *template, const struct yaml *root);

/* Hash everything that decides which kernels a template makes: its name, parameters with values and defaults, rules and
 * formulas with their definitions written out, what it takes from common.yml, the tokens of the CUDA text, and the
 * definitions of common.cuh that it uses. Layout, comments, the order of parameters and rules, the texts of `about` and
 * `otherwise`, the figures of `access` and `unsteady` do not count. Sets old_own_hash, own_hash, common_hash, and hash,
 * which template_identity makes of the last two. Call template_hash_taken first.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_identify(struct template *template, const char *cuda);

#endif
