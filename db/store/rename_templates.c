/* rename_templates.c: computes the identity of each template, also as Halotune 0.1.0 did. */
#include "db/store/rename_templates.h"

#include <string.h>

#include "base/text/text.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "stencil/template/template_read.h"

/* Find the identities of a template with more text behind that of its file. Both are "" if it cannot be read.
 *   row  columns: id, name, yaml, cuda, hash */
static halotune_status identify_row(sqlite3_stmt *row, const char *more, char hash[IDENTITY_HEX_BYTES],
                                    char common_hash[IDENTITY_HEX_BYTES]) {
  struct text yaml = {0};
  struct template *template = NULL;
  *hash = *common_hash = '\0';
  text_printf(&yaml, "%s%s", column_text(row, 2), more);
  struct source source = source_of(column_text(row, 1), text_string(&yaml), yaml.length);
  halotune_status status = text_ok(&yaml) ? template_parse(&source, column_text(row, 3), &template) : fail_memory();
  if (status == HALOTUNE_OK) {
    identity_hex(template->hash, hash);
    identity_hex(template->common_hash, common_hash);
  }
  template_free(template);
  text_free(&yaml);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

static halotune_status rename_template(void *update, sqlite3_stmt *row) {
  const char *old = column_text(row, 4);
  char hash[IDENTITY_HEX_BYTES], common_hash[IDENTITY_HEX_BYTES], other[IDENTITY_HEX_BYTES], unused[IDENTITY_HEX_BYTES];
  halotune_status status = identify_row(row, "", hash, common_hash);
  if (status != HALOTUNE_OK || *hash == '\0' || strcmp(hash, old) == 0) return status;
  status = identify_row(row, "\nsums: update\n", other, unused);
  if (status != HALOTUNE_OK || strcmp(other, old) != 0) return status;
  sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
  sqlite3_bind_text(update, 2, hash, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(update, 3, common_hash, -1, SQLITE_TRANSIENT);
  return query_run(update, NULL);
}

halotune_status templates_rename(sqlite3 *connection) {
  sqlite3_stmt *select = NULL, *update = NULL;
  halotune_status status = query_prepare(connection, "select id, name, yaml, cuda, hash from template", &select);
  if (status == HALOTUNE_OK)
    status =
        query_prepare(connection, "update or ignore template set hash = ?2, common_hash = ?3 where id = ?1", &update);
  if (status == HALOTUNE_OK) status = query_each(select, rename_template, update);
  sqlite3_finalize(update);
  sqlite3_finalize(select);
  return status;
}
