/* migrate_names.c: one function a table. A new name that another row has already is not given: the row keeps its old one. */
#include "db/store/migrate_names.h"

#include <string.h>

#include "base/array.h"
#include "db/store/query.h"
#include "stencil/analysis/analysis.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/template/template.h"

/* The new names of a row; one that is "" is not known. */
struct names {
  char hash[IDENTITY_HEX_BYTES], common_hash[IDENTITY_HEX_BYTES];
};

/* Whether a status says that a text is bad, and not that the program cannot go on. */
static bool is_bad_text(halotune_status status) { return status == HALOTUNE_PARSE || status == HALOTUNE_ARGUMENT; }

/* Columns: id, name, text. */
static halotune_status name_stencil(sqlite3_stmt *row, struct names *out) {
  const char *text = column_text(row, 2);
  struct source source = source_of(column_text(row, 1), text, strlen(text));
  struct stencil *stencil = NULL;
  struct analysis *analysis = NULL;
  halotune_status status = stencil_parse(&source, &stencil);
  if (status == HALOTUNE_OK) status = analysis_make(stencil, &analysis);
  if (status == HALOTUNE_OK) identity_hex(analysis->hash, out->hash);
  analysis_free(analysis);
  stencil_free(stencil);
  return is_bad_text(status) ? HALOTUNE_OK : status;
}

/* Columns: id, name, yaml, cuda. */
static halotune_status name_template(sqlite3_stmt *row, struct names *out) {
  const char *yaml = column_text(row, 2);
  struct source source = source_of(column_text(row, 1), yaml, strlen(yaml));
  struct template *template = NULL;
  halotune_status status = template_parse(&source, column_text(row, 3), &template);
  if (status == HALOTUNE_OK) {
    identity_hex(template->hash, out->hash);
    identity_hex(template->common_hash, out->common_hash);
  }
  template_free(template);
  return is_bad_text(status) ? HALOTUNE_OK : status;
}

/* Columns: id, source. */
static halotune_status name_variant(sqlite3_stmt *row, struct names *out) {
  struct identity identity;
  halotune_status status = source_hash(column_text(row, 1), &identity);
  if (status == HALOTUNE_OK) identity_hex(identity, out->hash);
  return status;
}

static const struct {
  const char *select, *update;
  halotune_status (*name)(sqlite3_stmt *row, struct names *out);
} tables[] = {
    {"select id, name, text from stencil", "update or ignore stencil set hash = ?2 where id = ?1", name_stencil},
    {"select id, name, yaml, cuda from template",
     "update or ignore template set hash = ?2, common_hash = ?3 where id = ?1", name_template},
    {"select v.id, b.source from variant v join best b on b.variant_id = v.id group by v.id",
     "update or ignore variant set source_hash = ?2 where id = ?1", name_variant},
};

static halotune_status rename_row(sqlite3_stmt *row, sqlite3_stmt *update, const struct names *names) {
  sqlite3_bind_int64(update, 1, sqlite3_column_int64(row, 0));
  sqlite3_bind_text(update, 2, names->hash, -1, SQLITE_STATIC);
  if (names->common_hash[0]) sqlite3_bind_text(update, 3, names->common_hash, -1, SQLITE_STATIC);
  return query_run(update, NULL);
}

halotune_status migrate_names(sqlite3 *connection) {
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(tables) && status == HALOTUNE_OK; i++) {
    sqlite3_stmt *select = NULL, *update = NULL;
    int code = SQLITE_DONE;
    status = query_prepare(connection, tables[i].select, &select);
    if (status == HALOTUNE_OK) status = query_prepare(connection, tables[i].update, &update);
    while (status == HALOTUNE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
      struct names names = {"", ""};
      status = tables[i].name(select, &names);
      if (status == HALOTUNE_OK && names.hash[0]) status = rename_row(select, update, &names);
    }
    if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(connection);
    sqlite3_finalize(update);
    sqlite3_finalize(select);
  }
  return status;
}
