/* question.h: a problem for which a configuration is wanted, and whether a configuration fits it. */
#ifndef LIBRARY_LOOKUP_QUESTION_H
#define LIBRARY_LOOKUP_QUESTION_H

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
  struct demands demands;   /* the facts hold these, too */
  bool leaves_out_imported; /* no row that a document of others brought answers */
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

/* Find whether a configuration keeps its template's rules. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status question_check(const struct question *question, const struct template *template,
                               const struct configuration *configuration, bool *fits);

/* Verdicts for checks of many configurations. Use them until the question changes. */
struct rule_verdicts question_verdicts(const struct question *question);

/* For what configurations are checked. */
struct rules_problem question_rules_problem(const struct question *question);

/* Like question_check, but each rule that several configurations share is computed once.
 *   again  of this configuration and template; NULL: there is none */
halotune_status question_check_one(const struct question *question, const struct template *template,
                                   const struct configuration *configuration, struct rules_again *again,
                                   struct rule_verdicts *verdicts, bool *fits);

/* Whether a configuration breaks the rule that the last check of it, for such a question, found to be broken. False
 * says nothing. Takes a small part of the time of a check. */
bool question_is_hopeless(const struct rules_problem *problem, const struct rules_again *again,
                          struct rule_verdicts *verdicts);

/* Find the alignment that a variant's pointers need: `pointer_alignment` of templates/common.yml.
 *   out  receives the bytes
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status question_alignment(const struct question *question, const struct template *template,
                                   const struct configuration *configuration, int *out);

/* Whether a configuration was found to be wrong on this problem.
 *   parameters  a text of the catalog */
bool question_is_wrong(const struct question *question, int template_at, const char *parameters);

/* Whether the configuration of a row was found to be wrong on this problem, so that the row does not answer. */
bool question_is_row_wrong(const struct question *question, const struct served *row);

/* The number of configurations that were found to be wrong on this problem. */
long question_wrong_count(const struct question *question);

#endif
