/* source_compare.c: generates the variant of each source once more. */
#include "db/exchange/source_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/query.h"
#include "db/store/regenerate.h"
#include "stencil/template/template_read.h"

/* Columns: name, hash, source, name and hash of the template, REGENERATE_COLUMNS. */
static const char sources_sql[] =
    "select s.name || ' ' || t.name, v.source_hash, b.source, t.name, t.hash, " REGENERATE_COLUMNS
    " from " REGENERATE_TABLES " join stencil s on s.id = v.stencil_id"
    " group by v.id order by 1, 2";
enum { NAME, HASH, STORED, TEMPLATE_NAME, TEMPLATE_HASH, FIRST_COLUMN };

/* The installed template of one name. */
struct installed {
  find_template *find;
  char *name;                /* NULL: none was looked for yet */
  struct template *template; /* NULL if there is none that can be used */
};

static void installed_free(struct installed *installed) {
  template_free(installed->template);
  free(installed->name);
  installed->template = NULL;
  installed->name = NULL;
}

/* Look for the installed template of a row, unless it is the one of the row before. */
static halotune_status installed_find(struct installed *installed, const char *name) {
  if (installed->name && strcmp(installed->name, name) == 0) return HALOTUNE_OK;
  installed_free(installed);
  if (!(installed->name = strdup(name))) return fail_memory();
  const halotune_status status = installed->find(name, &installed->template);
  return status == HALOTUNE_PARSE ? HALOTUNE_OK : status;
}

/* Generate the variant of a row. Two texts of one identity mean the same, and the installed one is not from the file.
 *   is_installed  receives whether the installed template generated it */
static halotune_status source_generate(sqlite3_stmt *row, struct installed *installed, bool *is_installed,
                                       struct generated *made) {
  char hex[IDENTITY_HEX_BYTES] = "";
  *is_installed = false;
  *made = (struct generated){.source = NULL};
  const halotune_status status = installed_find(installed, column_text(row, TEMPLATE_NAME));
  if (status != HALOTUNE_OK) return status;
  if (installed->template) identity_hex(installed->template->hash, hex);
  *is_installed = strcmp(hex, column_text(row, TEMPLATE_HASH)) == 0;
  return regenerate(row, FIRST_COLUMN, *is_installed ? installed->template : NULL, made);
}

halotune_status sources_compare(struct store *store, find_template *find,
                                void (*tell)(void *context, const struct compared_source *source), void *context) {
  struct installed installed = {.find = find};
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store_connection(store), sources_sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    struct generated made;
    char hex[IDENTITY_HEX_BYTES] = "", why[FAIL_TEXT_BYTES] = "";
    bool is_installed;
    status = source_generate(query, &installed, &is_installed, &made);
    if (status == HALOTUNE_PARSE || status == HALOTUNE_ARGUMENT) {
      snprintf(why, sizeof why, "%s", fail_text());
      status = HALOTUNE_OK;
    } else if (status == HALOTUNE_OK) {
      identity_hex(made.hash, hex);
    }
    const struct compared_source source = {.name = column_text(query, NAME),
                                           .hash = column_text(query, HASH),
                                           .stored = column_text(query, STORED),
                                           .is_installed = is_installed,
                                           .generated = made.source ? made.source : "",
                                           .why = why,
                                           .is_same = strcmp(hex, column_text(query, HASH)) == 0};
    if (status == HALOTUNE_OK) tell(context, &source);
    generated_free(&made);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  installed_free(&installed);
  return status;
}
