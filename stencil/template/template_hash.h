/* template_hash.h: the hash of a template's meaning; private to stencil/template. */
#ifndef STENCIL_TEMPLATE_TEMPLATE_HASH_H
#define STENCIL_TEMPLATE_TEMPLATE_HASH_H

#include "stencil/template/template.h"

/* Hash everything that decides which kernels a template makes: its name, parameters with values and defaults, rules and
 * formulas with their definitions written out, the tokens of the CUDA text, and the definitions of common.cuh that it
 * uses. Layout, comments, the order of parameters and rules, the texts of `about` and `otherwise`, the figures of
 * `access` and `unsteady` do not count. Sets own_hash, common_hash, and hash, which template_identity makes of the two.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status template_identify(struct template *template, const char *cuda);

#endif
