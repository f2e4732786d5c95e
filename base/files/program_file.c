/* program_file.c: asks the loader for the path, and once the kernel whether the file is still there. */
#include "base/files/program_file.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/files/same_file.h"

/* A file that is mapped, as the kernel knows it. */
struct mapped {
  char path[PATH_MAX]; /* without links, and with another end if the file was removed */
  dev_t device;        /* some file systems show other numbers to stat() */
  uint64_t inode;
};

/* Find the file that is mapped at an address. Returns false if the kernel does not tell. */
static bool find_mapped(const void *address, struct mapped *out) {
  char *line = NULL;
  size_t room = 0;
  bool is_found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && getline(&line, &room, maps) > 0) {
    uintptr_t first, end;
    unsigned major, minor;
    int at = 0;
    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %*s %x:%x %" SCNu64 " %n", &first, &end, &major, &minor,
               &out->inode, &at) < 5 ||
        at == 0)
      continue;
    out->device = makedev(major, minor);
    if ((uintptr_t)address < first || (uintptr_t)address >= end) continue;
    line[strcspn(line, "\n")] = '\0';
    is_found = line[at] == '/' && snprintf(out->path, PATH_MAX, "%s", line + at) < PATH_MAX;
    break;
  }
  free(line);
  if (maps) fclose(maps);
  return is_found;
}

/* Whether a path leads to the file that is mapped at an address. Where a program sees another root than the kernel, as
 * in a container without a namespace, the kernel's path is another one. */
static bool is_mapped(const void *address, const char *path) {
  static const char removed[] = " (deleted)";
  struct mapped mapped;
  struct stat there;
  if (!find_mapped(address, &mapped) || stat(path, &there) != 0) return false;
  const size_t length = strlen(mapped.path), end = sizeof removed - 1;
  if (length > end && strcmp(mapped.path + length - end, removed) == 0) return false;
  return strcmp(mapped.path, path) == 0 || (mapped.device == there.st_dev && mapped.inode == there.st_ino);
}

/* Whether a path leads to the file of the running program. */
static bool is_program(const char *path) {
  struct stat here, there;
  return stat("/proc/self/exe", &here) == 0 && stat(path, &there) == 0 && same_file(&here, &there);
}

static char known_path[PATH_MAX]; /* "": not known */
static uid_t known_owner;

/* A program or library can be removed while it runs, and another user may put a file at its path. */
static void find_program(void) {
  bool (*const here)(char *) = program_file_find;
  const void *address;
  struct link_map *map = NULL;
  Dl_info info;
  char path[PATH_MAX];
  struct stat facts;
  known_owner = geteuid();
  memcpy(&address, &here, sizeof address); /* C has no cast from a function pointer to an object pointer */
  if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map) return;
  const bool is_library = *map->l_name; /* the program itself has no name in the link map */
  if (!realpath(is_library ? map->l_name : "/proc/self/exe", path) || stat(path, &facts) != 0) return;
  if (is_library ? !is_mapped(address, path) : !is_program(path)) return;
  memcpy(known_path, path, sizeof known_path);
  known_owner = facts.st_uid;
}

/* The kernel's list is long in a program that uses CUDA, and each file of a folder is compared with the owner. */
static void find_program_once(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_program);
}

bool program_file_find(char path[PATH_MAX]) {
  find_program_once();
  memcpy(path, known_path, sizeof known_path);
  return *known_path;
}

uid_t program_file_owner(void) {
  find_program_once();
  return known_owner;
}
