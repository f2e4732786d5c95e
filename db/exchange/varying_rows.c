/* varying_rows.c: asks who has results of a GPU or a template. */
#include "db/exchange/varying_rows.h"

#include "db/store/query.h"

/* Whether origins have results of a GPU, or of a template.
 *   row      its id, as SQL
 *   origins  their ids, as a statement in brackets */
#define SQL_DEVICE_HAS_RESULTS(row, origins)                                                                     \
  "(exists (select 1 from problem p join run r on r.problem_id = p.id where p.device_id = " row                  \
  " and r.origin_id in " origins ") or exists (select 1 from problem p join best b on b.problem_id = p.id where" \
  " p.device_id = " row " and b.origin_id in " origins                                                           \
  ") or exists (select 1 from prediction c where c.device_id = " row " and c.origin_id in " origins "))"
#define SQL_TEMPLATE_HAS_RESULTS(row, origins)                                                                       \
  "exists (select 1 from variant v where v.template_id = " row                                                       \
  " and (exists (select 1 from measurement m join run r on"                                                          \
  " r.id = m.run_id where m.variant_id = v.id and r.origin_id in " origins ") or v.id in (select f.variant_id from"  \
  " finalist f join run r on r.id = f.run_id where r.origin_id in " origins ") or v.id in (select b.variant_id from" \
  " best b where b.origin_id in " origins ")))"

#define SQL_ALL "(select id from origin)"
#define SQL_OWN "(select id from origin where kind = 'measured')"
/* Those of the signer of a row. */
#define SQL_GIVER_OF_ROW(table)                                                              \
  "(select o.id from " table                                                                 \
  " t join origin g on g.id = t.origin_id join origin o on o.kind = g.kind and o.signer_key" \
  " = g.signer_key where t.id = ?1)"
#define SQL_OF_SIGNER "(select id from origin where ?1 in (signer, signer_key))"

/* Statements of a table, with a row's id as ?1: whether it is this user's, whether its signer has results, and whether
 * anybody has. */
static const struct {
  const char *own, *held, *given;
} asked[] = {
    [TABLE_DEVICE] = {"select origin_id in " SQL_OWN " from device where id = ?1",
                      "select " SQL_DEVICE_HAS_RESULTS("?1", SQL_GIVER_OF_ROW("device")),
                      "select " SQL_DEVICE_HAS_RESULTS("?1", SQL_ALL)},
    /* A tune writes the installed text into a row that keeps its origin. */
    [TABLE_TEMPLATE] = {"select origin_id in " SQL_OWN " or " SQL_TEMPLATE_HAS_RESULTS("?1", SQL_OWN) " from template"
                                                                                                      " where id = ?1",
                        "select " SQL_TEMPLATE_HAS_RESULTS("?1", SQL_GIVER_OF_ROW("template")),
                        "select " SQL_TEMPLATE_HAS_RESULTS("?1", SQL_ALL)},
};

halotune_status varying_decide(sqlite3 *to, int64_t ours, sqlite3 *from, int64_t theirs, enum table_name table,
                               enum varying_word *out) {
  int64_t is_own = 0, is_held = 0, is_given = 0;
  halotune_status status = query_with(to, asked[table].own, ours, &is_own);
  if (status == HALOTUNE_OK) status = query_with(to, asked[table].held, ours, &is_held);
  if (status == HALOTUNE_OK) status = query_with(from, asked[table].given, theirs, &is_given);
  *out = is_own ? VARYING_OWN : is_given && !is_held ? VARYING_YIELDS : VARYING_STAYS;
  return status;
}

halotune_status varying_count_left(struct store *store, const char *signer, long *out) {
  static const char sql[] =
      "select (select count(*) from device d where d.origin_id in " SQL_OF_SIGNER " and not " SQL_DEVICE_HAS_RESULTS(
          "d.id", SQL_OF_SIGNER) ") + (select count(*) from template t where t.origin_id"
                                 " in " SQL_OF_SIGNER " and not " SQL_TEMPLATE_HAS_RESULTS(
                                     "t.id", SQL_OF_SIGNER) " and not " SQL_TEMPLATE_HAS_RESULTS("t.id", SQL_OWN) ")";
  sqlite3_stmt *query = NULL;
  int64_t count = 0;
  halotune_status status = query_prepare(store_connection(store), sql, &query);
  if (status == HALOTUNE_OK) {
    sqlite3_bind_text(query, 1, signer, -1, SQLITE_STATIC);
    status = query_run(query, &count);
  }
  sqlite3_finalize(query);
  *out = (long)count;
  return status;
}
