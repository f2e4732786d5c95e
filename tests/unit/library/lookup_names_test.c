/* lookup_names_test.c: texts of every length are mapped to numbers, however similar they are. */
#include "library/lookup/name_table.h"
#include "tests/unit/unit.h"

enum { LONGEST = 40, LETTERS = 3, NAMES = LONGEST * LETTERS * LONGEST };

/* Names of all lengths that differ in one letter at one position, also between the first and the last bytes. */
static void name_of(int i, char out[LONGEST + 1]) {
  int length = i % LONGEST + 1, place = i / LONGEST % length, letter = i / LONGEST / LONGEST;
  memset(out, 'a', (size_t)length);
  out[place] = (char)('b' + letter);
  out[length] = '\0';
}

TEST(names_are_told_apart) {
  static char texts[NAMES][LONGEST + 1];
  struct names names = {0};
  char copy[LONGEST + 1];
  CHECK_EQ(-1, names_find(&names, "a"), "nothing is there yet");
  for (int i = 0; i < NAMES; i++) {
    name_of(i, texts[i]);
    CHECK(names_add(&names, texts[i], i), "memory");
  }
  for (int i = 0; i < NAMES; i++) {
    memcpy(copy, texts[i], sizeof copy); /* the same text at another address */
    int found = names_find(&names, copy);
    CHECK(found >= 0 && strcmp(texts[found], copy) == 0, "\"%s\": %d", copy, found);
    CHECK(found <= i, "\"%s\": the number that was given first stays, not %d", copy, found);
  }
  memset(copy, 'a', LONGEST);
  copy[LONGEST] = '\0';
  for (int length = 0; length <= LONGEST; length++) {
    CHECK_EQ(-1, names_find(&names, copy + LONGEST - length), "%d times a", length);
  }
  names_free(&names);
}

TEST(the_empty_name_is_one) {
  struct names names = {0};
  CHECK(names_add(&names, "a", 1) && names_add(&names, "", 2), "memory");
  CHECK_EQ(2, names_find(&names, ""), "empty");
  CHECK_EQ(1, names_find(&names, "a"), "a");
  CHECK_EQ(-1, names_find(&names, "aa"), "aa");
  names_free(&names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_told_apart),
      cmocka_unit_test(the_empty_name_is_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
