/* catalog_stale.c: what can be said once all databases are read: names, which templates have changed, the order of rows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folders.h"
#include "base/file.h"
#include "library/lookup/catalog.h"

/* Of stencils of one name those with rows come first, so that an import without trust changes no name's meaning; of
 * these the earlier database's counts; within it the one that was measured last. */
static bool is_newer(const struct known_stencil *a, const struct known_stencil *b) {
  if ((*a->newest == '\0') != (*b->newest == '\0')) return *a->newest != '\0';
  if (a->database != b->database) return a->database < b->database;
  return strcmp(a->newest, b->newest) >= 0; /* without any rows, or equal ones: the one that was added last */
}

static halotune_status find_names(struct catalog *c) {
  bool ok = true;
  for (int i = 0; i < c->stencil_count; i++) {
    const char *name = c->stencils[i].name;
    int newest = i;
    for (int k = 0; k < c->stencil_count; k++) {
      if (strcmp(c->stencils[k].name, name) == 0 && is_newer(&c->stencils[k], &c->stencils[newest])) newest = k;
    }
    ok = ok && names_add(&c->stencil_names, name, newest) && names_add(&c->stencil_names, c->stencils[i].hash, i);
  }
  for (int i = 0; i < c->device_count; i++) {
    ok = ok && names_add(&c->device_names, c->devices[i].name, i) && names_add(&c->device_names, c->devices[i].uuid, i);
  }
  return ok ? HALOTUNE_OK : fail_memory();
}

/* The hash of FOLDER/NAME.yaml and .cu; false where they are not there. */
static bool hash_of_files(const char *folder, int length, const char *name, char hex[HASH_HEX_BYTES]) {
  static const char *const extensions[] = {"yaml", "cu"};
  char *both = NULL;
  size_t total = 0;
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) {
    char *path = NULL, *bytes = NULL;
    size_t count = 0;
    ok = asprintf(&path, "%.*s/%s.%s", length, folder, name, extensions[i]) >= 0;
    if (!ok) break;
    ok = file_read(path, MAX_STENCIL_BYTES, &bytes, &count) == HALOTUNE_OK;
    free(path);
    char *longer = ok ? realloc(both, total + count + 1) : NULL;
    ok = longer != NULL;
    if (ok) {
      both = longer;
      memcpy(both + total, bytes, count);
      total += count;
    }
    free(bytes);
  }
  if (ok) hash_hex(hash_bytes(both, total), hex);
  free(both);
  return ok;
}

/* The template of this name that the tuner would use now: from $HALOTUNE_TEMPLATE_PATH, or installed. */
static bool hash_of_installed(const struct data_folders *installed, const char *name, char hex[HASH_HEX_BYTES]) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  for (const char *folder = path ? path : ""; *folder; folder += strcspn(folder, ":"), folder += *folder == ':') {
    int length = (int)strcspn(folder, ":");
    if (length > 0 && hash_of_files(folder, length, name, hex)) return true;
  }
  for (int i = 0; i < installed->count; i++) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder && hash_of_files(folder, length, name, hex)) return true;
  }
  return false;
}

/* A template that only untrusted rows brought must not run either, unless it is one that is installed. */
static void compare_with_installed(struct catalog *c) {
  struct data_folders folders;
  data_folders_find(&folders);
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    char installed[HASH_HEX_BYTES];
    mine->has_file = hash_of_installed(&folders, mine->name, installed);
    mine->is_superseded = mine->has_file && strcmp(installed, mine->hash) != 0;
    mine->is_trusted = mine->wins > 0 || (mine->has_file && !mine->is_superseded);
  }
}

/* With no file to compare with, the earlier database's last one is the newest. */
static void find_superseded(struct catalog *c) {
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    if (mine->has_file) continue;
    for (int k = 0; k < c->template_count; k++) {
      const struct known_template *other = &c->templates[k];
      bool later = other->database < mine->database || (other->database == mine->database && k > i);
      if (later && other->is_trusted && strcmp(other->name, mine->name) == 0) mine->is_superseded = true;
    }
  }
}

/* By family, then by database, and the faster of two GPUs of a model first. */
static int compare_rows(const void *left, const void *right) {
  const struct served *a = left, *b = right;
  if (a->stencil != b->stencil) return a->stencil < b->stencil ? -1 : 1;
  if (a->model != b->model) return a->model < b->model ? -1 : 1;
  if (a->dtype != b->dtype) return a->dtype < b->dtype ? -1 : 1;
  if (a->database != b->database) return a->database < b->database ? -1 : 1;
  return a->time_ms < b->time_ms ? -1 : a->time_ms > b->time_ms;
}

/* Within one database no best is current that is known to be wrong; here one may know it of another's. */
static void drop_refuted(struct catalog *c) {
  int kept = 0;
  refuted_finish(&c->refuted);
  if (c->refuted.count == 0) return;
  for (int i = 0; i < c->row_count; i++) {
    if (!refuted_row(&c->refuted, &c->rows[i])) c->rows[kept++] = c->rows[i];
  }
  c->row_count = kept;
}

halotune_status catalog_finish(struct catalog *c) {
  halotune_status status = find_names(c);
  if (status != HALOTUNE_OK) return status;
  compare_with_installed(c);
  find_superseded(c);
  drop_refuted(c);
  for (int i = 1; i < c->row_count; i++) {
    if (compare_rows(&c->rows[i - 1], &c->rows[i]) <= 0) continue;
    qsort(c->rows, (size_t)c->row_count, sizeof *c->rows, compare_rows);
    break;
  }
  return HALOTUNE_OK;
}
