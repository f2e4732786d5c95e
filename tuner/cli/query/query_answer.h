/* query_answer.h: a question for the library, and everything that is known about its answer. */
#ifndef CLI_QUERY_QUERY_ANSWER_H
#define CLI_QUERY_QUERY_ANSWER_H

#include "library/kernel/kernel_build.h"
#include "library/lookup/lookup.h"
#include "tuner/cli/options/command.h"

/* The question, the answer, and what is needed to make its kernel. Texts and structs belong to the ctx. */
struct query {
  halotune_ctx *ctx;
  halotune_problem problem;
  bool names_database; /* the command line names a database */
  bool is_untuned;     /* the lookup found no winner that was tuned for exactly this problem */
  halotune_config config;
  struct answer answer;
  struct question question;
  struct known_device room;
  const struct known_device *device;
  double *coefficients; /* the default values of the text that answers */
};

/* Ask the question of the command line.
 *   out  filled as far as possible, also after a failure, for query_tell_untrusted; end with query_free
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a wrong option; or the errors of halotune_open, halotune_lookup and
 * loaded_open. */
halotune_status query_open(const struct invocation *invocation, struct query *out);

void query_free(struct query *query);

/* Facts of the database about a winner that lookups do not read. */
struct query_stored {
  /* the grid on which it was verified, too: "509x251x499"; "" if the template's rules allowed none */
  char second_grid[64];
  char objective[8]; /* what it was ranked by: "time", "energy" or "edp" */
  double energy_mj;  /* energy of one application on the grid where it was measured; NaN where it was not */
};

/* Append the stencil and type that were measured, "for box2d9 f64, ", if the question names others. */
void query_add_origin(const struct query *query, struct text *out);

/* Read these facts. Returns false if they are unknown, because there is no winner; or because its database has changed
 * since the answer was read, which stderr is told. */
bool query_stored(const struct query *query, struct query_stored *out);

#endif
