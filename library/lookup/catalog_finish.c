/* catalog_finish.c: the steps after all databases are read: names, rows that are known to be wrong, the order of
 * rows. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "library/lookup/catalog.h"
#include "library/lookup/device_names.h"

/* Whether a name that two stencils have means `a`. A stencil with rows goes before one without, so that an untrusted
 * import does not change what a name means. Then the earlier database decides, then the newest row. */
static bool is_newer(const struct known_stencil *a, const struct known_stencil *b) {
  if ((*a->newest == '\0') != (*b->newest == '\0')) return *a->newest != '\0';
  if (a->database != b->database) return a->database < b->database;
  return strcmp(a->newest, b->newest) >= 0; /* equal dates, or no rows: the last one counts */
}

static halotune_status list_coefficients(struct parsed_stencil *parsed) {
  const struct stencil *stencil = parsed->stencil;
  parsed->coefficients = calloc((size_t)stencil->coefficient_count + 1, sizeof *parsed->coefficients);
  if (!parsed->coefficients) return fail_memory();
  for (int i = 0; i < stencil->coefficient_count; i++) parsed->coefficients[i] = stencil->coefficients[i].name;
  return HALOTUNE_OK;
}

halotune_status parsed_stencil_make(const struct source *source, struct parsed_stencil **out) {
  struct parsed_stencil *parsed = calloc(1, sizeof *parsed);
  *out = NULL;
  halotune_status status = parsed ? stencil_parse(source, &parsed->stencil) : fail_memory();
  if (status == HALOTUNE_OK) status = analysis_make(parsed->stencil, &parsed->analysis);
  if (status == HALOTUNE_OK) status = list_coefficients(parsed);
  if (status != HALOTUNE_OK) {
    parsed_stencil_free(parsed);
    return status;
  }
  facts_fill_stencil(parsed->stencil, parsed->analysis, parsed->facts);
  parsed->is_basic = parsed->stencil->has_basic_fields && parsed->facts[FACT_uses_axes] == 0 &&
                     analysis_is_plain(parsed->analysis, parsed->stencil);
  *out = parsed;
  return HALOTUNE_OK;
}

void parsed_stencil_free(struct parsed_stencil *parsed) {
  if (!parsed) return;
  free(parsed->coefficients);
  analysis_free(parsed->analysis);
  stencil_free(parsed->stencil);
  free(parsed);
}

/* Leave room for the stencils that a program adds, because the list must not move once it is in use. */
static halotune_status leave_room(struct catalog *c) {
  const int room = c->stencil_count + CATALOG_MOST_ADDED;
  struct known_stencil *list = array_reserve(c->stencils, room, &c->stencil_room, sizeof *list);
  if (!list) return fail_memory();
  memset(list + c->stencil_count, 0, CATALOG_MOST_ADDED * sizeof *list);
  c->stencils = list;
  return HALOTUNE_OK;
}

/* Which devices get their names into the index. */
enum device_kind { OWN_GPU, KNOWN_GPU, OWN_EMULATION };

static bool is_of_kind(const struct known_device *device, enum device_kind kind) {
  if (!device->is_imported) return device->is_emulation == (kind == OWN_EMULATION) && kind != KNOWN_GPU;
  return kind == KNOWN_GPU && device_is_known_gpu(device);
}

/* The name that was added first counts. GPUs come before emulations, since an emulation can have the name of a GPU. An
 * imported device may have any name and UUID. So its name is added only if it is a known GPU; device_find knows the
 * others. */
static bool add_device_names(struct catalog *c, enum device_kind kind) {
  bool ok = true;
  for (int i = 0; i < c->device_count && ok; i++) {
    const struct known_device *device = &c->devices[i];
    if (!is_of_kind(device, kind)) continue;
    ok = names_add(&c->device_names, device->name, i);
    if (ok && kind != KNOWN_GPU) ok = names_add(&c->device_names, device->uuid, i);
  }
  return ok;
}

