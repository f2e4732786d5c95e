/* gpus.c: the table of GPUs, and the comparison of names. */
#include "gpu/architecture/gpus.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/memory/array.h"
#include "gpu/architecture/gpu_list.h"

#define AS_ROW(...) {__VA_ARGS__},
const struct gpu_row gpu_rows[] = {GPU_LIST(AS_ROW)};
const int gpu_row_count = (int)COUNT(gpu_rows);

const struct gpu_row *gpu_row_of(int capability) {
  for (int i = 0; i < gpu_row_count; i++) {
    if (gpu_rows[i].capability == capability) return &gpu_rows[i];
  }
  return NULL;
}

const struct gpu_row *gpu_row_named(const char *name) {
  for (int i = 0; i < gpu_row_count; i++) {
    if (strcasecmp(gpu_rows[i].name, name) == 0) return &gpu_rows[i];
  }
  return NULL;
}

/* A word in a text. */
struct word {
  const char *text;
  size_t length;
};

/* Find the next word behind *at. Returns false after the last. */
static bool word_next(const char **at, struct word *out) {
  while (**at && !isalnum((unsigned char)**at)) (*at)++;
  out->text = *at;
  while (isalnum((unsigned char)**at)) (*at)++;
  out->length = (size_t)(*at - out->text);
  return out->length > 0;
}

static bool has_word(const char *text, const struct word *word) {
  struct word next;
  while (word_next(&text, &next)) {
    if (next.length == word->length && strncasecmp(next.text, word->text, word->length) == 0) return true;
  }
  return false;
}

/* Copy the letters and digits of a text in lower case. A longer text is cut off. */
static void letters_copy(const char *text, char *out, size_t bytes) {
  size_t count = 0;
  for (; *text && count + 1 < bytes; text++) {
    if (isalnum((unsigned char)*text)) out[count++] = (char)tolower((unsigned char)*text);
  }
  out[count] = '\0';
}

/* Skip the vendor's name at the front, which people leave out. */
static const char *without_vendor(const char *letters) {
  static const char vendor[] = "nvidia";
  return strncmp(letters, vendor, sizeof vendor - 1) == 0 ? letters + sizeof vendor - 1 : letters;
}

/* Count the words of the short name that were not asked for. Returns -1 if a word was asked for that neither name
 * has. */
static int words_missing(const char *asked, const char *name, const char *short_name) {
  struct word word;
  int missing = 0;
  for (const char *at = asked; word_next(&at, &word);) {
    if (!has_word(name, &word) && !has_word(short_name, &word)) return -1;
  }
  for (const char *at = short_name; word_next(&at, &word);) missing += !has_word(asked, &word);
  return missing;
}

int gpu_misfit(const char *asked, const char *name, const char *short_name) {
  enum { NAME_BYTES = 128, LEAST_LETTERS = 3 };
  char asked_letters[NAME_BYTES] = "", name_letters[NAME_BYTES] = "", short_letters[NAME_BYTES] = "";
  letters_copy(asked, asked_letters, sizeof asked_letters);
  letters_copy(name, name_letters, sizeof name_letters);
  if (!short_name) short_name = strncasecmp(name, "nvidia ", sizeof "nvidia") == 0 ? name + sizeof "nvidia" : name;
  letters_copy(short_name, short_letters, sizeof short_letters);
  const char *wanted = without_vendor(asked_letters);
  if (!*wanted) return GPU_NO_FIT;
  if (strcmp(asked_letters, name_letters) == 0 || strcmp(wanted, short_letters) == 0) return 0;
  const int missing = words_missing(asked, name, short_name);
  if (missing >= 0) return missing + 1;
  if (strlen(wanted) < LEAST_LETTERS) return GPU_NO_FIT;
  return strstr(name_letters, wanted) || strstr(short_letters, wanted) ? GPU_PART_OF_A_WORD : GPU_NO_FIT;
}
