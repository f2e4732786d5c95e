/* catalog_finish.c: the steps after all databases are read: names, rows that are known to be wrong, the order of
 * rows. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/sorted.h"
#include "library/lookup/catalog.h"

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
  if (device->giver != GIVER_OTHERS) return device->is_emulation == (kind == OWN_EMULATION) && kind != KNOWN_GPU;
  return kind == KNOWN_GPU && device->is_known_gpu;
}

/* The name that was added first counts. GPUs come before emulations, since an emulation can have the name of a GPU. An
 * imported device may have any name and UUID. So its name is added only if it is a known GPU; device_find knows the
 * others. */
static bool add_device_names(struct catalog *c, enum device_kind kind) {
  bool ok = true;
  for (int i = 0; i < c->device_count && ok; i++) {
    if (is_of_kind(&c->devices[i], kind)) ok = names_add(&c->device_names, c->devices[i].name, i);
  }
  return ok;
}

/* UUIDs come before names: a recording can give its GPU any name. */
static bool add_uuids(struct catalog *c) {
  bool ok = true;
  for (int i = 0; i < c->device_count && ok; i++) {
    const struct known_device *device = &c->devices[i];
    if (device->giver != GIVER_OTHERS) ok = names_add(&c->device_names, device->uuid, i);
  }
  return ok;
}

static halotune_status find_device_names(struct catalog *c) {
  bool ok = add_uuids(c);
  for (int kind = OWN_GPU; kind <= OWN_EMULATION; kind++) ok = ok && add_device_names(c, (enum device_kind)kind);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* The question for verdicts about a row. */
static struct refuted question_of(const struct catalog *c, const struct served *row) {
  return (struct refuted){.n = {row->n[0], row->n[1], row->n[2]},
                          .stencil = c->stencils[row->stencil].meaning,
                          .named = row->named,
                          .model = row->model,
                          .template_at = row->template_at,
                          .dtype = row->dtype,
                          .is_own = !row->is_foreign,
                          .is_shipped = row->is_foreign && !row->is_imported,
                          .parameters = row->parameters,
                          .date = row->date,
                          .first = row->database,
                          .last = row->database};
}

/* A finalist is wrong with any verdict: a newer result of this user, or of the giver of the verdict, would have taken
 * it back. */
static enum row_state state_of(const struct catalog *c, const struct served *row) {
  if (c->refuted.count == 0) return ROW_HOLDS;
  const struct refuted question = question_of(c, row);
  return refuted_row(&c->refuted, &question, row->is_finalist);
}

/* Drop rows of problems that no lookup can ask for, and rows that are known to be wrong. No database serves a current
 * winner that it knows to be wrong. But a finalist can be wrong, and one database may know that a row of another one is
 * wrong. Find the names whose rows another name disputes. */
static void drop_rows(struct catalog *c) {
  int kept = 0;
  refuted_finish(&c->refuted);
  for (int i = 0; i < c->row_count; i++) {
    const struct served *row = &c->rows[i];
    const enum row_state state = row->steps == 0 ? ROW_IS_WRONG : state_of(c, row);
    if (state == ROW_IS_WRONG) continue;
    if (state == ROW_IS_DISPUTED) c->stencils[row->named].is_disputed = true;
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

/* By family, then by database, then as they were read. */
static int compare_rows(const void *left, const void *right) {
  const struct served *const a = *(const struct served *const *)left, *const b = *(const struct served *const *)right;
  ORDER_BY(a->stencil, b->stencil);
  ORDER_BY(a->model, b->model);
  ORDER_BY(a->dtype, b->dtype);
  ORDER_BY(a->steps, b->steps);
  ORDER_BY(a->database, b->database);
  return a < b ? -1 : a > b;
}

/* Whether the rows are sorted. Mostly they are: a database is tuned one family after the other. */
static bool rows_are_sorted(const struct served *const *order, size_t count) {
  for (size_t i = 1; i < count; i++) {
    if (compare_rows(&order[i - 1], &order[i]) > 0) return false;
  }
  return true;
}

/* Let the rows begin with a cache line: a lookup reads one line more of a row that crosses a border. They stay in their
 * block of memory, because the pages of another one would cost a tenth of an open. */
static halotune_status align_rows(struct catalog *c) {
  const uintptr_t line = sizeof(struct served) - 1;
  struct served *block = array_reserve(c->rows, c->row_count + 1, &c->row_room, sizeof *block);
  if (!block) return fail_memory();
  c->row_block = block;
  c->rows = (struct served *)(((uintptr_t)block + line) & ~line);
  memmove(c->rows, block, (size_t)c->row_count * sizeof *block);
  return HALOTUNE_OK;
}

/* Move each row to its place.
 *   order  for each place where its row is now; it is changed */
static void permute_rows(struct served *rows, int count, const struct served **order) {
  for (int i = 0; i < count; i++) {
    const struct served first = rows[i];
    int at = i;
    while (order[at] != &rows[i]) {
      const int next = (int)(order[at] - rows);
      rows[at] = rows[next];
      order[at] = &rows[at];
      at = next;
    }
    if (at == i) continue;
    rows[at] = first;
    order[at] = &rows[at];
  }
}

static halotune_status sort_rows(struct catalog *c) {
  const size_t count = (size_t)c->row_count;
  halotune_status status = align_rows(c);
  const struct served **order = status == HALOTUNE_OK ? malloc((count + 1) * sizeof *order) : NULL;
  if (!order) return fail_memory();
  for (size_t i = 0; i < count; i++) order[i] = &c->rows[i];
  if (!rows_are_sorted(order, count)) {
    qsort(order, count, sizeof *order, compare_rows);
    permute_rows(c->rows, c->row_count, order);
  }
  free(order);
  return HALOTUNE_OK;
}

halotune_status catalog_finish(struct catalog *c) {
  halotune_status status = leave_room(c);
  if (status == HALOTUNE_OK) status = catalog_settle_stencils(c);
  if (status == HALOTUNE_OK) status = catalog_settle_devices(c);
  if (status == HALOTUNE_OK) status = find_device_names(c);
  if (status != HALOTUNE_OK) return status;
  status = catalog_find_installed(c);
  if (status != HALOTUNE_OK) return status;
  drop_rows(c);
  status = catalog_give_rows(c);
  if (status == HALOTUNE_OK) status = sort_rows(c);
  if (status == HALOTUNE_OK) status = catalog_drop_foreign(c);
  if (status == HALOTUNE_OK) find_copies(c);
  return status;
}
