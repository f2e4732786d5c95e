/* pragma_numbers.c: replaces names in place. The number of an unrolled loop is hardly ever longer than its name.
 * Sources of others may have very many names, so their definitions are looked for once. */
#include "stencil/cuda/pragma_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/memory/texts.h"

/* The first definition of each name, as a position in the source. */
struct definitions {
  struct texts names;
  const char **texts; /* by the number of the name: what stands behind it */
  int capacity;
};

static size_t name_length(const char *text) {
  static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return strspn(text, characters);
}

static halotune_status find_definitions(const char *source, struct definitions *out) {
  static const char define[] = "#define ";
  for (const char *line = source; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, define, sizeof define - 1) != 0) continue;
    const char *name = line + sizeof define - 1;
    const size_t length = name_length(name);
    const int count = out->names.count, number = texts_add(&out->names, name, length);
    if (number < 0 || !array_room(out->texts, count, out->capacity)) return fail_memory();
    if (number == count) out->texts[number] = name + length;
  }
  return HALOTUNE_OK;
}

/* Find the digits that a name is defined as. Returns their number; 0 if it is not defined as a number. */
static size_t find_number(const struct definitions *definitions, const char *name, size_t length, const char **out) {
  const int number = texts_find(&definitions->names, name, length);
  if (number < 0) return 0;
  const char *text = definitions->texts[number];
  *out = text + strspn(text, " ");
  const size_t digits = strspn(*out, "0123456789");
  const char after = (*out)[digits];
  return after == '\n' || after == ' ' || after == '\0' ? digits : 0;
}

/* Copy a source, with numbers in place of names. */
static void put_numbers(const char *source, const struct definitions *definitions, char *to) {
  static const char unroll[] = "#pragma unroll ";
  const char *kept = source; /* what follows the last name */
  for (const char *at = source; (at = strstr(at, unroll));) {
    const char *name = at += sizeof unroll - 1, *number;
    const size_t length = name_length(name);
    const bool is_name = length > 0 && (name[0] < '0' || name[0] > '9');
    const size_t digits = is_name ? find_number(definitions, name, length, &number) : 0;
    if (digits == 0 || digits > length) continue;
    memcpy(to, kept, (size_t)(name - kept));
    memcpy(to + (name - kept), number, digits);
    to += (size_t)(name - kept) + digits;
    kept = name + length;
  }
  memcpy(to, kept, strlen(kept) + 1);
}

halotune_status pragma_numbers(char *source) {
  struct definitions definitions = {.capacity = 0};
  char *copy = strdup(source);
  halotune_status status = copy ? find_definitions(copy, &definitions) : fail_memory();
  if (status == HALOTUNE_OK) put_numbers(copy, &definitions, source);
  texts_free(&definitions.names);
  free(definitions.texts);
  free(copy);
  return status;
}
