/* catalog_stale.c: what makes a row stale: its template is not the installed one of that name, or a newer one is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folders.h"
#include "base/file.h"
#include "library/lookup/catalog.h"

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

void catalog_find_stale(struct catalog *catalog) {
  compare_with_installed(catalog);
  find_superseded(catalog);
}
