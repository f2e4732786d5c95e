/* find_plugin.c: looks for the plug-in around the program, and checks its version. */
#include "tuner/fleet/mpi/find_plugin.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/data_folders.h"
#include "base/files/program_file.h"
#include "base/text/text.h"

#define FILE_NAME "libhalotune-mpi.so"

/* The plug-in's places in a checkout and in an installation, relative to the program's folder. */
static const char *const checkout[] = {"mpi/%s/" FILE_NAME, NULL};
static const char *const installation[] = {"../lib/halotune/%s/" FILE_NAME, "../lib64/halotune/%s/" FILE_NAME,
                                           "../lib/*/halotune/%s/" FILE_NAME, NULL};

/* The program's folder, without symbolic links. */
static bool program_folder(char folder[PATH_MAX]) {
  if (!program_file_find(folder)) return false;
  char *slash = strrchr(folder, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

/* The first file that a pattern finds. */
static bool take_match(const char *pattern, char path[PATH_MAX]) {
  glob_t matches = {0};
  const bool is_there = glob(pattern, 0, NULL, &matches) == 0 && matches.gl_pathc > 0 &&
                        snprintf(path, PATH_MAX, "%s", matches.gl_pathv[0]) < PATH_MAX;
  globfree(&matches);
  return is_there;
}

/* Whether only trusted users can have put the plug-in there, because its code runs as soon as it is loaded. The check
 * covers its file and the folders above it, up to the program's folder or to the prefix of an installation. */
static bool is_safe(const char *match) {
  char path[PATH_MAX], top[PATH_MAX], *slash;
  size_t least = 0;
  if (!data_is_safe(match) || !program_folder(top) || !realpath(match, path)) return false;
  for (int level = 0; level < 2 && least == 0; level++) {
    const size_t length = strlen(top);
    if (length > 0 && strncmp(path, top, length) == 0 && path[length] == '/') least = length;
    if ((slash = strrchr(top, '/'))) *slash = '\0';
  }
  for (; strlen(path) >= least && (slash = strrchr(path, '/')); *slash = '\0') {
    if (!data_is_safe(path)) return false;
  }
  return true;
}

/* List the places around a program in this folder. Only a checkout and an installation have places: otherwise code
 * that was unpacked beside a downloaded program would run. */
static const char *const *places_around(const char *folder) {
  static const char *const nowhere[] = {NULL};
  const char *slash = strrchr(folder, '/');
  if (data_is_build(folder)) return checkout;
  return slash && strcmp(slash, "/bin") == 0 && data_is_installed(folder) ? installation : nowhere;
}

static bool look_around(const char *kind, char path[PATH_MAX]) {
  char folder[PATH_MAX], place[128], pattern[PATH_MAX];
  if (!program_folder(folder)) return false;
  const char *const *places = places_around(folder);
  for (int i = 0; places[i]; i++) {
    snprintf(place, sizeof place, places[i], kind);
    if (snprintf(pattern, sizeof pattern, "%s/%s", folder, place) < PATH_MAX && take_match(pattern, path)) return true;
  }
  return false;
}

static const char *package_of(const char *kind) { return strcmp(kind, "mpich") == 0 ? "libmpich12" : "libopenmpi3"; }

/* Refuse a plug-in. A folder of its path may have any name, so the command that trusts it has the path as one word. */
static halotune_status fail_unsafe(const char *path) {
  struct text word = {0};
  text_shell_word(&word, path);
  const halotune_status status =
      fail(HALOTUNE_IO,
           "%s: this plug-in for MPI or a folder above it belongs to another user, or all users can write to it, so "
           "it is not loaded; if you trust it, run: export HALOTUNE_MPI=%s",
           path, text_string(&word));
  text_free(&word);
  return status;
}

static halotune_status path_find(const char *kind, const char *launcher, int ranks, char path[PATH_MAX]) {
  if (strchr(kind, '/')) {
    snprintf(path, PATH_MAX, "%s", kind);
    return access(path, F_OK) == 0 ? HALOTUNE_OK : fail(HALOTUNE_NOT_FOUND, "HALOTUNE_MPI: there is no file %s", kind);
  }
  if (look_around(kind, path)) {
    if (is_safe(path)) return HALOTUNE_OK;
    return fail_unsafe(path);
  }
  return fail(
      HALOTUNE_NOT_FOUND,
      "%s started %d ranks, but Halotune's plug-in for this MPI is not installed: install the package halotune-mpi-%s; or, with lib%s-dev, build Halotune from source, which makes it (docs/fleet.md)",
      launcher, ranks, kind, kind);
}

halotune_status find_plugin(const char *kind, const char *launcher, int ranks, struct found_plugin *out) {
  halotune_status status = path_find(kind, launcher, ranks, out->path);
  if (status != HALOTUNE_OK) return status;
  /* RTLD_GLOBAL, because components that MPI loads later use symbols of its libraries. */
  out->library = dlopen(out->path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (!out->library) {
    return fail(HALOTUNE_NOT_FOUND, "the plug-in for MPI cannot be loaded: %s (Debian has this MPI in %s)", dlerror(),
                package_of(kind));
  }
  out->plugin = dlsym(out->library, FLEET_MPI_SYMBOL);
  if (!out->plugin) return fail(HALOTUNE_IO, "%s is not a plug-in of Halotune for MPI", out->path);
  if (out->plugin->version == FLEET_MPI_VERSION && strcmp(out->plugin->halotune, HALOTUNE_VERSION) == 0)
    return HALOTUNE_OK;
  return fail(HALOTUNE_IO, "%s belongs to another Halotune (%s; this one is %s): install the plug-in of this version",
              out->path, out->plugin->version == FLEET_MPI_VERSION ? out->plugin->halotune : "with another interface",
              HALOTUNE_VERSION);
}

void found_plugin_free(struct found_plugin *found) {
  if (found->library) dlclose(found->library);
  *found = (struct found_plugin){0};
}
