/* catalog_finalists.c: reads variants that lost against the winner of their problem by little. They may be the fastest
 * on another grid. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/date.h"
#include "db/store/query.h"
#include "db/store/refuted.h"
#include "library/lookup/catalog_reader.h"

/* From so many winners on, finalists do not improve the answers for other grids. On an H200 the answers from winners
 * alone took 1.14, 1.12 and 1.09 times the best of a search with 18, 30 and some 60 grids of a stencil and type. With
 * two finalists of each, they took 0.990, 0.998 and 0.999 times as long. */
enum { ENOUGH_WINNERS = 30 };

/* What the winners of a family have in common, without gaps between the members. */
struct family {
  int stencil, model;
  unsigned short steps;
  unsigned char dtype;
  bool is_cold : 1, is_reproducible : 1;
};

static struct family family_of(const struct served *row) {
  struct family family;
  memset(&family, 0, sizeof family); /* hashed and compared as bytes */
  family.stencil = row->stencil;
  family.model = row->model;
  family.steps = row->steps;
  family.dtype = row->dtype;
  family.is_cold = row->cache == CACHE_COLD;
  family.is_reproducible = row->reproducible;
  return family;
}

/* The families of this database, and their numbers of winners. */
struct families {
  struct set by_hash;
  struct family *list;
  int *winners, *own_winners; /* of each family; own: of this user */
  int *of_row;                /* the family of each row of this database */
  int count;
};

/* Find a family, and add it if it is new. Returns -1 when memory is out. */
static int find_family(struct families *families, const struct family *family) {
  const uint64_t hash = set_hash(family, sizeof *family);
  int number;
  for (struct set_walk at = set_walk(&families->by_hash, hash); set_next(&at, &number);) {
    if (memcmp(&families->list[number], family, sizeof *family) == 0) return number;
  }
  if (!set_add(&families->by_hash, hash, families->count)) return -1;
  families->list[families->count] = *family;
  families->winners[families->count] = families->own_winners[families->count] = 0;
  return families->count++;
}

static void families_free(struct families *families) {
  set_free(&families->by_hash);
  free(families->list);
  free(families->winners);
  free(families->own_winners);
  free(families->of_row);
}

/* Whether lookups need no finalist of a winner. Rows of others do not keep finalists of this user away. */
static bool has_enough_winners(const struct reader *r, const struct families *families,
                               const struct reference *winner) {
  const int family = families->of_row[winner->row];
  const bool is_foreign = r->catalog->rows[r->first_row + winner->row].is_foreign;
  return (is_foreign ? families->winners : families->own_winners)[family] >= ENOUGH_WINNERS;
}

static halotune_status families_make(const struct reader *r, struct families *out) {
  const size_t count = (size_t)r->reference_count + 1;
  *out = (struct families){.list = malloc(count * sizeof *out->list),
                           .winners = malloc(count * sizeof *out->winners),
                           .own_winners = malloc(count * sizeof *out->own_winners),
                           .of_row = malloc(count * sizeof *out->of_row)};
  bool ok = out->list && out->winners && out->own_winners && out->of_row;
  for (int i = 0; ok && i < r->reference_count; i++) {
    const struct served *row = &r->catalog->rows[r->first_row + i];
    const struct family family = family_of(row);
    const int number = find_family(out, &family);
    ok = number >= 0;
    if (!ok) break;
    out->of_row[i] = number;
    out->winners[number]++;
    out->own_winners[number] += !row->is_foreign;
  }
  return ok ? HALOTUNE_OK : fail_memory();
}

/* The finalists of a winner. */
struct finalists {
  struct reader *reader;
  const struct reference *winner;
};

/* Its time is the winner's time, times their ratio in the same rounds. Its date is the date of its own run: the winner
 * may have been measured again after the finalist was found to be wrong. */
