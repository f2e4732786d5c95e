/* legible_test.c: which characters of a printed text may reach a terminal. */
#include <string.h>

#include "base/memory/array.h"
#include "tests/unit/unit.h"
#include "tuner/cli/output/legible.h"

static const struct {
  const char *text;
  bool has_colors;
  const char *want;
} rows[] = {
    {"zmarch\tvector=4\n", false, "zmarch\tvector=4\n"},
    {"zm\033[2J", false, "zm?[2J"},                     /* clears the screen */
    {"zm\033[2J", true, "zm?[2J"},                      /* no colour of ours */
    {"a\033[32mb\033[0mc", true, "a\033[32mb\033[0mc"}, /* colours of ours */
    {"a\033[32mb\033[0mc", false, "a?[32mb?[0mc"},      /* our colours are off */
    {"a\rb\bc\177d", true, "a?b?c?d"},                  /* moves the cursor */
    {"a\302\2332Jb", true, "a??2Jb"},                   /* the same as ESC [, in one character */
    {"a\2332Jb", true, "a?2Jb"},                        /* the same in one byte */
    {"a\342\200\213b", false, "a???b"},                 /* is invisible */
    {"na\303\257ve \360\237\230\200", false, "na\303\257ve \360\237\230\200"},
    {"a\303", false, "a?"}, /* ends within a character */
    {"a\033[3", true, "a?[3"},
};

TEST(only_printable_text_and_own_colours_are_left) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    const size_t length = strlen(rows[i].text);
    CHECK_EQ(length, legible_add(rows[i].text, length, rows[i].has_colors, true, &text), "row %zu", i);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

/* A text that is written in two parts gives the same as in one. */
TEST(a_cut_changes_nothing) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    const size_t length = strlen(rows[i].text);
    for (size_t cut = 0; cut <= length; cut++) {
      struct text text = {0};
      const size_t used = legible_add(rows[i].text, cut, rows[i].has_colors, false, &text);
      CHECK(cut - used < LEGIBLE_HELD_BYTES, "row %zu, cut at %zu", i, cut);
      legible_add(rows[i].text + used, length - used, rows[i].has_colors, true, &text);
      CHECK_TEXT(rows[i].want, text_string(&text), "row %zu, cut at %zu", i, cut);
      text_free(&text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_printable_text_and_own_colours_are_left),
      cmocka_unit_test(a_cut_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
