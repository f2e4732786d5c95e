/* rename_templates.c: computes the identity of each template, also as older versions did. A row whose name is neither
 * keeps it: `db check` and every import report such a row. */
#include "db/store/rename_templates.h"

#include <stdbool.h>
#include <string.h>

#include "base/text/text.h"
#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "stencil/template/template_read.h"

/* The parts of a template's identity. */
struct parts {
  struct identity own, old_own, common;
};

/* Find the parts for a template with more text behind that of its file.
 *   row  columns: id, name, yaml, cuda, hash, common_hash
 * Returns HALOTUNE_OK, also if it cannot be read: then `is_read` is false. */
static halotune_status identify_row(sqlite3_stmt *row, const char *more, struct parts *out, bool *is_read) {
  struct text yaml = {0};
  struct template *template = NULL;
  text_printf(&yaml, "%s%s", column_text(row, 2), more);
  struct source source = source_of(column_text(row, 1), text_string(&yaml), yaml.length);
  const halotune_status status =
      text_ok(&yaml) ? template_parse(&source, column_text(row, 3), &template) : fail_memory();
  *is_read = status == HALOTUNE_OK;
  if (*is_read) *out = (struct parts){template->own_hash, template->old_own_hash, template->common_hash};
  template_free(template);
  text_free(&yaml);
  return row_is_refused(status) ? HALOTUNE_OK : status;
}

static bool is_name(const char *hash, struct identity own, struct identity common) {
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(template_identity(own, common), hex);
  return strcmp(hex, hash) == 0;
}

static halotune_status put_name(sqlite3_stmt *update, int64_t id, struct identity own, struct identity common) {
  char hash[IDENTITY_HEX_BYTES], common_hash[IDENTITY_HEX_BYTES];
  identity_hex(template_identity(own, common), hash);
  identity_hex(common, common_hash);
  sqlite3_bind_int64(update, 1, id);
  sqlite3_bind_text(update, 2, hash, -1, SQLITE_TRANSIENT);
  sqlite3_bind_text(update, 3, common_hash, -1, SQLITE_TRANSIENT);
  return query_run(update, NULL);
}

static halotune_status rename_template(void *update, sqlite3_stmt *row) {
  const char *hash = column_text(row, 4);
  const int64_t id = sqlite3_column_int64(row, 0);
  struct identity common;
  struct parts is, said; /* `said`: as if it said `sums: update` */
  bool is_read;
  if (!identity_read(column_text(row, 5), &common)) return HALOTUNE_OK;
  halotune_status status = identify_row(row, "", &is, &is_read);
  if (status != HALOTUNE_OK || !is_read || is_name(hash, is.own, common)) return status;
  if (is_name(hash, is.old_own, common)) return put_name(update, id, is.own, common);
  status = identify_row(row, "\nsums: update\n", &said, &is_read);
  if (status != HALOTUNE_OK || !is_read || !is_name(hash, said.old_own, common)) return status;
  /* the common part counts the rule of a file without `sums`, too; that of another common.yml is not known */
  return put_name(update, id, is.own, identity_compare(common, said.common) == 0 ? is.common : common);
}

halotune_status templates_rename(sqlite3 *connection) {
  static const char select_sql[] = "select id, name, yaml, cuda, hash, common_hash from template";
  sqlite3_stmt *select = NULL, *update = NULL;
  halotune_status status = query_prepare(connection, select_sql, &select);
  if (status == HALOTUNE_OK)
    status =
        query_prepare(connection, "update or ignore template set hash = ?2, common_hash = ?3 where id = ?1", &update);
  if (status == HALOTUNE_OK) status = query_each(select, rename_template, update);
  sqlite3_finalize(update);
  sqlite3_finalize(select);
  return status;
}
