/* emulation_unroll_test.c: directives in the words of g++. */
#include "base/memory/array.h"
#include "tests/unit/unit.h"
#include "tuner/emulate/emulation_unroll.h"

TEST(directives_get_the_words_of_gcc) {
  static const struct {
    const char *text, *expected;
  } rows[] = {
      {"#pragma unroll\nfor (;;) {}\n", "#pragma GCC unroll 1024\nfor (;;) {}\n"},
      {"#pragma unroll 4\nfor (;;) {}\n", "#pragma GCC unroll 4\nfor (;;) {}\n"},
      {"#pragma unroll TURNS\nfor (;;) {}\n", "#pragma GCC unroll 1\nfor (;;) {}\n"},
      {"#pragma unroll (TURNS + 1)\nfor (;;) {}\n", "#pragma GCC unroll 1  \nfor (;;) {}\n"},
      {"#pragma unroll(4)\nx", "#pragma GCC unroll 1\nx"},
      {"#pragma unroll 4u\nx", "#pragma GCC unroll 1\nx"},
      {"#pragma unroll 4 4\nx", "#pragma GCC unroll 1 \nx"},
      {"  #  pragma   unroll  2 \nx", "  #  pragma   GCC unroll  2 \nx"},
      {"#pragma unroll", "#pragma GCC unroll 1024"},
      {"#pragma unroll 4", "#pragma GCC unroll 4"},
      {"a\n#pragma unroll N\nb\n#pragma unroll\nc", "a\n#pragma GCC unroll 1\nb\n#pragma GCC unroll 1024\nc"},
      /* comments decide nothing */
      {"#pragma unroll // all\nx", "#pragma GCC unroll 1024 // all\nx"},
      {"#pragma unroll /* all */\nx", "#pragma GCC unroll 1024 /* all */\nx"},
      {"#pragma unroll 4 // of N\nx", "#pragma GCC unroll 4 // of N\nx"},
      {"#pragma/* a */unroll/* b */N/* c */\nx", "#pragma/* a */GCC unroll/* b */1/* c */\nx"},
      {"#pragma \\\n unroll \\\n 4\nx", "#pragma \\\n GCC unroll \\\n 4\nx"},
      /* other text */
      {"/* #pragma unroll 4 */ f(); // #pragma unroll\ng(\"#pragma unroll\");",
       "/* #pragma unroll 4 */ f(); // #pragma unroll\ng(\"#pragma unroll\");"},
      {"f(); /* a\n#pragma unroll 4 */ g();", "f(); /* a\n#pragma unroll 4 */ g();"},
      {"#pragma unroll_all\n#pragma GCC unroll 2\n#pragma once\n#define unroll 3\n",
       "#pragma unroll_all\n#pragma GCC unroll 2\n#pragma once\n#define unroll 3\n"},
      {"", ""},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct text out = {0};
    emulation_unroll(rows[i].text, &out);
    CHECK_TEXT(rows[i].expected, text_string(&out), "%s", rows[i].text);
    text_free(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(directives_get_the_words_of_gcc)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
