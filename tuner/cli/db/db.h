/* db.h: the parts of `halotune db`. */
#ifndef CLI_DB_DB_H
#define CLI_DB_DB_H

#include "tuner/cli/options/command.h"

/* Each function opens the database that --db names, else the user's own. The files of merge and import follow the
 * first argument. Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a wrong option; HALOTUNE_DB; or the errors of
 * store_open. */
halotune_status db_info(const struct invocation *invocation);
halotune_status db_check(const struct invocation *invocation);
halotune_status db_merge(const struct invocation *invocation);
halotune_status db_export(const struct invocation *invocation);
halotune_status db_fit(const struct invocation *invocation);
halotune_status db_forget(const struct invocation *invocation);
halotune_status db_refresh(const struct invocation *invocation);

/* Fail with HALOTUNE_NOT_FOUND if there is no database at the path: opening it for writing would create one. */
halotune_status db_must_exist(const char *path);

#endif
