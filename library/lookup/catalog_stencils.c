/* catalog_stencils.c: which stencil a name or a hash means, where several have it. Two names can have one meaning: the
 * same hash. */
#include <stdlib.h>
#include <string.h>

#include "library/lookup/catalog.h"

/* Whether a name that two stencils have means `a`. A stencil with rows goes before one without, so that an untrusted
 * import does not change what a name means. Then the earlier database decides, then the newest row. */
static bool is_newer(const struct known_stencil *a, const struct known_stencil *b) {
  if ((*a->newest == '\0') != (*b->newest == '\0')) return *a->newest != '\0';
  if (a->database != b->database) return a->database < b->database;
  return strcmp(a->newest, b->newest) >= 0; /* equal dates, or no rows: the last one counts */
}

/* Whether of two stencils with one meaning `a` has the rows. One that this user measured goes before others, so that a
 * document can change neither the text that a hash means nor the name of this user's results. */
static bool goes_first(const struct known_stencil *a, const struct known_stencil *b, bool a_is_own, bool b_is_own) {
  if (a_is_own != b_is_own) return a_is_own;
  return a->giver != b->giver ? a->giver < b->giver : is_newer(a, b);
}

/* Let each hash mean the stencil that has the rows. One without a text has no rows, and cannot be read.
 *   is_own  for each stencil whether this user gave a row of it */
static bool find_hashes(struct catalog *c, const bool *is_own) {
  bool ok = true;
  for (int i = 0; i < c->stencil_count && ok; i++) {
    const struct known_stencil *list = c->stencils;
    const int known = names_find(&c->stencil_names, list[i].hash);
    if (!*list[i].text) continue;
    if (known < 0) ok = names_add(&c->stencil_names, list[i].hash, i);
    else if (goes_first(&list[i], &list[known], is_own[i], is_own[known]))
      names_change(&c->stencil_names, list[i].hash, i);
  }
  return ok;
}

/* Find for each stencil which one has the rows of its meaning. The rows keep their own stencil until verdicts have been
 * looked at: a verdict distinguishes names. */
static void find_rows_of(struct catalog *c) {
  for (int i = 0; i < c->stencil_count; i++) {
    const int known = names_find(&c->stencil_names, c->stencils[i].hash);
    c->stencils[i].rows_of = c->stencils[i].meaning = known >= 0 ? known : i;
    c->stencils[i].of_name = i;
  }
  for (int i = 0; i < c->refuted.count; i++) {
    struct refuted *refuted = &c->refuted.list[i];
    refuted->stencil = c->stencils[refuted->named].meaning;
  }
}

/* A stencil whose text no database has answers by no name: another database, or a file, may have one of this name. */
static bool find_stencil_names(struct catalog *c) {
  bool ok = true;
  for (int i = 0; i < c->stencil_count && ok; i++) {
    const char *name = c->stencils[i].name;
    if (!*c->stencils[i].text) continue;
    const int newest = names_find(&c->stencil_names, name);
    if (newest < 0) ok = names_add(&c->stencil_names, name, i);
    else if (is_newer(&c->stencils[i], &c->stencils[newest])) names_change(&c->stencil_names, name, i);
  }
  return ok;
}

/* Whether this user gave a row of each stencil, by its name. NULL when memory is out; the caller frees it. */
static bool *find_own(const struct catalog *c) {
  bool *is_own = calloc((size_t)c->stencil_count + 1, sizeof *is_own);
  for (int i = 0; i < c->row_count && is_own; i++) {
    if (!c->rows[i].is_foreign) is_own[c->rows[i].stencil] = true;
  }
  return is_own;
}

halotune_status catalog_settle_stencils(struct catalog *c) {
  bool *is_own = find_own(c);
  const bool ok = is_own && find_hashes(c, is_own) && find_stencil_names(c);
  free(is_own);
  if (!ok) return fail_memory();
  find_rows_of(c);
  return HALOTUNE_OK;
}

/* Choose for each stencil that has the rows of a meaning who has them for the names that are not disputed. The hash
 * then means that name, if this user gave rows of it.
 *   is_own  for each stencil whether this user gave a row of it
 *   shared  receives the choice; -1 where all names are disputed */
static void share_rows(struct catalog *c, const bool *is_own, int *shared) {
  const struct known_stencil *list = c->stencils;
  for (int i = 0; i < c->stencil_count; i++) shared[i] = list[i].is_disputed ? -1 : i;
  for (int i = 0; i < c->stencil_count; i++) {
    const int meaning = list[i].rows_of, chosen = shared[meaning];
    if (list[i].is_disputed || !list[meaning].is_disputed || !*list[i].text) continue;
    if (chosen < 0 || goes_first(&list[i], &list[chosen], is_own[i], is_own[chosen])) shared[meaning] = i;
  }
  for (int i = 0; i < c->stencil_count; i++) {
    if (list[i].is_disputed && shared[i] >= 0 && is_own[shared[i]])
      names_change(&c->stencil_names, list[i].hash, shared[i]);
  }
}

/* A disputed name has its rows for itself, and no others. All other rows are for the other names of the meaning, and
 * for texts that a program adds. */
static halotune_status part_disputed(struct catalog *c) {
  int *shared = malloc(((size_t)c->stencil_count + 1) * sizeof *shared);
  bool *is_own = find_own(c);
  const bool ok = shared && is_own;
  if (ok) share_rows(c, is_own, shared);
  for (int i = 0; i < c->stencil_count && ok; i++) {
    struct known_stencil *stencil = &c->stencils[i];
    const int chosen = shared[stencil->meaning];
    stencil->rows_of = stencil->is_disputed || chosen < 0 ? i : chosen;
  }
  free(shared);
  free(is_own);
  return ok ? HALOTUNE_OK : fail_memory();
}

halotune_status catalog_give_rows(struct catalog *c) {
  bool is_any_disputed = false;
  for (int i = 0; i < c->stencil_count; i++) is_any_disputed = is_any_disputed || c->stencils[i].is_disputed;
  const halotune_status status = is_any_disputed ? part_disputed(c) : HALOTUNE_OK;
  for (int i = 0; i < c->row_count; i++) {
    struct served *row = &c->rows[i];
    if (!row->is_imported) c->stencils[row->named].is_measured = true;
    row->stencil = c->stencils[row->named].rows_of;
    c->stencils[row->stencil].has_rows = true;
  }
  return status;
}
