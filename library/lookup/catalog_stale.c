/* catalog_stale.c: what makes a row stale: its template is not the installed one of that name, or a newer one is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data_folders.h"
#include "library/lookup/catalog.h"

/* Read FOLDER/NAME.yaml and .cu; NULL where they cannot be read. */
static struct template *template_of_folder(const char *folder, int length, const char *name) {
  struct template *template = NULL;
  char *path = NULL;
  if (asprintf(&path, "%.*s/%s.yaml", length, folder, name) < 0) return NULL;
  (void)template_read(path, &template);
  free(path);
  return template;
}

/* The template of this name that the tuner would use now: from $HALOTUNE_TEMPLATE_PATH, or installed. */
static struct template *template_of_installed(const struct data_folders *installed, const char *name) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  struct template *template = NULL;
  for (const char *folder = path ? path : ""; *folder && !template;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    int length = (int)strcspn(folder, ":");
    if (length > 0) template = template_of_folder(folder, length, name);
  }
  for (int i = 0; i < installed->count && !template; i++) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder) template = template_of_folder(folder, length, name);
  }
  return template;
}

/* Whether a stored hash names this template: by its meaning, or, in rows of earlier versions, by its texts. */
static bool is_hash_of(const struct template *template, const char *stored) {
  char meaning[HASH_HEX_BYTES], texts[HASH_HEX_BYTES];
  hash_hex(template->hash, meaning);
  hash_hex(template->text_hash, texts);
  return strcmp(stored, meaning) == 0 || strcmp(stored, texts) == 0;
}

/* A template that only untrusted rows brought must not run either, unless it is one that is installed. */
static void compare_with_installed(struct catalog *c) {
  struct data_folders folders;
  data_folders_find(&folders);
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    struct template *installed = template_of_installed(&folders, mine->name);
    mine->has_file = installed != NULL;
    mine->is_superseded = installed && !is_hash_of(installed, mine->hash);
    mine->is_trusted = mine->wins > 0 || (mine->has_file && !mine->is_superseded);
    template_free(installed);
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
