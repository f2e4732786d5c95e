/* rename_templates.c: computes the identity of each template, also as older versions did. A row whose name is neither
 * keeps it: `db check` and every import report such a row. */
#include "db/store/rename_templates.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/text.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "stencil/template/template_read.h"

/* Find the identity of a template's own files with more text behind that of its file.
 *   row  columns: id, name, yaml, cuda, hash, common_hash
 *   old  receives it as databases up to version 9 have it
 * Returns HALOTUNE_OK, also if it cannot be read: then `is_read` is false. */
static halotune_status identify_row(sqlite3_stmt *row, const char *more, struct identity *own, struct identity *old,
                                    bool *is_read) {
  struct text yaml = {0};
  struct template *template = NULL;
  text_printf(&yaml, "%s%s", column_text(row, 2), more);
  struct source source = source_of(column_text(row, 1), text_string(&yaml), yaml.length);
  const halotune_status status =
      text_ok(&yaml) ? template_parse(&source, column_text(row, 3), &template) : fail_memory();
  *is_read = status == HALOTUNE_OK;
  if (*is_read) {
    *own = template->own_hash;
    *old = template->old_own_hash;
  }
  template_free(template);
  text_free(&yaml);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

static bool is_name(const char *hash, struct identity own, struct identity common) {
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(template_identity(own, common), hex);
  return strcmp(hex, hash) == 0;
}

static halotune_status rename_template(void *update, sqlite3_stmt *row) {
  const char *hash = column_text(row, 4);
  struct identity common, own, old, said, unused;
  char hex[IDENTITY_HEX_BYTES];
  bool is_read;
  if (!identity_read(column_text(row, 5), &common)) return HALOTUNE_OK;
  halotune_status status = identify_row(row, "", &own, &old, &is_read);
  if (status != HALOTUNE_OK || !is_read || is_name(hash, own, common)) return status;
  bool is_old = is_name(hash, old, common);
  if (!is_old) {
    status = identify_row(row, "\nsums: update\n", &unused, &said, &is_read);
    is_old = status == HALOTUNE_OK && is_read && is_name(hash, said, common);
  }
  if (status != HALOTUNE_OK || !is_old) return status;
  identity_hex(template_identity(own, common), hex);
  sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
  sqlite3_bind_text(update, 2, hex, -1, SQLITE_TRANSIENT);
  return query_run(update, NULL);
}

halotune_status templates_rename(sqlite3 *connection) {
  static const char select_sql[] = "select id, name, yaml, cuda, hash, common_hash from template";
  sqlite3_stmt *select = NULL, *update = NULL;
  halotune_status status = query_prepare(connection, select_sql, &select);
  if (status == HALOTUNE_OK)
    status = query_prepare(connection, "update or ignore template set hash = ?2 where id = ?1", &update);
  if (status == HALOTUNE_OK) status = query_each(select, rename_template, update);
  sqlite3_finalize(update);
  sqlite3_finalize(select);
  return status;
}
