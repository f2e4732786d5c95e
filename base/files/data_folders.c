/* data_folders.c: finds the file from which this code was loaded, and looks for data folders around it. */
#include "base/files/data_folders.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/files/data_file.h"
#include "base/files/file.h"
#include "base/files/program_file.h"

static const char built_in[] = HALOTUNE_DATA_DIR;

/* The checkout in which build/lib/libhalotune.a was built, since the program that links it may lie anywhere. "" in all
 * other builds. */
#ifndef HALOTUNE_ROOT
#define HALOTUNE_ROOT ""
#endif
static const char root[] = HALOTUNE_ROOT;

/* Remove the last part of a path. Returns false if there is none. */
static bool go_up(char *path) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = '\0';
  return slash != NULL;
}

static bool is_folder(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Whether nobody but root, this user, and the owner of the program or library can write to a file or folder. Anybody
 * could put a database beside a program in /tmp. */
static bool is_safe(const char *path, uid_t owner) {
  struct stat facts;
  return stat(path, &facts) == 0 && !(facts.st_mode & S_IWOTH) &&
         (facts.st_uid == 0 || facts.st_uid == geteuid() || facts.st_uid == owner);
}

/* Write PREFIX/share/halotune. Returns whether it is there, and its data may be used. */
static bool find_share(const char *prefix, uid_t owner, char folder[PATH_MAX]) {
  static const char last[] = "/halotune";
  const int length = snprintf(folder, PATH_MAX, "%s/share", prefix);
  if (length < 0 || (size_t)length + sizeof last > PATH_MAX) return false;
  if (!is_safe(prefix, owner) || !is_safe(folder, owner)) return false;
  memcpy(folder + length, last, sizeof last);
  return is_folder(folder) && is_safe(folder, owner);
}

/* Whether a folder has a database. */
static bool has_database(const char *folder) {
  char path[PATH_MAX];
  return snprintf(path, sizeof path, "%s/starter.db", folder) < PATH_MAX && access(path, F_OK) == 0;
}

static void add_folder(struct data_folders *out, const char *folder) {
  snprintf(out->list[out->count++], PATH_MAX, "%s", folder);
}

bool data_is_build(const char *folder) {
  char templates[PATH_MAX];
  const char *slash = strrchr(folder, '/');
  return slash && strcmp(slash, "/build") == 0 &&
         snprintf(templates, sizeof templates, "%.*s/templates", (int)(slash - folder), folder) < PATH_MAX &&
         is_folder(templates);
}

/* Add a checkout and its folder `build`, if this path is the latter. A program that is built elsewhere, or was
 * downloaded, takes no file beside it for Halotune's data. */
static bool find_build(struct data_folders *out, const char *path, uid_t owner) {
  char checkout[PATH_MAX];
  if (!data_is_build(path) || !has_database(path) || !is_safe(path, owner)) return false;
  snprintf(checkout, sizeof checkout, "%s", path);
  go_up(checkout);
  add_folder(out, path);
  if (is_safe(checkout, owner)) add_folder(out, checkout);
  return true;
}

/* Whether what lies above a folder can be the PREFIX of an installation.
 *   level  0: a program or library lies in the folder; 1: a library one below it */
static bool is_below_prefix(const char *folder, int level) {
  static const char *const names[] = {"/lib", "/lib64", "/bin"};
  const char *slash = strrchr(folder, '/');
  for (size_t i = 0; slash && i < (level == 0 ? 3 : 2); i++) {
    if (strcmp(slash, names[i]) == 0) return true;
  }
  return false;
}

/* Add the folders of the installation or the build tree around this code. Returns false if it is in neither. A program
 * that was unpacked into a folder of downloads takes no `share` beside that folder for Halotune's data. */
static bool find_beside(struct data_folders *out, uid_t owner) {
  enum { LEVELS = 2 };
  char path[PATH_MAX], folder[PATH_MAX];
  bool is_prefix = false;
  if (!program_file_find(path)) return false;
  for (int level = 0; level <= LEVELS && go_up(path); level++) {
    if (is_prefix && find_share(path, owner, folder)) {
      if (!file_is_same(folder, built_in)) add_folder(out, folder);
      return true;
    }
    /* The program is in this folder, and the library one below it. */
    if (level < LEVELS && find_build(out, path, owner)) return true;
    is_prefix = is_below_prefix(path, level);
  }
  return false;
}

/* Whether the folder given at build time is safe, with the folders `share` and PREFIX above it. Missing folders are
 * safe. */
static bool is_built_in_safe(uid_t owner) {
  enum { LEVELS = 3 };
  char path[PATH_MAX];
  bool is_good = snprintf(path, sizeof path, "%s", built_in) < PATH_MAX;
  for (int level = 0; level < LEVELS && is_good && *path; level++) {
    is_good = access(path, F_OK) != 0 || is_safe(path, owner);
    if (!go_up(path)) break;
  }
  return is_good;
}

static void find_in_root(struct data_folders *out, uid_t owner) {
  char folder[PATH_MAX];
  if (!*root || snprintf(folder, PATH_MAX, "%s/build", root) >= PATH_MAX || !has_database(folder)) return;
  if (!is_safe(root, owner) || !is_safe(folder, owner)) return;
  add_folder(out, folder);
  add_folder(out, root);
}

void data_folders_find(struct data_folders *out) {
  const uid_t owner = program_file_owner();
  out->count = 0;
  if (!find_beside(out, owner)) find_in_root(out, owner);
  if (is_built_in_safe(owner)) add_folder(out, built_in);
}

bool data_is_safe(const char *path) {
  struct stat facts;
  struct fail_kept before;
  fail_keep(&before);
  const bool is_good = data_file_look(path, &facts) == DATA_NO_FLAW;
  fail_put_back(&before);
  return is_good;
}

bool data_is_installed(const char *folder) {
  char prefix[PATH_MAX], share[PATH_MAX];
  return is_below_prefix(folder, 0) && snprintf(prefix, sizeof prefix, "%s", folder) < PATH_MAX && go_up(prefix) &&
         find_share(prefix, program_file_owner(), share);
}

bool data_is_shared(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && (facts.st_mode & S_IWGRP) && facts.st_gid != getegid();
}
