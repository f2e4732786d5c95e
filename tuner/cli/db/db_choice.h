/* db_choice.h: which rows of a database `export` and `forget` are about. */
#ifndef CLI_DB_DB_CHOICE_H
#define CLI_DB_DB_CHOICE_H

#include "db/exchange/choose.h"
#include "tuner/cli/options/command.h"

/* Read --stencil, --device, --before, and --problem STENCIL[,DTYPE[,GRID]].
 *   name  receives the text that `out` points into, from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with what is wrong; HALOTUNE_MEMORY. */
halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name);

/* Whether the choice is narrower than all rows. */
bool db_choice_is_given(const struct choice *choice);

/* Fail because no row fits the choice. Returns HALOTUNE_NOT_FOUND with the names of the choice, one of which may be
 * misspelt. */
halotune_status db_choice_fail(const struct store *store, const struct choice *choice);

#endif
