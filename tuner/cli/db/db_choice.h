/* db_choice.h: the rows of a database that `export` and `forget` choose. */
#ifndef CLI_DB_DB_CHOICE_H
#define CLI_DB_DB_CHOICE_H

#include "db/exchange/chosen_rows.h"
#include "tuner/cli/options/command.h"

/* Read --stencil, --device, --before, and --problem STENCIL[,DTYPE[,GRID]].
 *   name  receives the text into which `out` points, from malloc, which the caller frees; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with the error; HALOTUNE_MEMORY. */
halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name);

/* Whether the choice excludes any rows. */
bool db_choice_is_given(const struct choice *choice);

/* Fail because no row matches the choice. Returns HALOTUNE_NOT_FOUND with the names of the choice, one of which may be
 * misspelt. */
halotune_status db_choice_fail(const struct store *store, const struct choice *choice);

#endif
