/* search_path.c: folders and the files in them. */
#include "tuner/cli/search_path.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "base/text.h"

const struct search_kind search_stencils = {"stencil", "kernels", "HALOTUNE_PATH"};
const struct search_kind search_templates = {"template", "templates", "HALOTUNE_TEMPLATE_PATH"};

enum { MAX_FOLDERS = 32 };

struct folders {
  char *names[MAX_FOLDERS];
  int count;
};

static bool add_folder(struct folders *folders, const char *name, size_t length) {
  if (length == 0 || folders->count == MAX_FOLDERS) return true;
  folders->names[folders->count] = strndup(name, length);
  return folders->names[folders->count++] != NULL;
}

static void folders_free(struct folders *folders) {
  for (int i = 0; i < folders->count; i++) free(folders->names[i]);
}

/* In the order of the search. */
static halotune_status folders_find(const struct search_kind *kind, const char *given, struct folders *folders) {
  char installed[512];
  snprintf(installed, sizeof installed, "%s/%s", HALOTUNE_DATA_DIR, kind->folder);
  *folders = (struct folders){.count = 0};
  bool ok = add_folder(folders, given ? given : "", given ? strlen(given) : 0);
  ok = ok && add_folder(folders, kind->folder, strlen(kind->folder));
  for (const char *path = getenv(kind->variable); path && ok;) {
    size_t length = strcspn(path, ":");
    ok = add_folder(folders, path, length);
    path = path[length] ? path + length + 1 : NULL;
  }
  return ok && add_folder(folders, installed, strlen(installed)) ? HALOTUNE_OK : fail_memory();
}

static bool is_path(const char *name) {
  size_t length = strlen(name);
  return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

halotune_status search_find(const struct search_kind *kind, const char *given, const char *name, char **path) {
  struct folders folders;
  struct text searched = {0}, candidate = {0};
  *path = is_path(name) ? strdup(name) : NULL;
  if (is_path(name)) return *path ? HALOTUNE_OK : fail_memory();
  halotune_status status = folders_find(kind, given, &folders);
  for (int i = 0; i < folders.count && status == HALOTUNE_OK && !*path; i++) {
    candidate.length = 0;
    text_printf(&candidate, "%s/%s.yaml", folders.names[i], name);
    text_printf(&searched, "%s%s", i > 0 ? ", " : "", folders.names[i]);
    if (file_is_regular(text_string(&candidate)) && !(*path = strdup(text_string(&candidate)))) status = fail_memory();
  }
  if (status == HALOTUNE_OK && !*path) {
    status = fail(HALOTUNE_NOT_FOUND, "no %s '%s' in %s; 'halotune list %ss' shows what is there", kind->what, name,
                  text_string(&searched), kind->what);
  }
  text_free(&candidate);
  text_free(&searched);
  folders_free(&folders);
  return status;
}

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int compare_file_names(const void *left, const void *right) {
  return strcmp(file_name(*(char *const *)left), file_name(*(char *const *)right));
}

struct paths {
  char **list;
  int count, capacity;
};

/* Add the files of one folder whose names no earlier folder had. */
static bool add_files(struct paths *paths, const char *folder) {
  struct text pattern = {0};
  glob_t found = {0};
  bool ok = true;
  text_printf(&pattern, "%s/*.yaml", folder);
  int result = glob(text_string(&pattern), 0, NULL, &found);
  text_free(&pattern);
  for (size_t i = 0; result == 0 && i < found.gl_pathc && ok; i++) {
    bool known = false;
    for (int k = 0; k < paths->count; k++) known = known || compare_file_names(&paths->list[k], &found.gl_pathv[i]) == 0;
    if (known) continue;
    char **list = array_grow(paths->list, paths->count, &paths->capacity, sizeof *list);
    ok = list != NULL;
    if (ok) paths->list = list;
    if (ok) ok = (list[paths->count++] = strdup(found.gl_pathv[i])) != NULL;
  }
  globfree(&found);
  return ok && result != GLOB_NOSPACE;
}

halotune_status search_all(const struct search_kind *kind, const char *given, char ***out, int *count) {
  struct folders folders;
  struct paths paths = {0};
  halotune_status status = folders_find(kind, given, &folders);
  *out = NULL;
  *count = 0;
  for (int i = 0; i < folders.count && status == HALOTUNE_OK; i++) {
    if (!add_files(&paths, folders.names[i])) status = fail_memory();
  }
  folders_free(&folders);
  if (status != HALOTUNE_OK) {
    search_free(paths.list, paths.count);
    return status;
  }
  if (paths.count > 1) qsort(paths.list, (size_t)paths.count, sizeof *paths.list, compare_file_names);
  *out = paths.list;
  *count = paths.count;
  return HALOTUNE_OK;
}

void search_free(char **paths, int count) {
  for (int i = 0; i < count; i++) free(paths[i]);
  free(paths);
}
