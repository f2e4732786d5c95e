/* choose.h: which configuration a problem gets that has no row of its own: nearby ones whose rules it keeps, else defaults. */
#ifndef LIBRARY_LOOKUP_CHOOSE_H
#define LIBRARY_LOOKUP_CHOOSE_H

#include "library/lookup/context.h"

/* What a launch asks of a kernel beside its grid. {0} asks for nothing. */
struct demands {
  int alignment_bytes; /* all pointers are multiples of it; 0: of as much as the kernel wants */
  bool in_place;       /* an output is an input */
  bool no_textures;    /* a texture object would have to outlast the launch */
};

/* What a configuration is wanted for. */
struct question {
  struct halotune_ctx *ctx;
  const struct parsed_stencil *parsed;
  const struct known_device *device;
  struct lookup_key key;
  struct domain domain;
  double facts[FACT_COUNT];
  struct demands demands; /* the facts have them, too */
};

struct answer {
  halotune_match match;
  const struct served *row; /* NULL for a default */
  int template_at;          /* in the catalog */
  struct configuration configuration;
};

/* Begin a question on a dense grid, without demands.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a grid that the stencil cannot have; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status question_begin(struct halotune_ctx *ctx, const struct lookup_key *key,
                               const struct known_device *device, struct question *out);

/* Change the demands. */
void question_demand(struct question *question, struct demands demands);

/* Change the domain. */
void question_set_domain(struct question *question, const struct domain *domain);

/* Find the configuration: of the rows of the device's model the nearest that fits, else of its architecture, else the default of
 * the template that wins most often.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND where nothing fits; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status choose(const struct question *question, struct answer *out);

/* Whether a configuration keeps its template's rules. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status choose_check(const struct question *question, const struct template *template,
                             const struct configuration *configuration, bool *fits);

/* Find what a variant's pointers must be multiples of: `pointer_alignment` of templates/common.yml.
 *   out  receives the bytes
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status variant_alignment(const struct question *question, const struct template *template,
                                  const struct configuration *configuration, int *out);

#endif
