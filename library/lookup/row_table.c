/* row_table.c: a hash set for exact answers, and lists of families for the others. */
#include "library/lookup/row_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/set_hash.h"
#include "library/lookup/priced_family.h"

/* The hash leaves out the modes, so that one chain has the rows of all modes. */
static uint64_t key_hash(const struct lookup_key *key) {
  return set_hash_three((uint64_t)key->n[0] << 32 | key->n[1], (uint64_t)key->n[2] << 32 | (uint32_t)key->stencil,
                        (uint64_t)(uint32_t)key->model << 32 | (uint32_t)key->steps << 1 | key->dtype);
}

static bool is_of_problem(const struct served *row, const struct lookup_key *key) {
  return row->n[0] == key->n[0] && row->n[1] == key->n[1] && row->n[2] == key->n[2] && row->stencil == key->stencil &&
         row->model == key->model && row->dtype == key->dtype && row->steps == key->steps;
}

static bool is_in_mode(const struct served *row, const struct lookup_key *key) {
  return (!key->launch || key->launch == row->launch + 1) && (!key->cache || key->cache == row->cache + 1) &&
         (!key->reproducible || row->reproducible);
}

/* Add a row, unless the table has a better one for the same problem. Rows of earlier databases come first and count.
 * Of one database the fastest counts, since two GPUs of one model may differ. */
static halotune_status table_add(struct lookup_table *table, int number) {
  const struct served *rows = table->catalog->rows, *row = &rows[number];
  struct lookup_key key = {.n = {row->n[0], row->n[1], row->n[2]},
                           .stencil = row->stencil,
                           .model = row->model,
                           .dtype = row->dtype,
                           .steps = row->steps,
                           .launch = (unsigned char)(row->launch + 1),
                           .cache = (unsigned char)(row->cache + 1)};
  const uint64_t hash = key_hash(&key);
  int other;
  for (struct set_walk at = set_walk(&table->by_problem, hash); set_next(&at, &other);) {
    if (is_of_problem(&rows[other], &key) && is_in_mode(&rows[other], &key) &&
        rows[other].reproducible == row->reproducible) {
      if (rows[other].database == row->database && row->time_ms < rows[other].time_ms)
        set_change(&table->by_problem, &at, number);
      return HALOTUNE_OK;
    }
  }
  return set_add(&table->by_problem, hash, number) ? HALOTUNE_OK : fail_memory();
}

/* Where the question names no mode, a steady cache goes first, then a row of this user, then launches on a stream. The
 * user's row counts more than the launch mode, because `tune` chooses that. */
static int rank_of(const struct served *row) {
  return 8 * row->reproducible + 4 * row->cache + 2 * row->is_foreign + row->launch;
}

const struct served *lookup_exact(const struct lookup_table *table, const struct lookup_key *key) {
  const struct served *best = NULL;
  int best_rank = 16, number;
  for (struct set_walk at = set_walk(&table->by_problem, key_hash(key)); best_rank > 0 && set_next(&at, &number);) {
    const struct served *row = &table->catalog->rows[number];
    const int rank = rank_of(row);
    if (rank >= best_rank || !is_of_problem(row, key) || !is_in_mode(row, key)) continue;
    best_rank = rank;
    best = row;
  }
  return best;
}

static halotune_status make_families(struct lookup_table *table) {
  const struct catalog *c = table->catalog;
  table->families = calloc((size_t)c->row_count + 1, sizeof *table->families);
  table->first_family = calloc((size_t)c->stencil_room + 2, sizeof *table->first_family);
  table->priced = calloc((size_t)c->row_count + 1, sizeof *table->priced);
  if (!table->families || !table->first_family || !table->priced) return fail_memory();
  for (int i = 0; i < c->row_count; i++) {
    const struct served *row = &c->rows[i];
    struct lookup_family *last = table->family_count ? &table->families[table->family_count - 1] : NULL;
    if (!last || last->stencil != row->stencil || last->model != row->model || last->dtype != row->dtype ||
        last->steps != row->steps) {
      last = &table->families[table->family_count++];
      *last = (struct lookup_family){row->stencil, row->model, i, i, row->dtype, row->steps};
      table->first_family[row->stencil + 1] = table->family_count;
    }
    last->end = i + 1;
  }
  for (int i = 0; i < c->stencil_room; i++) { /* a stencil without rows has no families */
    if (table->first_family[i + 1] < table->first_family[i]) table->first_family[i + 1] = table->first_family[i];
  }
  return HALOTUNE_OK;
}

halotune_status lookup_table_make(const struct catalog *catalog, struct lookup_table *out) {
  *out = (struct lookup_table){.catalog = catalog};
  halotune_status status =
      set_reserve(&out->by_problem, (size_t)catalog->row_count) ? make_families(out) : fail_memory();
  for (int i = 0; i < catalog->row_count && status == HALOTUNE_OK; i++) {
    if (!catalog->rows[i].is_finalist) status = table_add(out, i);
  }
  if (status != HALOTUNE_OK) lookup_table_free(out);
  return status;
}

void lookup_table_free(struct lookup_table *table) {
  for (int i = 0; table->priced && i < table->family_count; i++) priced_family_free(atomic_load(&table->priced[i]));
  free(table->priced);
  set_free(&table->by_problem);
  free(table->families);
  free(table->first_family);
  *table = (struct lookup_table){0};
}
