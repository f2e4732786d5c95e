/* temporary_name.c: the letters are those of mkostemp(), which knows no open folder. */
#include "base/files/temporary_name.h"

#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

bool temporary_name(char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  unsigned char bytes[TEMPORARY_LETTERS];
  char *end = name + strlen(name) - TEMPORARY_LETTERS;
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
  for (int k = 0; k < TEMPORARY_LETTERS; k++) end[k] = letters[bytes[k] % (sizeof letters - 1)];
  return true;
}
