/* database.c: opens the database that a command reads. */
#include "tuner/cli/options/database.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/store/query.h"

/* Fail with HALOTUNE_NOT_FOUND if the database has no problem yet. */
static halotune_status check_has_rows(struct store *store) {
  int64_t has_problems = 0;
  halotune_status status =
      query_number(store_connection(store), "select exists (select 1 from problem)", &has_problems);
  if (status != HALOTUNE_OK || has_problems) return status;
  return fail(HALOTUNE_NOT_FOUND, "%s: it holds no tuned problem yet", store_path(store));
}

halotune_status database_open_starter(struct store **out) {
  const halotune_status status = store_open_starter(out);
  return status == HALOTUNE_OK && !*out ? fail(HALOTUNE_NOT_FOUND, "no database of Halotune's is installed") : status;
}

halotune_status database_open(const char *named, const char *reader, struct store **out) {
  struct store *starter;
  struct fail_kept kept;
  const halotune_status own = store_open(named, STORE_READ, out);
  if (named) return own;
  const halotune_status shown = own == HALOTUNE_OK ? check_has_rows(*out) : own;
  if (shown != HALOTUNE_NOT_FOUND && shown != HALOTUNE_IO) return shown; /* IO: there is no home */
  fail_keep(&kept);
  const halotune_status status = database_open_starter(&starter);
  if (status == HALOTUNE_NOT_FOUND) {
    fail_put_back(&kept);
    return own;
  }
  store_close(*out);
  *out = starter;
  if (status != HALOTUNE_OK) return status;
  fprintf(stderr, "halotune: %s; %s the database that comes with Halotune, %s\n", kept.text, reader,
          store_path(starter));
  return HALOTUNE_OK;
}
