/* query_answer.h: a question for the library, and all that is known of its answer. */
#ifndef CLI_QUERY_QUERY_ANSWER_H
#define CLI_QUERY_QUERY_ANSWER_H

#include "library/kernel/kernel_build.h"
#include "library/lookup/lookup.h"
#include "tuner/cli/options/command.h"
#include "tuner/cli/options/loaded_stencil.h"

/* The question, the answer, and what its kernel is made from. Texts and structs belong to the ctx. */
struct query {
  halotune_ctx *ctx;
  halotune_problem problem;
  struct loaded file;                    /* of a stencil that was given as a file */
  char stencil_hash[IDENTITY_HEX_BYTES]; /* the name of a stencil that was given as a file */
  bool is_untuned;                       /* the lookup found no winner that was tuned for exactly this problem */
  halotune_config config;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  double *coefficients; /* the defaults of the file, or of the stencil that the database knows */
};

/* Ask what the command line asks for.
 *   out  filled as far as possible, for query_tell_untrusted after a failure, too; end with query_free
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for an option; or what halotune_open, halotune_lookup and loaded_open
 * return. */
halotune_status query_open(const struct invocation *invocation, struct query *out);

void query_free(struct query *query);

/* The second grid on which the winner was verified: "509x251x499", or "" where the template's rules allowed no second
 * grid.
 * Returns false where that is unknown: there is no winner, or its database is gone. */
enum { QUERY_GRID_BYTES = 64 };
bool query_second_grid(const struct query *query, char grid[QUERY_GRID_BYTES]);

#endif
