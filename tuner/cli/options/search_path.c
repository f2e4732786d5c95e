/* search_path.c: makes the list of folders, and finds the files in them. */
#include "tuner/cli/options/search_path.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/data_folders.h"
#include "base/files/exchange.h"
#include "base/files/file.h"
#include "base/files/path.h"
#include "base/memory/array.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "tuner/cli/options/found_files.h"

const struct search_kind search_stencils = {"stencil", "kernels", "HALOTUNE_PATH"};
const struct search_kind search_templates = {"template", "templates", "HALOTUNE_TEMPLATE_PATH"};
const struct search_kind search_asymmetric = {"stencil", "kernels/asymmetric", NULL};

/* A list of texts from malloc. */
struct names {
  char **list;
  int count, capacity;
};

/* The folders that are searched. The folders that the program found by itself are in `found` and in `all`. The user
 * has named the others of `all`. */
struct folders {
  struct names all, found;
  /* The folder of the working directory, if it was not there: messages name it, and it is not searched if it appears
   * later. NULL: it was there, or is not in the list. */
  const char *absent;
};

static bool add_name(struct names *names, const char *name, size_t length) {
  char **list = array_grow(names->list, names->count, &names->capacity, sizeof *list);
  if (!list) return false;
  names->list = list;
  list[names->count] = strndup(name, length);
  return list[names->count] && ++names->count;
}

/* Whether two paths lead to the same folder. Paths of missing folders must be equal as texts. */
static bool is_same_folder(const char *a, const char *b) { return strcmp(a, b) == 0 || file_is_same(a, b); }

/* Whether a folder was not there when the working directory was looked at. */
static bool is_absent(const struct folders *folders, const char *folder) {
  return folders->absent && strcmp(folder, folders->absent) == 0;
}

/* Add a folder at the end of the list, unless it is in the list already. */
static bool add_folder(struct folders *folders, const char *name, size_t length) {
  struct names *all = &folders->all;
  if (!add_name(all, name, length)) return false;
  for (int i = 0; i < all->count - 1; i++) {
    const char *known = all->list[i], *added = all->list[all->count - 1];
    if (is_absent(folders, known) ? strcmp(known, added) != 0 : !is_same_folder(known, added)) continue;
    free(all->list[--all->count]);
    break;
  }
  return true;
}

static bool add_found(struct folders *folders, const char *name, size_t length) {
  const int before = folders->all.count;
  if (!add_folder(folders, name, length)) return false;
  return folders->all.count == before || add_name(&folders->found, name, length);
}

static bool add_installed(struct folders *folders, const struct search_kind *kind) {
  struct data_folders installed;
  struct text folder = {0};
  bool ok = true;
  data_folders_find(&installed);
  for (int i = 0; i < installed.count && ok; i++) {
    folder.length = 0;
    text_printf(&folder, "%s/%s", installed.list[i], kind->folder);
    const char *name = text_string(&folder);
    const bool is_left = text_ok(&folder) && access(name, F_OK) == 0 && !data_is_safe(name);
    ok = text_ok(&folder) && (is_left || add_found(folders, name, folder.length));
  }
  text_free(&folder);
  return ok;
}

static halotune_status check_given(const struct search_kind *kind, const char *given) {
  struct stat facts;
  if (!given || (stat(given, &facts) == 0 && S_ISDIR(facts.st_mode))) return HALOTUNE_OK;
  return fail(HALOTUNE_NOT_FOUND, "--%s-dir %s: there is no such folder", kind->what, given);
}

/* Say on stderr, once, why a folder of the working directory is not searched. */
static void tell_unsearched(const struct search_kind *kind, const char *reason) {
  static atomic_bool is_told[2];
  if (!atomic_exchange(&is_told[kind == &search_templates], true))
    fprintf(stderr, "halotune: ./%s is not searched, because %s; if you trust it, name it in %s\n", kind->folder,
            reason, kind->variable ? kind->variable : "a path");
}

/* Whether a folder of the working directory may be searched although the user has not named it. In a folder of all
 * users, such as /tmp, another user could put templates there, which `verify` compiles and executes.
 *   is_quiet  do not say why the folder is not believed
 *   is_there  receives false if there is nothing to search: then the outcome is true */
