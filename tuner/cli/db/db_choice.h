/* db_choice.h: which rows of a database `export` and `forget` are about. */
#ifndef CLI_DB_DB_CHOICE_H
#define CLI_DB_DB_CHOICE_H

#include "db/exchange/choose.h"
#include "tuner/cli/options/command.h"

/* Read --stencil, --device, --before, and --problem STENCIL[,DTYPE[,GRID]] as far as the command has them. Its texts
 * are kept in `name`, from malloc, the caller's, NULL on failure.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with what is wrong; HALOTUNE_MEMORY. */
halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name);

/* Whether anything is chosen; without a choice all rows are meant. */
bool db_choice_is_given(const struct choice *choice);

/* HALOTUNE_NOT_FOUND for a choice that no row fits: most likely a name was misspelt. */
halotune_status db_choice_fail(const struct store *store, const struct choice *choice);

#endif
