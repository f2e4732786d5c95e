/* similar.h: an answer for a stencil or a GPU that nobody tuned: the winner of the nearest tuned stencil whose
 * configuration keeps all rules for the problem. */
#ifndef LIBRARY_LOOKUP_SIMILAR_H
#define LIBRARY_LOOKUP_SIMILAR_H

#include "library/lookup/choose.h"

/* Choose among the rows of all stencils with as many dimensions, and of all architectures. Rows of an emulation answer
 * for an emulated device only.
 *   out  receives the answer; its row is NULL if no row fits
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status choose_similar(const struct question *question, struct answer *out);

/* How unlike two stencils are: 0 for equal shape, reach, fields and traffic; infinite if no configuration of one could
 * say anything about the other. */
float similar_distance(const struct parsed_stencil *a, const struct parsed_stencil *b);

/* The time to expect: that of the row, in proportion to the compulsory bytes and to the memory rates of the GPUs. NaN
 * if a rate is not known. */
double similar_expected_ms(const struct catalog *catalog, const struct served *row,
                           const struct parsed_stencil *stencil, const struct lookup_key *key,
                           const struct known_device *device);

#endif