/* A stencil whose text no database has answers by no name: another database, or a file, may have one of this name. */
static halotune_status find_names(struct catalog *c) {
  bool ok = true;
  for (int i = 0; i < c->stencil_count; i++) {
    const char *name = c->stencils[i].name;
    if (!*c->stencils[i].text) continue;
    const int newest = names_find(&c->stencil_names, name);
    if (newest < 0) ok = ok && names_add(&c->stencil_names, name, i);
    else if (is_newer(&c->stencils[i], &c->stencils[newest])) names_change(&c->stencil_names, name, i);
  }
  for (int i = 0; i < c->stencil_count; i++) ok = ok && names_add(&c->stencil_names, c->stencils[i].hash, i);
  for (int kind = OWN_GPU; kind <= OWN_EMULATION; kind++) ok = ok && add_device_names(c, (enum device_kind)kind);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Whether a row is known to be wrong. A winner is not if it is newer than the verdict. A verdict of another database
 * also holds for newer winners that the user did not measure. A finalist is wrong with any verdict: a newer result of
 * this user, or of the giver of the verdict, would have taken it back. */
static bool is_wrong(const struct catalog *c, const struct served *row) {
  const struct refuted_list *refuted = &c->refuted;
  const struct refuted question = {{row->n[0], row->n[1], row->n[2]},
                                   row->stencil,
                                   row->model,
                                   row->template_at,
                                   row->dtype,
                                   row->parameters,
                                   row->date,
                                   row->database,
                                   row->database};
  if (refuted->count == 0 || !refuted_find(refuted, &question)) return false;
  if (row->is_finalist || refuted_since(refuted, &question)) return true;
  return refuted_elsewhere(refuted, &question) && row->is_foreign;
}

/* Drop rows of problems that no lookup can ask for, and rows that are known to be wrong. No database serves a current
 * winner that it knows to be wrong. But a finalist can be wrong, and one database may know that a row of another one is
 * wrong. */
static void drop_rows(struct catalog *c) {
  int kept = 0;
  refuted_finish(&c->refuted);
  for (int i = 0; i < c->row_count; i++) {
    const struct served *row = &c->rows[i];
    if (row->steps == 0 || is_wrong(c, row)) continue;
    if (kept++ < i) c->rows[kept - 1] = *row;
  }
  c->row_count = kept;
}

/* Find the fastest copy of each model among those that the rows were compared with. Small copies are left out, because
 * they move bytes of the L2 cache. So are copies that are faster than the memory's peak. */
static void find_copies(struct catalog *c) {
  const double least_caches = 4, bytes_of_gbs_in_ms = 1e6; /* a copy counts from so many times the L2 cache on */
  for (int i = 0; i < c->row_count; i++) {
    const struct served *row = &c->rows[i];
    struct known_device *model = &c->devices[row->model];
    const double copy_ms = row->time_ms * row->roof_share;
    const double gbs = (double)row->bytes / (copy_ms * bytes_of_gbs_in_ms);
    if (!row->is_finalist && (double)row->bytes > least_caches * model->l2_bytes && gbs > model->copy_gbs &&
        gbs <= model->memory_gbs)
      model->copy_gbs = gbs;
  }
}

/* By family, then by database, then by time, since two GPUs of one model may differ, then as they were read. */
static int compare_rows(const void *left, const void *right) {
  const struct served *const a = *(const struct served *const *)left, *const b = *(const struct served *const *)right;
  if (a->stencil != b->stencil) return a->stencil < b->stencil ? -1 : 1;
  if (a->model != b->model) return a->model < b->model ? -1 : 1;
  if (a->dtype != b->dtype) return a->dtype < b->dtype ? -1 : 1;
  if (a->steps != b->steps) return a->steps < b->steps ? -1 : 1;
  if (a->database != b->database) return a->database < b->database ? -1 : 1;
  if (a->time_ms != b->time_ms) return a->time_ms < b->time_ms ? -1 : 1;
  return a < b ? -1 : a > b;
}

/* Sort the rows, and move them to whole cache lines: a lookup reads one line more of a row that
 * crosses a border. Rows are large, so their addresses are sorted, and each row moves only once. */
static halotune_status sort_rows(struct catalog *c) {
  const size_t count = (size_t)c->row_count;
  const struct served **order = malloc((count + 1) * sizeof *order);
  struct served *list = aligned_alloc(sizeof *list, (count + 1) * sizeof *list);
  const halotune_status status = order && list ? HALOTUNE_OK : fail_memory();
  for (size_t i = 0; status == HALOTUNE_OK && i < count; i++) order[i] = &c->rows[i];
  if (status == HALOTUNE_OK) qsort(order, count, sizeof *order, compare_rows);
  for (size_t i = 0; status == HALOTUNE_OK && i < count; i++) list[i] = *order[i];
  free(order);
  if (status != HALOTUNE_OK) {
    free(list);
    return status;
  }
  free(c->rows);
  c->rows = list;
  c->row_room = c->row_count + 1;
  return HALOTUNE_OK;
}

/* From so many winners on, finalists do not improve the answers for other grids. On an H200 the answers from winners
 * alone took 1.14, 1.12 and 1.09 times the best of a search with 18, 30 and some 60 grids of a stencil and type. With
 * two finalists of each, they took 0.990, 0.998 and 0.999 times as long. */
enum { ENOUGH_WINNERS = 30 };

enum { CACHES = 2, BITS = 2 };

static bool is_of_family(const struct served *a, const struct served *b) {
  return a->stencil == b->stencil && a->model == b->model && a->dtype == b->dtype && a->steps == b->steps;
}

/* Drop the finalists of families with enough winners of the same cache mode that are as reproducible. The rows are
 * sorted. */
static void drop_needless_finalists(struct catalog *c) {
  int kept = 0;
  for (int first = 0, end; first < c->row_count; first = end) {
    int winners[CACHES][BITS] = {{0}};
    for (end = first; end < c->row_count && is_of_family(&c->rows[first], &c->rows[end]); end++) {
      const struct served *row = &c->rows[end];
      if (!row->is_finalist) winners[row->cache == CACHE_COLD][row->reproducible]++;
    }
    for (int i = first; i < end; i++) {
      const struct served *row = &c->rows[i];
      if (row->is_finalist && winners[row->cache == CACHE_COLD][row->reproducible] >= ENOUGH_WINNERS) continue;
      c->rows[kept++] = *row;
    }
  }
  c->row_count = kept;
}

halotune_status catalog_finish(struct catalog *c) {
  halotune_status status = leave_room(c);
  if (status == HALOTUNE_OK) status = find_names(c);
  if (status != HALOTUNE_OK) return status;
  status = catalog_find_installed(c);
  if (status != HALOTUNE_OK) return status;
  drop_rows(c);
  find_copies(c);
  status = sort_rows(c);
  if (status == HALOTUNE_OK) status = catalog_drop_foreign(c);
  if (status == HALOTUNE_OK) drop_needless_finalists(c);
  return status;
}
