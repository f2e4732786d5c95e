/* source_compare.c: generates the variant of each source once more. */
#include "db/exchange/source_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/store/query.h"
#include "db/store/regenerate.h"

/* Columns: name, hash, source, name and hash of the template, variant, REGENERATE_COLUMNS. All stored sources of a
 * variant have its identity, so that one stands for all. Of bests whose source was left out, one stands for those of
 * which the same is generated: grid, text and device are the same. A document may have very many. */
static const char sources_sql[] =
    "select s.name || ' ' || t.name, v.source_hash, b.source, t.name, t.hash, v.id, " REGENERATE_COLUMNS
    " from " REGENERATE_TABLES " join stencil s on s.id = v.stencil_id"
    " group by v.id, iif(b.source = '', json_array(" REGENERATE_COLUMNS
    "), 0) order by 1, 2, v.id, b.source = '', b.id";
enum { NAME, HASH, STORED, TEMPLATE_NAME, TEMPLATE_HASH, VARIANT, FIRST_COLUMN };

/* Generate the variant of a row. Two texts of one identity mean the same, and the installed one is not from the file.
 *   is_installed  receives whether the installed template generated it */
static halotune_status source_generate(sqlite3_stmt *row, struct found_templates *found, struct subject *subject,
                                       bool *is_installed, struct generated *made) {
  int place;
  *is_installed = false;
  *made = (struct generated){.source = NULL};
  const halotune_status status = found_templates_get(found, column_text(row, TEMPLATE_NAME), &place);
  if (status != HALOTUNE_OK) return status;
  *is_installed = strcmp(found->list[place].hash, column_text(row, TEMPLATE_HASH)) == 0;
  return regenerate(row, FIRST_COLUMN, subject, *is_installed ? found->list[place].template : NULL, made);
}

halotune_status sources_compare(struct store *store, find_template *find,
                                void (*tell)(void *context, const struct compared_source *source), void *context) {
  struct found_templates found = {.find = find};
  struct subject subject = {0};
  sqlite3_stmt *query = NULL;
  int code = SQLITE_DONE;
  int64_t same = 0; /* the last variant that was told to be the same */
  halotune_status status = query_prepare(store_connection(store), sources_sql, &query);
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    struct generated made;
    char hex[IDENTITY_HEX_BYTES] = "", why[FAIL_TEXT_BYTES] = "";
    bool is_installed;
    status = source_generate(query, &found, &subject, &is_installed, &made);
    if (row_is_refused(status)) {
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
    const bool is_told = source.is_same && same == sqlite3_column_int64(query, VARIANT);
    if (source.is_same) same = sqlite3_column_int64(query, VARIANT);
    if (status == HALOTUNE_OK && !is_told) tell(context, &source);
    generated_free(&made);
  }
  if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(store));
  sqlite3_finalize(query);
  subject_free(&subject);
  found_templates_free(&found);
  return status;
}
