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
  if ((*a->text == '\0') != (*b->text == '\0')) return *a->text != '\0'; /* without a text it cannot be read */
  if (a_is_own != b_is_own) return a_is_own;
  return a->giver != b->giver ? a->giver < b->giver : is_newer(a, b);
}

/* Let each hash mean the stencil that has the rows.
 *   is_own  for each stencil whether this user gave a row of it */
static bool find_hashes(struct catalog *c, const bool *is_own) {
  bool ok = true;
  for (int i = 0; i < c->stencil_count && ok; i++) {
    const struct known_stencil *list = c->stencils;
    const int known = names_find(&c->stencil_names, list[i].hash);
    if (known < 0) ok = names_add(&c->stencil_names, list[i].hash, i);
    else if (goes_first(&list[i], &list[known], is_own[i], is_own[known]))
      names_change(&c->stencil_names, list[i].hash, i);
  }
  return ok;
}

/* Find for each stencil which one has the rows of its meaning. The rows keep their own stencil until verdicts have been
 * looked at (catalog_finish): a verdict distinguishes names. */
static void find_rows_of(struct catalog *c) {
  for (int i = 0; i < c->stencil_count; i++)
    c->stencils[i].rows_of = names_find(&c->stencil_names, c->stencils[i].hash);
  for (int i = 0; i < c->row_count; i++) c->stencils[c->stencils[c->rows[i].stencil].rows_of].has_rows = true;
  for (int i = 0; i < c->refuted.count; i++) {
    struct refuted *refuted = &c->refuted.list[i];
    refuted->stencil = c->stencils[refuted->named].rows_of;
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

halotune_status catalog_settle_stencils(struct catalog *c) {
  bool *is_own = calloc((size_t)c->stencil_count + 1, sizeof *is_own);
  for (int i = 0; i < c->row_count && is_own; i++) {
    if (!c->rows[i].is_foreign) is_own[c->rows[i].stencil] = true;
  }
  const bool ok = is_own && find_hashes(c, is_own) && find_stencil_names(c);
  free(is_own);
  if (!ok) return fail_memory();
  find_rows_of(c);
  return HALOTUNE_OK;
}
