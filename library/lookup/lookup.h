/* lookup.h: what a halotune_config keeps for the library in its reserved places, and how one is filled. */
#ifndef LIBRARY_LOOKUP_LOOKUP_H
#define LIBRARY_LOOKUP_LOOKUP_H

#include "library/lookup/choose.h"

enum config_place { CONFIG_CTX, CONFIG_ROW, CONFIG_STENCIL, CONFIG_TEMPLATE, CONFIG_PLACES };

/* What a config was made from. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT where it was not made by this ctx. */
halotune_status config_read(struct halotune_ctx *ctx, const halotune_config *config, struct lookup_key *key,
                            struct answer *out);

#endif
