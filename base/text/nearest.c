/* nearest.c: counts the slips between two names. */
#include "base/text/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LETTERS_A_SLIP = 3 };

static bool is_same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

static int smaller(int a, int b) { return a < b ? a : b; }

/* Count the fewest slips that turn one name into the other. Both are shorter than NEAREST_NAME_BYTES. */
static int count_slips(const char *a, size_t a_length, const char *b, size_t b_length) {
  /* between the first i letters of a and the first k letters of b */
  unsigned char slips[NEAREST_NAME_BYTES][NEAREST_NAME_BYTES];
  for (size_t i = 0; i <= a_length; i++) {
    for (size_t k = 0; k <= b_length; k++) {
      if (i == 0 || k == 0) {
        slips[i][k] = (unsigned char)(i + k);
        continue;
      }
      int fewest = slips[i - 1][k - 1] + !is_same(a[i - 1], b[k - 1]);
      fewest = smaller(fewest, 1 + smaller(slips[i - 1][k], slips[i][k - 1]));
      if (i > 1 && k > 1 && is_same(a[i - 1], b[k - 2]) && is_same(a[i - 2], b[k - 1])) {
        fewest = smaller(fewest, slips[i - 2][k - 2] + 1);
      }
      slips[i][k] = (unsigned char)fewest;
    }
  }
  return slips[a_length][b_length];
}

struct nearest nearest_to(const char *typed, size_t length) {
  return (struct nearest){.typed = typed, .length = length, .slips = NEAREST_NAME_BYTES};
}

void nearest_try(struct nearest *nearest, const char *known) {
  const size_t length = strlen(known), longer = length > nearest->length ? length : nearest->length;
  if (longer >= NEAREST_NAME_BYTES) return;
  if (length == nearest->length && memcmp(known, nearest->typed, length) == 0) {
    nearest->slips = 0;
    *nearest->question = '\0';
    return;
  }
  const int slips = count_slips(nearest->typed, nearest->length, known, length);
  if (slips >= nearest->slips || (size_t)slips * LETTERS_A_SLIP > longer) return;
  nearest->slips = slips;
  snprintf(nearest->question, sizeof nearest->question, "; did you mean '%s'?", known);
}