static bool is_believed(const struct search_kind *kind, bool is_quiet, bool *is_there) {
  const char *found = getenv(DATA_FOUND_VARIABLE);
  struct stat facts;
  if (found && strcmp(found, "installed") == 0) return false;
  const bool is_fixed = exchange_find_folder(kind->folder, is_there) == HALOTUNE_OK;
  *is_there = (*is_there || !is_fixed) && stat(kind->folder, &facts) == 0 && S_ISDIR(facts.st_mode);
  if (!*is_there) return true;
  const bool is_own = facts.st_uid == geteuid() || facts.st_uid == 0, is_open = facts.st_mode & S_IWOTH;
  if (is_fixed && is_own && !is_open) return true;
  struct text reason = {0};
  if (!is_own) text_printf(&reason, "it belongs to another user");
  else if (is_open) text_printf(&reason, "all users can write to it");
  else text_printf(&reason, "another user can exchange it (%s)", fail_text());
  if (!is_quiet) tell_unsearched(kind, text_string(&reason));
  text_free(&reason);
  return false;
}

/* Whether the user's variable names the folder of the working directory. */
static bool is_named(const struct search_kind *kind) {
  bool is_same = false;
  for (const char *path = kind->variable ? getenv(kind->variable) : NULL; path && !is_same;) {
    const size_t length = strcspn(path, ":");
    char *name = strndup(path, length);
    is_same = name && length > 0 && is_same_folder(name, kind->folder);
    free(name);
    path = path[length] ? path + length + 1 : NULL;
  }
  return is_same;
}

static void folders_free(struct folders *folders) {
  search_free(folders->all.list, folders->all.count);
  search_free(folders->found.list, folders->found.count);
}

/* Collect the folders in the order in which they are searched. The caller frees them after any outcome. */
static halotune_status folders_find(const struct search_kind *kind, const char *given, struct folders *folders) {
  *folders = (struct folders){.all = {.count = 0}};
  halotune_status status = check_given(kind, given);
  if (status != HALOTUNE_OK) return status;
  bool ok = !given || !*given || add_folder(folders, given, strlen(given));
  /* A folder that the variable names, too, is trusted. If it is not believed here, it is searched in the variable's
   * place. */
  const bool is_given = is_named(kind);
  bool is_there;
  if (is_believed(kind, is_given, &is_there)) {
    if (!is_there) folders->absent = kind->folder; /* one that the variable names stands in its place */
    const size_t length = strlen(kind->folder);
    ok = ok && (is_given ? add_folder(folders, kind->folder, length) : add_found(folders, kind->folder, length));
  }
  for (const char *path = kind->variable ? getenv(kind->variable) : NULL; path && ok;) {
    size_t length = strcspn(path, ":");
    if (length > 0) ok = add_folder(folders, path, length);
    path = path[length] ? path + length + 1 : NULL;
  }
  ok = ok && add_installed(folders, kind);
  return ok ? HALOTUNE_OK : fail_memory();
}

/* Tell that a file's name could write a line of a message. It is the name of no stencil and no template. */
static void tell_unprintable(const char *path) {
  char printable[FAIL_TEXT_BYTES];
  printable_name(printable, sizeof printable, path);
  if (found_file_is_new(path))
    fprintf(stderr, "halotune: %s is not used, because its name has characters that cannot be printed; rename it\n",
            printable);
}

/* Whether a folder has a file that may be used; for a template both files. In a folder that the user has not named, the
 * mode or owner of a file, or a link, may allow others to write to it, even if the folder is of this user alone. */
static bool has_file(const struct search_kind *kind, const struct folders *folders, const char *folder,
                     const char *path) {
  bool is_found = false;
  if (!file_is_regular(path)) return false;
  for (int i = 0; i < folders->found.count && !is_found; i++) is_found = strcmp(folders->found.list[i], folder) == 0;
  if (!is_found) return true;
  if (!found_file_is_usable(path, kind->variable)) return false;
  if (kind != &search_templates) return found_file_keep(path); /* without memory it is not used */
  struct text cuda = {0};
  text_printf(&cuda, "%.*s.cu", (int)(strlen(path) - strlen(".yaml")), path);
  const bool is_good = found_file_is_usable(text_string(&cuda), kind->variable);
  text_free(&cuda);
  return is_good && found_file_keep(path);
}

