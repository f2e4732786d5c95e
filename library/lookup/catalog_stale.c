/* catalog_stale.c: reads the installed files of templates: of those that databases know, and of all others. A row is
 * stale if the meaning of these files is another than that of its template. Parsing takes a millisecond or two for each
 * template, so that the first lookup that needs a template compares it (context_is_superseded). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/data_folders.h"
#include "base/file.h"
#include "library/lookup/catalog.h"

/* Keep a text, or use the stored one if it is equal. Returns NULL when memory is out. */
static const char *keep_text(struct catalog *c, const char *text, const char *stored) {
  return strcmp(text, stored) == 0 ? stored : arena_text(&c->arena, text, strlen(text));
}

/* Read FOLDER/NAME.yaml and FOLDER/NAME.cu, if both can be read. */
static halotune_status read_folder(struct catalog *c, struct known_template *mine, const char *folder, int length) {
  static const char *const extensions[] = {"yaml", "cu"};
  char *texts[2] = {NULL, NULL};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < 2 && status == HALOTUNE_OK; i++) {
    char *path = NULL;
    size_t bytes;
    if (asprintf(&path, "%.*s/%s.%s", length, folder, mine->name, extensions[i]) < 0) {
      status = fail_memory();
      break;
    }
    status = file_read(path, MAX_STENCIL_BYTES, &texts[i], &bytes);
    free(path);
  }
  if (status == HALOTUNE_OK) {
    mine->installed_yaml = keep_text(c, texts[0], mine->yaml);
    mine->installed_cuda = keep_text(c, texts[1], mine->cuda);
    if (!mine->installed_yaml || !mine->installed_cuda) status = fail_memory();
  }
  for (int i = 0; i < 2; i++) free(texts[i]);
  return status == HALOTUNE_MEMORY ? status : HALOTUNE_OK;
}

/* Read the files of this name that the tuner would use now: from $HALOTUNE_TEMPLATE_PATH, or the installed ones. */
static halotune_status read_installed(struct catalog *c, const struct data_folders *installed,
                                      struct known_template *mine) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  halotune_status status = HALOTUNE_OK;
  for (const char *folder = path ? path : ""; *folder && !mine->installed_yaml && status == HALOTUNE_OK;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    int length = (int)strcspn(folder, ":");
    if (length > 0) status = read_folder(c, mine, folder, length);
  }
  for (int i = 0; i < installed->count && !mine->installed_yaml && status == HALOTUNE_OK; i++) {
    char folder[PATH_MAX];
    int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder) status = read_folder(c, mine, folder, length);
  }
  return status;
}

/* Whether the catalog has a template of this name whose texts are the installed ones. */
static bool has_installed(const struct catalog *c, const char *name, size_t length) {
  for (int i = 0; i < c->template_count; i++) {
    const struct known_template *known = &c->templates[i];
    if (strncmp(known->name, name, length) != 0 || known->name[length] != '\0') continue;
    if (known->installed_yaml == known->yaml && known->installed_cuda == known->cuda) return true;
  }
  return false;
}

/* Add FOLDER/NAME.yaml and FOLDER/NAME.cu as a template that no database has. */
static halotune_status add_template(struct catalog *c, const char *folder, int folder_length, const char *name,
                                    size_t length) {
  if (has_installed(c, name, length)) return HALOTUNE_OK;
  struct known_template added = {.name = arena_text(&c->arena, name, length), .yaml = "", .cuda = ""};
  if (!added.name) return fail_memory();
  halotune_status status = read_folder(c, &added, folder, folder_length);
  if (status != HALOTUNE_OK || !added.installed_yaml) return status;
  if (!array_room(c->templates, c->template_count, c->template_room)) return fail_memory();
  added.yaml = added.installed_yaml;
  added.cuda = added.installed_cuda;
  added.database = c->database_count; /* behind all databases */
  atomic_init(&added.standing, STANDING_CURRENT);
  c->templates[c->template_count++] = added;
  return HALOTUNE_OK;
}

static int is_yaml(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length > strlen(".yaml") && strcmp(entry->d_name + length - strlen(".yaml"), ".yaml") == 0;
}

/* Add the templates of a folder, in the order of their names, so that the order of files on a disk decides nothing. */
static halotune_status add_folder(struct catalog *c, const char *folder, int length) {
  char path[PATH_MAX];
  struct dirent **entries;
  halotune_status status = HALOTUNE_OK;
  if (snprintf(path, sizeof path, "%.*s", length, folder) >= (int)sizeof path) return HALOTUNE_OK;
  const int count = scandir(path, &entries, is_yaml, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (status == HALOTUNE_OK) status = add_template(c, folder, length, name, strlen(name) - strlen(".yaml"));
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return status;
}

/* Call `use` for each folder of templates, in the order in which the tuner searches them. */
static halotune_status each_folder(struct catalog *c, const struct data_folders *installed,
                                   halotune_status (*use)(struct catalog *, const char *, int)) {
  const char *path = getenv("HALOTUNE_TEMPLATE_PATH");
  halotune_status status = HALOTUNE_OK;
  for (const char *folder = path ? path : ""; *folder && status == HALOTUNE_OK;
       folder += strcspn(folder, ":"), folder += *folder == ':') {
    const int length = (int)strcspn(folder, ":");
    if (length > 0) status = use(c, folder, length);
  }
  for (int i = 0; i < installed->count && status == HALOTUNE_OK; i++) {
    char folder[PATH_MAX];
    const int length = snprintf(folder, sizeof folder, "%s/templates", installed->list[i]);
    if (length < (int)sizeof folder) status = use(c, folder, length);
  }
  return status;
}

/* Templates of one name are versions of one template. */
static void find_same_names(struct catalog *c) {
  for (int i = 0; i < c->template_count; i++) {
    int first = 0;
    while (strcmp(c->templates[first].name, c->templates[i].name) != 0) first++;
    c->templates[i].same_name = first;
  }
}

/* Without files to compare with, the last template of the earliest database that has rows counts as the newest. */
static void find_newest(struct catalog *c) {
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    enum standing standing = STANDING_CURRENT;
    if (mine->installed_yaml) continue;
    for (int k = 0; k < c->template_count; k++) {
      const struct known_template *other = &c->templates[k];
      bool later = other->database < mine->database || (other->database == mine->database && k > i);
      if (later && other->wins > 0 && strcmp(other->name, mine->name) == 0) standing = STANDING_SUPERSEDED;
    }
    atomic_init(&mine->standing, standing);
  }
}

halotune_status catalog_find_installed(struct catalog *catalog) {
  struct data_folders folders;
  halotune_status status = HALOTUNE_OK;
  data_folders_find(&folders);
  for (int i = 0; i < catalog->template_count && status == HALOTUNE_OK; i++) {
    status = read_installed(catalog, &folders, &catalog->templates[i]);
  }
  find_newest(catalog);
  if (status == HALOTUNE_OK) status = each_folder(catalog, &folders, add_folder);
  find_same_names(catalog);
  return status;
}
