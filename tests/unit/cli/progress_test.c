/* progress_test.c: the progress line of a long command, on terminals of every width. */
#include "tests/unit/unit.h"
#include "tuner/cli/output/progress.h"

static struct progress_parts of_tune(void) {
  struct progress_parts parts = {.count = 0};
  progress_add(&parts, 4, "", "%s", "star7 f32 512x512x512");
  progress_add(&parts, 3, ": ", "search");
  progress_add(&parts, 2, ", ", "%d of %d tried", 1234, 56789);
  progress_add(&parts, 6, ", ", "%d failed", 3);
  progress_add(&parts, 0, ", ", "best %.4g ms", 0.3243);
  progress_add(&parts, 5, " (", "%.3f of copy)", 0.953);
  progress_add(&parts, 1, ", ", "%d s left", 47);
  return parts;
}

TEST(a_line_leaves_out_what_matters_least) {
  static const struct {
    int columns;
    const char *want;
  } rows[] = {
      {200, "star7 f32 512x512x512: search, 1234 of 56789 tried, 3 failed, best 0.3243 ms (0.953 of copy), 47 s left"},
      {103, "star7 f32 512x512x512: search, 1234 of 56789 tried, 3 failed, best 0.3243 ms (0.953 of copy), 47 s left"},
      {102, "star7 f32 512x512x512: search, 1234 of 56789 tried, best 0.3243 ms (0.953 of copy), 47 s left"},
      {79, "star7 f32 512x512x512: search, 1234 of 56789 tried, best 0.3243 ms, 47 s left"},
      {59, "search, 1234 of 56789 tried, best 0.3243 ms, 47 s left"},
      {53, "1234 of 56789 tried, best 0.3243 ms, 47 s left"},
      {40, "best 0.3243 ms, 47 s left"},
      {24, "best 0.3243 ms"},
      {14, "best 0.3243 ms"},
      {13, "best 0.3243"},
      {10, "best"},
      {3, ""},
      {0, ""},
      {-1, ""},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char line[PROGRESS_LINE_BYTES];
    const struct progress_parts parts = of_tune();
    int length = progress_compose(&parts, rows[i].columns, line);
    CHECK_TEXT(rows[i].want, line, "%d columns", rows[i].columns);
    CHECK_EQ(strlen(line), length, "%d columns", rows[i].columns);
  }
}

static bool has_word(const char *text, const char *word) {
  static const char between[] = " ,:()"; /* characters that end a word, besides the end of the text */
  for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
    if ((at == text || strchr(between, at[-1])) && strchr(between, at[strlen(word)])) return true;
  }
  return false;
}

TEST(no_width_is_exceeded_and_no_number_cut) {
  for (int columns = 0; columns < 130; columns++) {
    char line[PROGRESS_LINE_BYTES], all[PROGRESS_LINE_BYTES];
    const struct progress_parts parts = of_tune();
    int length = progress_compose(&parts, columns, line);
    progress_compose(&parts, PROGRESS_LINE_BYTES, all);
    CHECK(length <= columns, "%d columns: %s", columns, line);
    for (char *word = strtok(line, " ,:()"); word; word = strtok(NULL, " ,:()")) {
      CHECK(has_word(all, word), "%d columns: %s", columns, word);
    }
  }
}

TEST(a_line_without_parts_is_empty_and_one_too_many_is_left_out) {
  struct progress_parts parts = {.count = 0};
  char line[PROGRESS_LINE_BYTES];
  CHECK_EQ(0, progress_compose(&parts, 80, line), "no parts");
  CHECK_TEXT("", line, "no parts");
  for (int i = 0; i < PROGRESS_PARTS + 3; i++) progress_add(&parts, i, "+", "%d", i);
  progress_compose(&parts, 80, line);
  CHECK_TEXT("0+1+2+3+4+5+6+7+8+9+10+11", line, "too many");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_line_leaves_out_what_matters_least),
      cmocka_unit_test(no_width_is_exceeded_and_no_number_cut),
      cmocka_unit_test(a_line_without_parts_is_empty_and_one_too_many_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
