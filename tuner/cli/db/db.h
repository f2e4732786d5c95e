/* db.h: what the parts of `halotune db` share. */
#ifndef CLI_DB_DB_H
#define CLI_DB_DB_H

#include "db/exchange/choose.h"
#include "tuner/cli/options/option_value.h"

/* Open the database that --db names, else the user's own. */
halotune_status db_open(const struct invocation *invocation, enum store_mode mode, struct store **out);

/* Read --stencil, --device, --before, and --problem STENCIL[,DTYPE[,GRID]] as far as the command has them. Its texts
 * are kept in `name`, from malloc, the caller's, NULL on failure.
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT with what is wrong; HALOTUNE_MEMORY. */
halotune_status db_choice(const struct invocation *invocation, struct choice *out, char **name);

/* The parts that have files of their own; the file names stand behind the first argument. db_take_in opens the database
 * itself, once it knows that the files can be taken. */
halotune_status db_info(const struct invocation *invocation, struct store *store);
halotune_status db_take_in(const struct invocation *invocation, struct store *none);

#endif
