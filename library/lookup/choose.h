/* choose.h: chooses the configuration for a problem without a row of its own. It takes the row with the least predicted
 * time whose rules allow the problem, otherwise a default. */
#ifndef LIBRARY_LOOKUP_CHOOSE_H
#define LIBRARY_LOOKUP_CHOOSE_H

#include "library/lookup/context.h"

/* What a launch demands of a kernel. {0} demands nothing. */
struct demands {
  int alignment_bytes; /* all pointers are multiples of this; 0: they have the alignment that the kernel needs */
  bool in_place;       /* an output lies in the memory of an input */
  bool no_textures;    /* a texture object would have to outlast the launch */
};

/* A problem for which a configuration is wanted. */
struct question {
  struct halotune_ctx *ctx;
  const struct parsed_stencil *parsed;
  const struct known_device *device;
  struct lookup_key key;
  struct domain domain;
  double facts[FACT_COUNT];
  struct demands demands; /* the facts hold these, too */
};

struct answer {
  halotune_match match;
  const struct served *row;     /* NULL for a default */
  int template_at;              /* in the catalog */
  bool is_stale;                /* halotune_lookup sets it */
  struct prediction prediction; /* of a launch on this problem and GPU; NaN if nothing was measured */
  struct configuration configuration;
};

/* Begin a question about a dense grid, without demands. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT if the stencil cannot
 * have this grid; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status question_begin(struct halotune_ctx *ctx, const struct lookup_key *key,
                               const struct known_device *device, struct question *out);

/* Change the demands. */
void question_demand(struct question *question, struct demands demands);

/* Ask for launches of so many time steps. A new question has the number of its key. */
void question_set_steps(struct question *question, int steps);

/* Change the domain. */
void question_set_domain(struct question *question, const struct domain *domain);

/* Whether the configuration of a row was found to be wrong on this problem, so that the row does not answer. */
bool choose_is_refuted(const struct question *question, const struct served *row);

/* Find whether a row of another problem is better than the question's own row, whose run was cut short. The other row
 * must be expected to be faster by more than the prediction's error. It is never worse than the answer before the
 * problem was tuned.
 *   partial  the row of the problem
 *   out      receives the better answer if there is one
 *   found    receives whether there is; false for a row of a whole run, and where no other row can be chosen
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status choose_instead(const struct question *question, const struct served *partial, struct answer *out,
                               bool *found);

/* Choose a configuration.
 * 1. Of the rows of the stencil, in both element types, on GPUs of the architecture, take the one that fits and has the
 *    least predicted time.
 * 2. If none fits, take one of these rows that fits after a change of few parameters.
 * 3. If there is none either, or if the prediction of 1 is doubtful, do the same with the rows of all stencils and
 *    GPUs.
 * 4. Otherwise take the default of the template that wins most often.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if nothing fits; HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status choose(const struct question *question, struct answer *out);

/* A prediction is doubtful from this relative error on. Then rows of other stencils and GPUs are compared, too. */
extern const double choose_doubtful;

/* Find whether a configuration keeps its template's rules. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status choose_check(const struct question *question, const struct template *template,
                             const struct configuration *configuration, bool *fits);

/* Whether a configuration breaks the rule that an earlier check of it found to be broken. False says nothing. Takes a
 * small part of the time of a check. */
bool choose_is_hopeless(const struct question *question, const struct template *template,
                        const struct configuration *configuration);

/* Find the alignment that a variant's pointers need: `pointer_alignment` of templates/common.yml.
 *   out  receives the bytes
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status variant_alignment(const struct question *question, const struct template *template,
                                  const struct configuration *configuration, int *out);

#endif
