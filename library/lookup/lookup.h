/* lookup.h: the reserved members of a halotune_config, in which the library keeps where the configuration comes from.
 */
#ifndef LIBRARY_LOOKUP_LOOKUP_H
#define LIBRARY_LOOKUP_LOOKUP_H

#include "library/lookup/choose.h"

enum config_place { CONFIG_CTX, CONFIG_ROW, CONFIG_STENCIL, CONFIG_TEMPLATE, CONFIG_SEAL, CONFIG_PLACES };

/* Returns HALOTUNE_OK if halotune_lookup of this library filled the configuration. Else HALOTUNE_ARGUMENT, with a
 * message that names the function. */
halotune_status config_check(const halotune_config *config, const char *function);

/* Read back the problem and the answer of a checked configuration, which this ctx made. Returns HALOTUNE_OK;
 * HALOTUNE_ARGUMENT if a member was changed; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status config_read(struct halotune_ctx *ctx, const halotune_config *config, struct lookup_key *key,
                            struct answer *out);

/* Like halotune_lookup, for a device of the ctx's catalog. problem->device is not looked at. */
halotune_status lookup_on(struct halotune_ctx *ctx, const halotune_problem *problem, const struct known_device *device,
                          halotune_config *out);

/* Find whether a row of exactly this problem is stored, of at most as many steps as the problem allows. halotune_lookup
 * may still answer with another row, or call this one stale.
 * Returns HALOTUNE_OK, or what halotune_lookup returns if the problem, its stencil or its device is not known. */
halotune_status lookup_has_row(struct halotune_ctx *ctx, const halotune_problem *problem, bool *out);

#endif
