/* pragma_numbers.c: replaces names in place. The number of an unrolled loop is hardly ever longer than its name. */
#include "stencil/cuda/pragma_numbers.h"

#include <string.h>

static size_t name_length(const char *text) {
  static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return strspn(text, characters);
}

/* Find the digits that a line defines a name as. Returns their number; 0 if no line defines it as a number. */
static size_t find_number(const char *source, const char *name, size_t length, const char **out) {
  static const char define[] = "#define ";
  for (const char *line = source; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, define, sizeof define - 1) != 0) continue;
    const char *defined = line + sizeof define - 1;
    if (name_length(defined) != length || memcmp(defined, name, length) != 0) continue;
    *out = defined + length + strspn(defined + length, " ");
    const size_t digits = strspn(*out, "0123456789");
    const char after = (*out)[digits];
    return after == '\n' || after == ' ' || after == '\0' ? digits : 0;
  }
  return 0;
}

void pragma_numbers(char *source) {
  static const char unroll[] = "#pragma unroll ";
  for (char *at = source; (at = strstr(at, unroll));) {
    char *name = at += sizeof unroll - 1;
    const size_t length = name_length(name);
    const char *number;
    const size_t digits =
        length > 0 && (name[0] < '0' || name[0] > '9') ? find_number(source, name, length, &number) : 0;
    if (digits == 0 || digits > length) continue;
    memmove(name, number, digits);
    memmove(name + digits, name + length, strlen(name + length) + 1);
  }
}
