/* program_file.c: asks the loader for the path, and the kernel whether the file is still there. */
#include "base/files/program_file.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Find the path of the file that is mapped at an address, as the kernel knows it: without links, and with another end
 * if the file was removed. Returns false if the kernel does not tell. */
static bool mapped_path(const void *address, char out[PATH_MAX]) {
  char *line = NULL;
  size_t room = 0;
  bool is_found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && !is_found && getline(&line, &room, maps) > 0) {
    uintptr_t first, end;
    int at = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %*s %n", &first, &end, &at) < 2 || at == 0) continue;
    if ((uintptr_t)address < first || (uintptr_t)address >= end) continue;
    line[strcspn(line, "\n")] = '\0';
    is_found = line[at] == '/' && snprintf(out, PATH_MAX, "%s", line + at) < PATH_MAX;
    break;
  }
  free(line);
  if (maps) fclose(maps);
  return is_found;
}

/* Whether a path leads to the file of the running program. */
static bool is_program(const char *path) {
  struct stat here, there;
  return stat("/proc/self/exe", &here) == 0 && stat(path, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

/* A program or library can be removed while it runs, and another user may put a file at its path. */
bool program_file_find(char path[PATH_MAX]) {
  bool (*const here)(char *) = program_file_find;
  const void *address;
  struct link_map *map = NULL;
  Dl_info info;
  char mapped[PATH_MAX];
  memcpy(&address, &here, sizeof address); /* C has no cast from a function pointer to an object pointer */
  if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map) return false;
  const bool is_library = *map->l_name; /* the program itself has no name in the link map */
  if (!realpath(is_library ? map->l_name : "/proc/self/exe", path)) return false;
  return is_library ? mapped_path(address, mapped) && strcmp(mapped, path) == 0 : is_program(path);
}

static uid_t known_owner;

static void find_owner(void) {
  char path[PATH_MAX];
  struct stat own = {.st_uid = geteuid()};
  if (program_file_find(path)) (void)stat(path, &own);
  known_owner = own.st_uid;
}

/* It is looked up once, because each file of a folder is compared with it. */
uid_t program_file_owner(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_owner);
  return known_owner;
}
