/* content.c: one statement a kind, and one that asks the trusted database for the same. */
#include "db/exchange/content.h"

#include <string.h>

#include "base/array.h"
#include "db/store/query.h"

/* All coefficients of a device as one value. */
#define SQL_PREDICTIONS                                                                                                 \
  "(select d.name as name, cast(d.uuid || ' ' || group_concat(p.word, ' ') as blob) as content from (select device_id," \
  " coefficient || '=' || printf('%!.17g', value) as word from prediction order by device_id, coefficient) p"           \
  " join device d on d.id = p.device_id group by d.id)"

/* Columns: name, hash, content (or NULL), of which `hashed` is the kind of the identity. ?1 of the second: the hash, or
 * the content. */
static const struct {
  const char *kind, *hashed, *select, *find;
} kinds[] = {
    {"stencil", NULL,
     "select s.name, x.hash, null from stencil_text x join stencil s on s.id = x.stencil_id order by 1, 2",
     "select 1 from stencil_text where hash = ?1"},
    {"template", NULL, "select name, hash, null from template order by 1, 2", "select 1 from template where hash = ?1"},
    {"source", NULL,
     "select distinct s.name || ' ' || t.name, v.source_hash, null from best b join variant v on v.id = b.variant_id"
     " join stencil s on s.id = v.stencil_id join template t on t.id = v.template_id order by 1, 2",
     "select 1 from variant v join best b on b.variant_id = v.id where v.source_hash = ?1"},
    {"code", "machine code",
     "select s.name || ' ' || t.name, '', b.cubin from best b join variant v on v.id = b.variant_id join stencil s on"
     " s.id = v.stencil_id join template t on t.id = v.template_id where length(b.cubin) > 0 group by b.cubin order by 1",
     "select 1 from best where cubin = ?1"},
    {"times", "coefficients of predicted times", "select name, '', content from " SQL_PREDICTIONS " order by 1, 3",
     "select 1 from " SQL_PREDICTIONS " where content = ?1"},
};

static halotune_status find_known(sqlite3_stmt *find, sqlite3_stmt *row, bool *out) {
  int64_t found = 0;
  *out = false;
  if (!find) return HALOTUNE_OK;
  const bool is_content = sqlite3_column_type(row, 2) == SQLITE_BLOB;
  sqlite3_bind_value(find, 1, sqlite3_column_value(row, is_content ? 2 : 1));
  halotune_status status = query_run(find, &found);
  *out = found == 1;
  return status;
}

halotune_status content_each(struct store *from, struct store *to,
                             void (*tell)(void *context, const struct content *content), void *context) {
  halotune_status status = HALOTUNE_OK;
  for (size_t i = 0; i < COUNT(kinds) && status == HALOTUNE_OK; i++) {
    sqlite3_stmt *select = NULL, *find = NULL;
    int code = SQLITE_DONE;
    status = query_prepare(store_connection(from), kinds[i].select, &select);
    if (status == HALOTUNE_OK && to) status = query_prepare(store_connection(to), kinds[i].find, &find);
    while (status == HALOTUNE_OK && (code = sqlite3_step(select)) == SQLITE_ROW) {
      char hex[IDENTITY_HEX_BYTES];
      struct content content = {kinds[i].kind, column_text(select, 0), column_text(select, 1), false};
      if (sqlite3_column_type(select, 2) == SQLITE_BLOB) {
        identity_hex(
            identity_of(kinds[i].hashed, sqlite3_column_blob(select, 2), (size_t)sqlite3_column_bytes(select, 2)), hex);
        content.hash = hex;
      }
      status = find_known(find, select, &content.is_known);
      if (status == HALOTUNE_OK) tell(context, &content);
    }
    if (status == HALOTUNE_OK && code != SQLITE_DONE) status = query_fail(store_connection(from));
    sqlite3_finalize(select);
    sqlite3_finalize(find);
  }
  return status;
}
