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

/* The rows that this user gave of a stencil. */
struct own_rows {
  int database;     /* the first with such a row */
  const char *date; /* of the newest one there; NULL: there is none */
  bool has_shipped; /* Halotune gave a row of the stencil */
};

/* Whether of two stencils with one meaning `a` has the rows. One that this user measured goes before others, and only
 * such rows decide between two of them. Then comes one with results of Halotune. So a document can change neither the
 * text that a hash means nor the name of this user's results, and a file without a right result changes nothing. */
static bool goes_first(const struct known_stencil *a, const struct known_stencil *b, const struct own_rows *of_a,
                       const struct own_rows *of_b) {
  if (!of_a->date != !of_b->date) return of_a->date;
  if (!of_a->date && of_a->has_shipped != of_b->has_shipped) return of_a->has_shipped;
  if (!of_a->date) return a->giver != b->giver ? a->giver < b->giver : is_newer(a, b);
  return of_a->database != of_b->database ? of_a->database < of_b->database : strcmp(of_a->date, of_b->date) >= 0;
}

/* Find the rows that this user gave of each stencil, by its name. NULL when memory is out; the caller frees it. */
static struct own_rows *find_own(const struct catalog *c) {
  struct own_rows *list = calloc((size_t)c->stencil_count + 1, sizeof *list);
  for (int i = 0; i < c->row_count && list; i++) {
    const struct served *row = &c->rows[i];
    struct own_rows *own = &list[row->named];
    if (row->is_foreign && !row->is_imported) own->has_shipped = true;
    if (row->is_foreign) continue;
    const char *date = date_decides(c->refuted.now, row->date);
    const bool is_first = !own->date || row->database < own->database;
    if (is_first || (row->database == own->database && strcmp(own->date, date) < 0))
      *own = (struct own_rows){row->database, date, own->has_shipped};
  }
  return list;
}

/* Let each hash mean the stencil that has the rows. One without a text has no rows, and cannot be read. Most hashes
 * have one stencil: then the rows of this user are not looked through. */
static bool find_hashes(struct catalog *c) {
  const struct known_stencil *list = c->stencils;
  struct own_rows *own = NULL;
  bool ok = true;
  for (int i = 0; i < c->stencil_count && ok; i++) {
    const int known = names_find(&c->stencil_names, list[i].hash);
    if (!*list[i].text) continue;
    if (known < 0) {
      ok = names_add(&c->stencil_names, list[i].hash, i);
      continue;
    }
    if (!own) own = find_own(c);
    ok = own != NULL;
    if (ok && goes_first(&list[i], &list[known], &own[i], &own[known]))
      names_change(&c->stencil_names, list[i].hash, i);
  }
  free(own);
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

halotune_status catalog_settle_stencils(struct catalog *c) {
  if (!find_hashes(c) || !find_stencil_names(c)) return fail_memory();
  find_rows_of(c);
  return HALOTUNE_OK;
}

/* Choose for each stencil that has the rows of a meaning who has them for the names that are not disputed. The hash
 * then means that name, if this user gave rows of it.
 *   own     for each stencil the rows that this user gave
 *   shared  receives the choice; -1 where all names are disputed */
static void share_rows(struct catalog *c, const struct own_rows *own, int *shared) {
  const struct known_stencil *list = c->stencils;
  for (int i = 0; i < c->stencil_count; i++) shared[i] = list[i].is_disputed ? -1 : i;
  for (int i = 0; i < c->stencil_count; i++) {
    const int meaning = list[i].rows_of, chosen = shared[meaning];
    if (list[i].is_disputed || !list[meaning].is_disputed || !*list[i].text) continue;
    if (chosen < 0 || goes_first(&list[i], &list[chosen], &own[i], &own[chosen])) shared[meaning] = i;
  }
  for (int i = 0; i < c->stencil_count; i++) {
    if (list[i].is_disputed && shared[i] >= 0 && own[shared[i]].date)
      names_change(&c->stencil_names, list[i].hash, shared[i]);
  }
}

/* A disputed name has its rows for itself, and no others. All other rows are for the other names of the meaning, and
 * for texts of further names that a program adds, if the hash means one of these names. */
static halotune_status part_disputed(struct catalog *c) {
  int *shared = malloc(((size_t)c->stencil_count + 1) * sizeof *shared);
  struct own_rows *own = find_own(c);
  const bool ok = shared && own;
  if (ok) share_rows(c, own, shared);
  for (int i = 0; i < c->stencil_count && ok; i++) {
    struct known_stencil *stencil = &c->stencils[i];
    const int chosen = shared[stencil->meaning];
    stencil->rows_of = stencil->is_disputed || chosen < 0 ? i : chosen;
  }
  free(shared);
  free(own);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Choose the stencils whose rows say something of others. A parsed stencil takes some hundred times as much memory as
 * its text, and stays. So those with longer texts than this answer for themselves alone, and so do the last ones of
 * many. Those that this user or Halotune measured come first. */
static void choose_kin(struct catalog *c) {
  const size_t most_bytes = 1 << 16;
  size_t left = 1 << 20;
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < c->stencil_count; i++) {
      struct known_stencil *stencil = &c->stencils[i];
      if (!stencil->has_rows || stencil->is_measured != (turn == 0)) continue;
      const size_t length = strnlen(stencil->text, most_bytes + 1);
      stencil->is_kin = length <= most_bytes && length <= left;
      if (stencil->is_kin) left -= length;
    }
  }
}

halotune_status catalog_give_rows(struct catalog *c) {
  bool is_any_disputed = false;
  for (int i = 0; i < c->stencil_count; i++) is_any_disputed = is_any_disputed || c->stencils[i].is_disputed;
  const halotune_status status = is_any_disputed ? part_disputed(c) : HALOTUNE_OK;
  for (int i = 0; i < c->row_count; i++) {
    struct served *row = &c->rows[i];
    if (!row->is_imported && !c->devices[row->model].is_emulation) c->stencils[row->named].is_measured = true;
    row->stencil = c->stencils[row->named].rows_of;
    c->stencils[row->stencil].has_rows = true;
  }
  choose_kin(c);
  return status;
}
