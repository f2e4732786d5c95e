/* db_choice.h: the rows of a database that `export` and `forget` choose. */
#ifndef CLI_DB_DB_CHOICE_H
#define CLI_DB_DB_CHOICE_H

#include "db/exchange/chosen_rows.h"
#include "tuner/cli/options/command.h"

/* Read --stencil, --device, --signer, --before, --launch, --cache, --steps, --reproducible, and --problem
 * STENCIL[,DTYPE[,GRID]], which must be of --stencil.
 *   name  receives the text into which `out` points, from malloc, which the caller frees; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with the error; HALOTUNE_MEMORY. */
halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name);

/* Where --device is neither the name nor the UUID of a device of the database, let the choice have the name that its
 * words fit best, as in a lookup: "h200".
 *   name  receives the text to which `choice` then points, which the caller frees; NULL if the choice stays as it is
 * Returns HALOTUNE_OK, also if no name fits; HALOTUNE_ARGUMENT if several fit equally well; HALOTUNE_DB;
 * HALOTUNE_MEMORY. */
halotune_status db_choice_find_device(const struct store *store, struct choice *choice, char **name);

/* Whether the choice excludes any rows. */
bool db_choice_is_given(const struct choice *choice);

/* Fail because no row matches the choice. Returns HALOTUNE_NOT_FOUND with the names of the choice, one of which may be
 * misspelt. */
halotune_status db_choice_fail(const struct store *store, const struct choice *choice);

#endif
