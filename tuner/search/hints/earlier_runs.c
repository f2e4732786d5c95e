/* earlier_runs.c: queries for what earlier runs of the problem have. */
#include "tuner/search/hints/earlier_runs.h"

#include <stdlib.h>
#include <string.h>

#include "db/store/query.h"
#include "db/store/sql_parts.h"

/* Earlier runs whose results count in the run ?1. */
#define SAME_RUNS " from run now join run r on r.id <> now.id and " SQL_COUNTS_NOW

static const char all_sql[] =
    "select distinct t.hash, v.parameters" SAME_RUNS " join measurement m on m.run_id = r.id"
    " join variant v on v.id = m.variant_id join template t on t.id = v.template_id where now.id = ?1";

/* The newest result of a variant counts. SQLite takes the other columns from the row that has the max(). */
static const char winners_sql[] =
    "select t.hash, v.parameters" SAME_RUNS " join finalist f on f.run_id = r.id and f.rank = 1"
    " join variant v on v.id = f.variant_id join template t on t.id = v.template_id where now.id = ?1 union"
    " select hash, parameters from (select hash, parameters from"
    " (select t.hash hash, v.parameters parameters, m.outcome outcome, m.median_ms time_ms, max(m.id)" SAME_RUNS
    " join measurement m on m.run_id = r.id join variant v on v.id = m.variant_id join template t on t.id = v.template_id"
    " where now.id = ?1 group by 1, 2) where outcome = 'measured' order by time_ms limit ?2)";

/* ?2: a variant; ?3, ?4: source and template of the default variant. Several variants can have one source, with
 * different parameters. */
static const char scale_sql[] =
    "select coalesce((select d.median_ms from variant v join measurement d on d.run_id = r.id and d.variant_id = v.id"
    " and d.outcome = 'measured' where v.source_hash = ?3 and v.template_id = ?4 order by d.id desc limit 1),"
    " f.median_ms)" SAME_RUNS " join measurement m on m.run_id = r.id and m.variant_id = ?2"
    " left join finalist f on f.run_id = r.id and f.is_default where now.id = ?1 order by m.id desc limit 1";

static int template_find(const struct search_space *space, const char *hex) {
  char own[IDENTITY_HEX_BYTES];
  for (int i = 0; i < space->count; i++) {
    identity_hex(space->templates[i]->hash, own);
    if (strcmp(own, hex) == 0) return i;
  }
  return -1;
}

static halotune_status variants_read(const struct search_space *space, sqlite3_stmt *query, struct proposal_list *out) {
  halotune_status status = HALOTUNE_OK;
  int code = SQLITE_DONE;
  while (status == HALOTUNE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
    int index = template_find(space, column_text(query, 0));
    if (index >= 0) status = proposals_read(out, space, index, column_text(query, 1));
  }
  if (status != HALOTUNE_OK || code == SQLITE_DONE) return status;
  return query_fail(sqlite3_db_handle(query));
}

halotune_status earlier_variants(struct store *store, int64_t run, const struct search_space *space,
                                 enum earlier_choice choice, struct proposal_list *out) {
  sqlite3_stmt *query;
  *out = (struct proposal_list){.count = 0};
  halotune_status status =
      query_prepare(store_connection(store), choice == EARLIER_ALL ? all_sql : winners_sql, &query);
  if (status != HALOTUNE_OK) return status;
  sqlite3_bind_int64(query, 1, run);
  if (choice == EARLIER_WINNERS) sqlite3_bind_int(query, 2, EARLIER_BEST);
  status = variants_read(space, query, out);
  sqlite3_finalize(query);
  if (status != HALOTUNE_OK) proposals_free(out);
  return status;
}

halotune_status earlier_scale(struct store *store, int64_t run, int64_t variant, const struct variant_key *standard,
                              double default_ms, double *out) {
  static const double least = 0.5, most = 2; /* a change of clocks explains no other ratio */
  sqlite3_stmt *query;
  char hex[IDENTITY_HEX_BYTES];
  *out = 1;
  if (!(default_ms > 0)) return HALOTUNE_OK;
  halotune_status status = query_prepare(store_connection(store), scale_sql, &query);
  if (status != HALOTUNE_OK) return status;
  identity_hex(standard->source, hex);
  sqlite3_bind_int64(query, 1, run);
  sqlite3_bind_int64(query, 2, variant);
  sqlite3_bind_text(query, 3, hex, -1, SQLITE_STATIC);
  sqlite3_bind_int64(query, 4, standard->template_id);
  const int code = sqlite3_step(query);
  if (code == SQLITE_ROW) {
    const double scale = column_real(query, 0) / default_ms; /* NaN without a time */
    if (scale >= least && scale <= most) *out = scale;
  } else if (code != SQLITE_DONE) {
    status = query_fail(store_connection(store));
  }
  sqlite3_finalize(query);
  return status;
}