static halotune_status take_finalist(void *context, sqlite3_stmt *query) {
  const struct finalists *of = context;
  struct reader *r = of->reader;
  struct catalog *c = r->catalog;
  const int template_at = id_places_find(&r->templates, sqlite3_column_int64(query, 0));
  const double ratio = sqlite3_column_double(query, 2);
  const char *parameters = texts_keep(&c->texts, column_text(query, 1)), *date = column_text(query, 4);
  if (!parameters) return fail_memory();
  if (template_at < 0 || !(ratio > 0)) return HALOTUNE_OK;
  if (!array_room(c->rows, c->row_count, c->row_room)) return fail_memory();
  const struct known_template *template = &c->templates[template_at];
  struct served *row = &c->rows[c->row_count];
  *row = c->rows[r->first_row + of->winner->row];
  row->template_at = template_at;
  row->parameters = parameters;
  row->parameter_count = template->wins > 0 ? template->parameter_count : count_members(parameters);
  row->time_ms *= ratio;
  row->low_ms *= ratio;
  row->high_ms *= ratio;
  row->roof_share /= ratio;
  row->occupancy_64 = occupancy_in_64ths(sqlite3_column_double(query, 3));
  row->is_finalist = true;
  row->date = arena_text(&c->arena, date, strlen(date));
  if (!row->date) return fail_memory();
  row->date_s = date_seconds(row->date);
  c->row_count++;
  return HALOTUNE_OK;
}

/* The finalists of the problem ?1 from runs with its winner ?2. A run of others brings none for a problem that this
 * user measured.
 *   ?3  whether the database has rows of this user and of others */
#define DATE_OF_FINALIST SQL_MEASURED_DATE("m", "r")
#define IS_OWN_RUN SQL_IS_OWN("r")
#define IS_OWN_ROW SQL_IS_OWN("o")
static const char sql_finalists[] =
    "select v.template_id, v.parameters, f.ratio, m.occupancy, " DATE_OF_FINALIST
    " from run r cross join finalist w on w.run_id = r.id and w.variant_id = ?2 and w.rank = 1"
    " cross join finalist f on f.run_id = r.id cross join variant v on v.id = f.variant_id"
    " left join measurement m on m.run_id = f.run_id and m.variant_id = f.variant_id"
    " where r.problem_id = ?1 and " SQL_IS_RUNNER_UP(
        "f") " and (not ?3 or " IS_OWN_RUN
             " or not (exists (select 1 from run o where o.problem_id = ?1 and " IS_OWN_ROW ")"
             " or exists (select 1 from best o where o.problem_id = ?1 and " IS_OWN_ROW ")))";

static halotune_status read_finalists_of(struct reader *r, const struct reference *winner, sqlite3_stmt *query) {
  struct finalists of = {r, winner};
  sqlite3_bind_int64(query, 1, winner->problem);
  sqlite3_bind_int64(query, 2, winner->variant);
  const halotune_status status = query_each(query, take_finalist, &of);
  sqlite3_reset(query);
  return status;
}

halotune_status catalog_read_finalists(struct reader *r) {
  struct families families = {0};
  sqlite3_stmt *query = NULL;
  int64_t is_any = 0;
  halotune_status status =
      query_number(r->connection, "select exists (select 1 from finalist f where " SQL_IS_RUNNER_UP("f") ")", &is_any);
  if (status != HALOTUNE_OK || !is_any) return status;
  status = families_make(r, &families);
  if (status == HALOTUNE_OK) status = query_prepare(r->connection, sql_finalists, &query);
  if (status == HALOTUNE_OK) sqlite3_bind_int(query, 3, r->has_own && r->has_others);
  for (int i = 0; i < r->reference_count && status == HALOTUNE_OK; i++) {
    const struct reference *winner = &r->references[i];
    if (!has_enough_winners(r, &families, winner)) status = read_finalists_of(r, winner, query);
  }
  sqlite3_finalize(query);
  families_free(&families);
  return status;
}
