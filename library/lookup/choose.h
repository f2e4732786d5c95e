/* choose.h: which configuration a problem gets that has no row of its own: nearby ones whose rules it keeps, else defaults. */
#ifndef LIBRARY_LOOKUP_CHOOSE_H
#define LIBRARY_LOOKUP_CHOOSE_H

#include "library/lookup/context.h"

/* What a configuration is wanted for. */
struct question {
  struct halotune_ctx *ctx;
  const struct parsed_stencil *parsed;
  const struct known_device *device;
  struct lookup_key key;
  struct domain domain;
  double facts[FACT_COUNT];
  int alignment_bytes; /* of the pointers; 0: as much as is wanted */
  bool in_place;       /* an output is an input */
  bool no_textures;
};

struct answer {
  halotune_match match;
  const struct served *row; /* NULL for a default */
  int template_at;          /* in the catalog */
  struct configuration configuration;
};

/* Begin a question on a dense grid, with any alignment.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid that the stencil cannot have; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status question_begin(struct halotune_ctx *ctx, const struct lookup_key *key,
                               const struct known_device *device, struct question *out);

/* Say what the pointers' addresses are multiples of; 0: of as much as is wanted. */
void question_set_alignment(struct question *question, int alignment_bytes);

/* Change the domain. */
void question_set_domain(struct question *question, const struct domain *domain);

/* Find the configuration: of the rows of the device's model the nearest that fits, else of its architecture, else the default of
 * the template that wins most often.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where nothing fits; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status choose(const struct question *question, struct answer *out);

/* Whether a configuration fits: rules, alignment, aliasing. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status choose_check(const struct question *question, const struct template *template,
                             const struct configuration *configuration, bool *fits);

/* What pointers must be multiples of for a variant. Vectors are aligned to their size, textures to what every GPU asks
 * for, arrays with tensor maps to 16 bytes; a template that does not say how wide its accesses are may use the widest.
 *   out  receives the bytes, a power of two
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status variant_alignment(const struct question *question, const struct template *template,
                                  const struct configuration *configuration, int *out);

#endif
