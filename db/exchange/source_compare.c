/* source_compare.c: generates the variant of each source once more. */
#include "db/exchange/source_compare.h"

#include <stdio.h>
#include <string.h>

#include "db/store/query.h"
#include "db/store/regenerate.h"

/* Columns: name, hash, source, name and hash of the template, REGENERATE_COLUMNS. */
static const char sources_sql[] =
    "select s.name || ' ' || t.name, v.source_hash, b.source, t.name, t.hash, " REGENERATE_COLUMNS
    " from " REGENERATE_TABLES " join stencil s on s.id = v.stencil_id"
    " group by v.id order by 1, 2";
enum { FIRST_COLUMN = 5 };

halotune_status sources_compare(struct store *store, void (*tell)(void *context, const struct compared_source *source),
                                void *context) {
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  halotune_status status = query_prepare(store_connection(store), sources_sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    struct generated made;
    char hex[IDENTITY_HEX_BYTES] = "", why[FAIL_TEXT_BYTES] = "";
    status = regenerate(query, FIRST_COLUMN, &made);
    if (status == HALOTUNE_PARSE || status == HALOTUNE_ARGUMENT) {
      snprintf(why, sizeof why, "%s", fail_text());
      status = HALOTUNE_OK;
    } else if (status == HALOTUNE_OK) {
      identity_hex(made.hash, hex);
    }
    const struct compared_source source = {.name = column_text(query, 0),
                                           .hash = column_text(query, 1),
                                           .stored = column_text(query, 2),
                                           .template_name = column_text(query, 3),
                                           .template_hash = column_text(query, 4),
                                           .generated = made.source ? made.source : "",
                                           .why = why,
                                           .is_same = strcmp(hex, column_text(query, 1)) == 0};
    if (status == HALOTUNE_OK) tell(context, &source);
    generated_free(&made);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  return status;
}
