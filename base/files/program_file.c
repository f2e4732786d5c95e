/* program_file.c: asks the loader. */
#include "base/files/program_file.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool program_file_find(char path[PATH_MAX]) {
  bool (*const here)(char *) = program_file_find;
  const void *address;
  struct link_map *map = NULL;
  Dl_info info;
  memcpy(&address, &here, sizeof address); /* C has no cast from a function pointer to an object pointer */
  if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map) return false;
  /* the program itself has no name in the link map */
  return realpath(*map->l_name ? map->l_name : "/proc/self/exe", path) != NULL;
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
