/* catalog_stale.c: reads the installed files of templates that databases know, and of all others. A row is stale if the
 * meaning of these files differs from the meaning of its template. Parsing takes a millisecond or two for each
 * template, so that the first lookup that needs a template compares it (context_is_superseded). */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "library/lookup/catalog.h"
#include "library/lookup/installed.h"

/* Keep a text, or use the stored one if it is equal. Returns NULL when memory is out. */
static const char *keep_text(struct catalog *c, const char *text, const char *stored) {
  return strcmp(text, stored) == 0 ? stored : arena_text(&c->arena, text, strlen(text));
}

/* Keep the texts of an installed template, if there are any, and free them. */
static halotune_status keep_texts(struct catalog *c, struct known_template *mine, struct template_texts *texts) {
  halotune_status status = HALOTUNE_OK;
  if (texts->yaml) {
    mine->installed_yaml = keep_text(c, texts->yaml, mine->yaml);
    mine->installed_cuda = keep_text(c, texts->cuda, mine->cuda);
    if (!mine->installed_yaml || !mine->installed_cuda) status = fail_memory();
  }
  template_texts_free(texts);
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
static halotune_status add_template(struct catalog *c, const struct template_folder *folder, const char *name,
                                    size_t length) {
  if (has_installed(c, name, length)) return HALOTUNE_OK;
  struct known_template added = {.name = arena_text(&c->arena, name, length), .yaml = "", .cuda = ""};
  if (!added.name) return fail_memory();
  struct template_texts texts;
  halotune_status status = template_texts_read(folder, added.name, &texts);
  if (status == HALOTUNE_OK) status = keep_texts(c, &added, &texts);
  if (status != HALOTUNE_OK || !added.installed_yaml) return status;
  if (!array_room(c->templates, c->template_count, c->template_room)) return fail_memory();
  added.yaml = added.installed_yaml;
  added.cuda = added.installed_cuda;
  added.database = c->database_count; /* its place is behind all databases */
  atomic_init(&added.standing, STANDING_CURRENT);
  c->templates[c->template_count++] = added;
  return HALOTUNE_OK;
}

static int is_yaml(const struct dirent *entry) {
  const size_t length = strlen(entry->d_name);
  return length > strlen(".yaml") && strcmp(entry->d_name + length - strlen(".yaml"), ".yaml") == 0;
}

/* Add the templates of a folder, in the order of their names, so that the order of files on a disk decides nothing. */
static halotune_status add_folder(void *context, const struct template_folder *folder, bool *is_over) {
  struct catalog *c = context;
  char path[PATH_MAX];
  struct dirent **entries;
  halotune_status status = HALOTUNE_OK;
  (void)is_over;
  if (snprintf(path, sizeof path, "%.*s", folder->length, folder->path) >= (int)sizeof path) return HALOTUNE_OK;
  const int count = scandir(path, &entries, is_yaml, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    if (status == HALOTUNE_OK) status = add_template(c, folder, name, strlen(name) - strlen(".yaml"));
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return status;
}

/* Link templates of the same name, which are versions of one template. */
static void find_same_names(struct catalog *c) {
  for (int i = 0; i < c->template_count; i++) {
    int first = 0;
    while (strcmp(c->templates[first].name, c->templates[i].name) != 0) first++;
    c->templates[i].same_name = first;
  }
}

/* Which winners a template has. */
struct winners {
  bool is_own;        /* this user gave one, or a finalist */
  const char *newest; /* date of the newest one, of this user if there is one; "" without any */
};

/* Find the winners of each template. NULL when memory is out. */
static struct winners *find_winners(const struct catalog *c) {
  struct winners *list = calloc((size_t)c->template_count + 1, sizeof *list);
  for (int i = 0; i < c->template_count && list; i++) list[i].newest = "";
  for (int i = 0; i < c->row_count && list; i++) {
    const struct served *row = &c->rows[i];
    struct winners *winners = &list[row->template_at];
    const char *date = date_decides(c->refuted.now, row->date);
    if (winners->is_own && row->is_foreign) continue;
    if (!row->is_foreign && !winners->is_own) *winners = (struct winners){true, ""};
    if (!row->is_finalist && strcmp(date, winners->newest) > 0) winners->newest = date;
  }
  return list;
}

/* Whether another version of a template is newer: the earliest database decides, then the newest winner, and then the
 * order in the database. A version of others supersedes none of which this user gave a winner or a
 * finalist. */
static bool is_newer(const struct catalog *c, const struct winners *winners, int other, int mine) {
  const struct known_template *a = &c->templates[other], *b = &c->templates[mine];
  if (a->wins == 0 || strcmp(a->name, b->name) != 0 || (winners[mine].is_own && !winners[other].is_own)) return false;
  if (a->database != b->database) return a->database < b->database;
  const int order = strcmp(winners[other].newest, winners[mine].newest);
  return order != 0 ? order > 0 : other > mine;
}

static bool all_are_installed(const struct catalog *c) {
  for (int i = 0; i < c->template_count; i++) {
    if (!c->templates[i].installed_yaml) return false;
  }
  return true;
}

/* Find the standing of the templates that are not installed: there are no files to compare with. */
static halotune_status find_newest(struct catalog *c) {
  if (all_are_installed(c)) return HALOTUNE_OK;
  struct winners *winners = find_winners(c);
  if (!winners) return fail_memory();
  for (int i = 0; i < c->template_count; i++) {
    struct known_template *mine = &c->templates[i];
    enum standing standing = STANDING_CURRENT;
    if (mine->installed_yaml) continue;
    for (int k = 0; k < c->template_count && standing == STANDING_CURRENT; k++) {
      if (is_newer(c, winners, k, i)) standing = STANDING_SUPERSEDED;
    }
    atomic_init(&mine->standing, standing);
  }
  free(winners);
  return HALOTUNE_OK;
}

halotune_status catalog_find_installed(struct catalog *catalog) {
  struct data_folders folders;
  halotune_status status = HALOTUNE_OK;
  data_folders_find(&folders);
  for (int i = 0; i < catalog->template_count && status == HALOTUNE_OK; i++) {
    struct template_texts texts;
    status = installed_texts(&folders, catalog->templates[i].name, &texts);
    if (status == HALOTUNE_OK) status = keep_texts(catalog, &catalog->templates[i], &texts);
  }
  if (status == HALOTUNE_OK) status = catalog_unite_templates(catalog);
  if (status == HALOTUNE_OK) status = find_newest(catalog);
  if (status == HALOTUNE_OK) status = installed_each_folder(&folders, add_folder, catalog);
  find_same_names(catalog);
  return status;
}