bool search_is_path(const char *name) {
  size_t length = strlen(name);
  return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

halotune_status search_check_name(const struct search_kind *kind, const char *path, const char *name) {
  const char *file = path_name(path);
  size_t length = strlen(file) - strlen(".yaml");
  if (strlen(name) == length && strncmp(file, name, length) == 0) return HALOTUNE_OK;
  return fail(HALOTUNE_PARSE,
              "%s: the %s in this file is named '%s', which is not the name of the file; rename the file or the %s",
              path, kind->what, name, kind->what);
}

static int compare_file_names(const void *left, const void *right) {
  return strcmp(path_name(*(char *const *)left), path_name(*(char *const *)right));
}

static int is_shown_yaml(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return entry->d_name[0] != '.' && length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* Add the files of one folder, except those whose names an earlier folder has. A folder that cannot be read is
 * ignored. */
static bool add_files(const struct search_kind *kind, const struct folders *folders, const char *folder,
                      struct names *paths) {
  struct dirent **entries = NULL;
  struct text path = {0};
  bool ok = true;
  int count = scandir(folder, &entries, is_shown_yaml, NULL);
  for (int i = 0; i < count; i++) {
    bool known = false;
    for (int k = 0; k < paths->count && !known; k++) known = strcmp(path_name(paths->list[k]), entries[i]->d_name) == 0;
    path.length = 0;
    text_printf(&path, "%s/%s", folder, entries[i]->d_name);
    ok = ok && text_ok(&path);
    if (ok && !is_printable_line(entries[i]->d_name)) tell_unprintable(text_string(&path));
    else if (ok && !known && has_file(kind, folders, folder, text_string(&path)))
      ok = add_name(paths, text_string(&path), path.length);
    free(entries[i]);
  }
  text_free(&path);
  free(entries);
  return ok && (count >= 0 || errno != ENOMEM);
}

halotune_status search_all(const struct search_kind *kind, const char *given, char ***out, int *count) {
  struct folders folders;
  struct names paths = {0};
  halotune_status status = folders_find(kind, given, &folders);
  *out = NULL;
  *count = 0;
  for (int i = 0; i < folders.all.count && status == HALOTUNE_OK; i++) {
    if (is_absent(&folders, folders.all.list[i])) continue;
    if (!add_files(kind, &folders, folders.all.list[i], &paths)) status = fail_memory();
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

/* The nearest of all names that search_find can find. */
static struct nearest find_nearest(const struct search_kind *kind, const char *given, const char *name) {
  struct nearest nearest = nearest_to(name, strlen(name));
  char **paths;
  int count;
  if (search_all(kind, given, &paths, &count) != HALOTUNE_OK) return nearest;
  for (int i = 0; i < count; i++) {
    paths[i][strlen(paths[i]) - strlen(".yaml")] = '\0';
    nearest_try(&nearest, path_name(paths[i]));
  }
  search_free(paths, count);
  return nearest;
}

/* The path of a stencil of `verify --all`, by its name. The caller frees it. NULL if there is none. */
static char *find_asymmetric(const struct search_kind *kind, const char *name) {
  char *path = NULL;
  if (kind == &search_stencils) (void)search_find(&search_asymmetric, NULL, name, &path);
  return path;
}

/* Fail because no folder of `searched` has this name. If a file in the working directory has the name, or the name with
 * .yaml, or if a stencil of `verify --all` has the name, the message says how to write the path. */
static halotune_status fail_not_found(const struct search_kind *kind, const char *given, const char *name,
                                      const char *searched) {
  struct text path = {0}, word = {0};
  struct nearest nearest = find_nearest(kind, given, name);
  text_printf(&path, "./%s", name);
  if (!file_is_regular(name)) text_printf(&path, ".yaml");
  char *asymmetric = file_is_regular(text_string(&path)) ? NULL : find_asymmetric(kind, name);
  if (asymmetric) {
    path.length = 0;
    text_printf(&path, "%s", asymmetric);
    free(asymmetric);
  }
  text_shell_word(&word, text_string(&path));
  const bool is_file = text_ok(&path) && file_is_regular(text_string(&path));
  halotune_status status =
      fail(HALOTUNE_NOT_FOUND, "no %s '%s' in %s; 'halotune list %ss' shows all of them%s%s", kind->what, name,
           searched, kind->what, is_file ? "; for the file of this name, write " : nearest.question,
           is_file ? text_string(&word) : "");
  text_free(&word);
  text_free(&path);
  return status;
}

halotune_status search_find(const struct search_kind *kind, const char *given, const char *name, char **path) {
  struct folders folders;
  struct text searched = {0}, candidate = {0};
  *path = search_is_path(name) ? strdup(name) : NULL;
  if (search_is_path(name)) return *path ? HALOTUNE_OK : fail_memory();
  halotune_status status = folders_find(kind, given, &folders);
  for (int i = 0; i < folders.all.count && status == HALOTUNE_OK && !*path; i++) {
    const char *folder = folders.all.list[i];
    candidate.length = 0;
    text_printf(&candidate, "%s/%s.yaml", folder, name);
    text_printf(&searched, "%s%s", i > 0 ? ", " : "", folder);
    if (is_absent(&folders, folder)) continue;
    if (has_file(kind, &folders, folder, text_string(&candidate)) && !(*path = strdup(text_string(&candidate))))
      status = fail_memory();
  }
  if (status == HALOTUNE_OK && !*path) status = fail_not_found(kind, given, name, text_string(&searched));
  text_free(&candidate);
  text_free(&searched);
  folders_free(&folders);
  return status;
}

void search_free(char **paths, int count) {
  for (int i = 0; i < count; i++) free(paths[i]);
  free(paths);
}
