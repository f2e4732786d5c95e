/* pricing.h: what predictions need of a family of rows, made for the first question that needs it. */
#ifndef LIBRARY_LOOKUP_PRICING_H
#define LIBRARY_LOOKUP_PRICING_H

#include "library/lookup/context.h"
#include "library/lookup/priced_family.h"

/* The numbers of a GPU from which times are predicted. An emulation has no memory whose rate bounds its times. */
struct predict_gpu pricing_gpu(const struct catalog *catalog, const struct known_device *device);

/* Get a family with its prices. The first call makes it; it lives as long as the ctx.
 *   number  of the family in the ctx's table
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. Threads: any number at once. */
halotune_status pricing_family(struct halotune_ctx *ctx, int number, const struct priced_family **out);

/* The cost of a row's configuration on the problem on which it was measured.
 *   number  of the row's family, which pricing_family made */
struct predict_cost pricing_cost(const struct halotune_ctx *ctx, int number, const struct priced_family *family,
                                 const struct priced_shape *shape, const struct served *row);

#endif
