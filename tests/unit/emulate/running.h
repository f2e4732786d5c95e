/* running.h: observes processes from outside. */
#ifndef EMULATE_RUNNING_H
#define EMULATE_RUNNING_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/* Whether a process exists and has not ended. A process that ended but was not waited for counts as ended. */
static inline bool is_running(pid_t pid) {
  char path[64], line[256] = "";
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const char *got = fgets(line, sizeof line, file);
  fclose(file);
  const char *state = got ? strrchr(line, ')') : NULL;
  return state && state[2] != 'Z';
}

#endif
