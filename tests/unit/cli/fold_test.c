/* fold_test.c: lines that are wider than the terminal. */
#include "tests/unit/unit.h"
#include "tuner/cli/output/fold.h"

TEST(a_line_is_broken_between_words_and_indented) {
  static const struct {
    int columns;
    const char *line, *want;
  } rows[] = {
      {20, "", ""},
      {20, "short", "short"},
      {20, "exactly twenty wide.", "exactly twenty wide."},
      {20, "twenty\tand a tab one", "twenty and a tab one"},
      {12, "\346\240\274\345\255\220 \345\275\223\345\211\215",
       "\346\240\274\345\255\220 \345\275\223\345\211\215"}, /* nine columns */
      {8, "\346\240\274\345\255\220 \345\275\223\345\211\215", "\346\240\274\345\255\220\n  \345\275\223\345\211\215"},
      {9, "nai\314\210ve one", "nai\314\210ve one"}, /* its i has dots by a character of its own */
      {20, "twenty one characters", "twenty one\n  characters"},
      {20, "one two three four five six seven", "one two three four\n  five six seven"},
      {30, "  --grid N  points along each axis of it", "  --grid N  points along each\n            axis of it"},
      /* the gap is too far right */
      {20, "a long label here  and its text", "a long label here\n  and its text"},
      /* groups stay together */
      {30, "path  plain: 12  readonly: 345  texture: 6", "path  plain: 12  readonly: 345\n      texture: 6"},
      {12, "path  plain: 123456  x: 1", "path  plain:\n      123456\n      x: 1"},
      /* a word that does not fit is not broken */
      {10, "a bcdefghijklmnopq r", "a\n  bcdefghijklmnopq\n  r"},
      {12, "file  /a/very/long/path and", "file  /a/very/long/path\n      and"},
      {10, "  abcdefghijklmnop", "  abcdefghijklmnop"},
      {10, "trailing      ", "trailing"},
      {10, "0123456789 b", "0123456789\n  b"},
      {14, "a {\"x\":1,\"y\":23,\"z\":456,\"w\":7} b", "a\n  {\"x\":1,\n  \"y\":23,\n  \"z\":456,\n  \"w\":7} b"},
      {20, "{\"x\":1,\"y\":2,\"z\":3,\"w\":4,\"v\":5,\"t\":6}",
       "{\"x\":1,\"y\":2,\"z\":3,\n  \"w\":4,\"v\":5,\"t\":6}"},
      {40, "ok  driver  one that is found in the folder /usr/lib",
       "ok  driver  one that is found in the\n            folder /usr/lib"},
      {24, "          far indented and long", "          far indented\n          and long"},
      /* colours and UTF-8 */
      {10, "\033[32mone two\033[0m xy", "\033[32mone two\033[0m xy"},
      {10, "\303\244\303\266\303\274 \303\244\303\266\303\274 12",
       "\303\244\303\266\303\274 \303\244\303\266\303\274 12"},
      {1, "a b", "a\nb"},
      {9, "costs 95 % more", "costs\n  95 %\n  more"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text text = {0};
    fold_line(rows[i].line, strlen(rows[i].line), rows[i].columns, &text);
    CHECK_TEXT(rows[i].want, text_string(&text), "row %zu", i);
    text_free(&text);
  }
}

/* The words of a folded text, with single spaces, are those of the line; and only a lone word is too wide. */
TEST(no_word_is_lost_or_broken) {
  static const char line[] =
      "  ok   42     0   5280  tile halo_load=edge tile_x=16 block_x=16  vector=1 streaming=stores; registers and so on";
  for (int columns = 1; columns < 130; columns++) {
    struct text text = {0};
    fold_line(line, strlen(line), columns, &text);
    const char *a = line, *b = text_string(&text);
    for (;;) {
      a += strspn(a, " \n"), b += strspn(b, " \n");
      const size_t length = strcspn(a, " \n"); /* no word of this line has a comma */
      CHECK_EQ(length, strcspn(b, " \n"), "%d columns: %s", columns, text_string(&text));
      CHECK(strncmp(a, b, length) == 0, "%d columns: %s", columns, text_string(&text));
      if (length == 0) break;
      a += length, b += length;
    }
    for (const char *at = text_string(&text); *at;) {
      const size_t length = strcspn(at, "\n"), indent = strspn(at, " ");
      const bool is_lone = !memchr(at + indent, ' ', length - indent);
      CHECK(is_lone || length <= (size_t)columns, "%d columns: %.*s", columns, (int)length, at);
      at += length + (at[length] == '\n');
    }
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_is_broken_between_words_and_indented),
      cmocka_unit_test(no_word_is_lost_or_broken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
