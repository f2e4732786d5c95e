/* catalog_stale.c: finds stale rows. A row is stale if its template differs from the installed one of that name, or
 * if a newer one is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folders.h"
#include "base/file.h"
#include "library/lookup/catalog.h"

/* How the template of this name in a folder compares with a stored one. */
enum installed { INSTALLED_NONE, INSTALLED_SAME, INSTALLED_OTHER };

static bool is_hash_of(const struct template *template, const char *stored) {
  char hex[IDENTITY_HEX_BYTES];
  identity_hex(template->hash, hex);
  return strcmp(stored, hex) == 0;
}

/* Compare by meaning. Different texts may have the same meaning. Equal texts may have different ones, because they use
 * this program's common.cuh and common.yml. A file that is no valid template counts as different. The template of equal
 * texts is kept for lookups. */
static enum installed compare_meaning(struct known_template *mine, char *const texts[2]) {
  struct template *template;
  struct source yaml = source_of(mine->name, texts[0], strlen(texts[0]));
  bool is_same = template_parse(&yaml, texts[1], &template) == HALOTUNE_OK && is_hash_of(template, mine->hash);
  if (is_same && !mine->parsed && strcmp(texts[0], mine->yaml) == 0 && strcmp(texts[1], mine->cuda) == 0) {
    mine->parsed = template;
  } else {
    template_free(template);
  }
  return is_same ? INSTALLED_SAME : INSTALLED_OTHER;
}

/* Compare with FOLDER/NAME.yaml and FOLDER/NAME.cu. */
static enum installed compare_with_folder(struct known_template *mine, const char *folder, int length) {
  static const char *const extensions[] = {"yaml", "cu"};
  enum installed found = INSTALLED_NONE;
  char *texts[2] = {NULL, NULL};
  bool ok = true;
  for (int i = 0; i < 2 && ok; i++) {
    char *path = NULL;
    size_t bytes;
    ok = asprintf(&path, "%.*s/%s.%s", length, folder, mine->name, extensions[i]) >= 0;
    if (!ok) break;
    ok = file_read(path, MAX_STENCIL_BYTES, &texts[i], &bytes) == HALOTUNE_OK;
    free(path);
  }
  if (ok) found = compare_meaning(mine, texts);
  for (int i = 0; i < 2; i++) free(texts[i]);
  return found;
}

/* Compare with the template of this name that the tuner would use now: from $HALOTUNE_TEMPLATE_PATH, or the installed
 * one. */
static enum installed compare_with_installed(const struct data_folders *installed, struct known_template *mine) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  enum installed found = INSTALLED_NONE;
  for (const char *folder = path ? path : ""; *folder && found == INSTALLED_NONE;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    int length = (int)strcspn(folder, ":");
    if (length > 0) found = compare_with_folder(mine, folder, length);
  }
  for (int i = 0; i < installed->count && found == INSTALLED_NONE; i++) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder) found = compare_with_folder(mine, folder, length);
  }
  return found;
}

/* A template that no row uses serves as a default only if it is installed. */
static void compare_all_with_installed(struct catalog *c) {
  struct data_folders folders;
  data_folders_find(&folders);
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    enum installed installed = compare_with_installed(&folders, mine);
    mine->has_file = installed != INSTALLED_NONE;
    mine->is_superseded = installed == INSTALLED_OTHER;
    mine->is_trusted = mine->wins > 0 || installed == INSTALLED_SAME;
  }
}

/* Without a file to compare with, the last template of the earliest database counts as the newest. */
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
  compare_all_with_installed(catalog);
  find_superseded(catalog);
}
