/* line_diff_test.c: the lines in which texts differ; characters that make a text look like another one. */
#include "base/text/line_diff.h"
#include "base/text/utf8.h"
#include "tests/unit/unit.h"

static const struct {
  const char *from, *to, *diff;
} rows[] = {
    {"", "", ""},
    {"a\nb\n", "a\nb\n", ""},
    {"a\nb", "a\nb\n", ""},
    {"", "a\n", "@@ line 1 and 1\n+a\n"},
    {"a\n", "", "@@ line 1 and 1\n-a\n"},
    {"a\nb\nc\n", "a\nx\nc\n", "@@ line 2 and 2\n-b\n+x\n"},
    {"a\nb\nc\nd\ne\n", "a\nc\nd\nx\ne\n", "@@ line 2 and 2\n-b\n@@ line 5 and 4\n+x\n"},
    {"a\na\na\n", "a\na\na\na\n", "@@ line 4 and 4\n+a\n"},
    {"a\nb\n", "b\na\n", "@@ line 1 and 1\n-a\n@@ line 3 and 2\n+a\n"},
    {"\n\n", "\n", "@@ line 2 and 2\n-\n"},
};

TEST(lines_that_differ) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text diff = {0};
    line_diff(rows[i].from, rows[i].to, &diff);
    CHECK_TEXT(rows[i].diff, text_string(&diff), "row %zu", i);
    text_free(&diff);
  }
}

TEST(long_texts_differ_as_a_whole) {
  struct text from = {0}, to = {0}, diff = {0};
  for (int i = 0; i < 5000; i++) {
    text_printf(&from, "%d\n", i);
    text_printf(&to, "%d\n", i + 7);
  }
  line_diff(text_string(&from), text_string(&to), &diff);
  CHECK(text_ok(&diff), "memory");
  CHECK_EQ(17 + (long)(from.length + to.length) + 10000 - 1, (long)diff.length, "all lines, each with a sign");
  text_free(&diff);
  text_free(&to);
  text_free(&from);
}

/* In bytes, because compilers warn of such characters in text. */
static const char right_to_left[] = {'s', '\xe2', '\x80', '\xae', '7', '\0'};
static const char isolated[] = {'s', '\xe2', '\x81', '\xa6', '7', '\0'};
static const struct {
  const char *text;
  bool is_printable;
} words[] = {
    {"star7", true},
    {"\xc3\xa9t\xc3\xa9", true},      /* letters with accents */
    {"\xe6\x98\x9f", true},           /* a Chinese character */
    {"\xf0\x9f\x99\x82", true},       /* a face */
    {"star7\xe2\x80\x8b", false},     /* a blank without width */
    {right_to_left, false},           /* the text behind it runs to the left */
    {isolated, false},                /* an isolated direction */
    {"\xef\xbb\xbfstar7", false},     /* a mark of byte order */
    {"star7\xc2\xad", false},         /* a soft hyphen */
    {"star7\xe2\x80\xa8", false},     /* a line's end */
    {"star7\xf3\xa0\x81\xa1", false}, /* a tag */
    {"star7\x1b[31m", false},
    {"star7\xff", false},
};

TEST(hidden_characters_are_not_printable) {
  for (size_t i = 0; i < COUNT(words); i++)
    CHECK_EQ(words[i].is_printable, is_printable_line(words[i].text), "row %zu: %s", i, words[i].text);
}

/* "a", a line of its own, an indented line, a tab. */
TEST(line_ends_stay_where_they_can_forge_nothing) {
  static const char text[] = "a\nhalotune: all is well\n  b\tc\n\xff";
  char out[64];
  printable_copy(out, sizeof out, text);
  CHECK_TEXT("a\nhalotune: all is well\n  b\tc\n?", out, "text");
  printable_message(out, sizeof out, text);
  CHECK_TEXT("a?halotune: all is well\n  b\tc??", out, "message");
  printable_name(out, sizeof out, text);
  CHECK_TEXT("a?halotune: all is well?  b?c??", out, "name");
  printable_name(out, 3, text);
  CHECK_TEXT("a?", out, "a short name");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_that_differ),
      cmocka_unit_test(long_texts_differ_as_a_whole),
      cmocka_unit_test(hidden_characters_are_not_printable),
      cmocka_unit_test(line_ends_stay_where_they_can_forge_nothing),
  };
  return cmocka_run_group_tests_name("line_diff", tests, NULL, NULL);
}
