/* pricing.h: what predictions need of a family of rows, made for the first question that needs it. */
#ifndef LIBRARY_LOOKUP_PRICING_H
#define LIBRARY_LOOKUP_PRICING_H

#include "library/lookup/context.h"
#include "library/lookup/priced_family.h"

/* The numbers of a GPU from which times are predicted. An emulation has no memory whose rate bounds its times. */
struct predict_gpu pricing_gpu(const struct catalog *catalog, const struct known_device *device);

/* Whether the coefficients that a database has for a model count. Those that make no sense do not: the defaults count.
 *   model  the first device of the model */
bool pricing_is_fitted(const struct known_device *model);

/* Get a family with its prices. The first call makes it; it lives as long as the ctx.
 *   number  of the family in the ctx's table
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status pricing_family(struct halotune_ctx *ctx, int number, const struct priced_family **out);

#endif
