/* pragma_numbers_test.c: names in pragmas become numbers, and nothing else changes. */
#include "stencil/cuda/pragma_numbers.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/unit.h"

static const struct {
  const char *source, *want;
} rows[] = {
    {"#define N_A 7\n#pragma push_macro(\"N_A\")\n#pragma unroll N_A\n#pragma pop_macro(\"N_A\")\n#pragma unroll N_A\n",
     "#define N_A 7\n#pragma push_macro(\"N_A\")\n#pragma unroll 7\n#pragma pop_macro(\"N_A\")\n#pragma unroll N_A\n"},
    {"#define N_A 7\n_Pragma(\"pop_macro(\\\"N_A\\\")\")\n#pragma unroll N_A\n",
     "#define N_A 7\n_Pragma(\"pop_macro(\\\"N_A\\\")\")\n#pragma unroll N_A\n"},
    {"#define TURNS 3\n#pragma unroll TURNS\nfor (;;) {}\n", "#define TURNS 3\n#pragma unroll 3\nfor (;;) {}\n"},
    {"#define TURNS 16 // a loop\n#pragma unroll TURNS\n#pragma unroll TURNS\nx",
     "#define TURNS 16 // a loop\n#pragma unroll 16\n#pragma unroll 16\nx"},
    {"#define TURNS_OF_ALL 3\n#define TURNS 2\n#pragma unroll TURNS\n",
     "#define TURNS_OF_ALL 3\n#define TURNS 2\n#pragma unroll 2\n"},
    {"#define TURNS 2\n#pragma unroll\n#pragma unroll 4\n", "#define TURNS 2\n#pragma unroll\n#pragma unroll 4\n"},
    {"constexpr int TURNS = 2;\n#pragma unroll TURNS\n", "constexpr int TURNS = 2;\n#pragma unroll TURNS\n"},
    {"#define TURNS (1 + 1)\n#pragma unroll TURNS\n", "#define TURNS (1 + 1)\n#pragma unroll TURNS\n"},
    {"#define TURNS 2*3\n#pragma unroll TURNS\n", "#define TURNS 2*3\n#pragma unroll TURNS\n"},
    {"#define T 12\n#pragma unroll T\n", "#define T 12\n#pragma unroll T\n"}, /* the number is longer */
    {"#define TURNS 8", "#define TURNS 8"},
    {"#pragma unroll TURNS\n#define TURNS 8\n", "#pragma unroll TURNS\n#define TURNS 8\n"}, /* defined below */
    {"#define TURNS 8\n#define TURNS 9\n#pragma unroll TURNS\n",
     "#define TURNS 8\n#define TURNS 9\n#pragma unroll 9\n"},
    {"#define TURNS 8\n#undef TURNS\n#pragma unroll TURNS\n", "#define TURNS 8\n#undef TURNS\n#pragma unroll TURNS\n"},
    {"#define TURNS 8\n#if A\n#define TURNS 9\n#endif\n#pragma unroll TURNS\n",
     "#define TURNS 8\n#if A\n#define TURNS 9\n#endif\n#pragma unroll TURNS\n"},
    {"/*\n#define TURNS 4\n*/\n#define TURNS 2\n#pragma unroll TURNS // 2\n",
     "/*\n#define TURNS 4\n*/\n#define TURNS 2\n#pragma unroll 2 // 2\n"},
    {"#define TURNS 2\nchar s[] = \"\\n#pragma unroll TURNS\";\n",
     "#define TURNS 2\nchar s[] = \"\\n#pragma unroll TURNS\";\n"},
    {"#define TURNS 2\n// \\\n#pragma unroll TURNS\n", "#define TURNS 2\n// \\\n#pragma unroll TURNS\n"},
    {"#define TURNS(a) 8\n#pragma unroll TURNS\n", "#define TURNS(a) 8\n#pragma unroll TURNS\n"},
    {"", ""},
};

TEST(names_in_pragmas_become_numbers) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char source[256];
    snprintf(source, sizeof source, "%s", rows[i].source);
    CHECK_OK(pragma_numbers(source));
    CHECK_TEXT(rows[i].want, source, "row %zu", i);
  }
}

/* A search for each name in the whole text would take a minute. */
TEST(very_many_names_are_found_soon) {
  enum { NAMES = 100000, BYTES = 40 };
  char *source = malloc(2 * (size_t)NAMES * BYTES), *at = source;
  CHECK(source, "memory");
  for (int i = 0; i < NAMES; i++) at += sprintf(at, "#define TURNS_%d %d\n", i, i % 9 + 1);
  const size_t begin = (size_t)(at - source);
  for (int i = NAMES - 1; i >= 0; i--) at += sprintf(at, "#pragma unroll TURNS_%d\n", i);
  CHECK_OK(pragma_numbers(source));
  const size_t line = strlen("#pragma unroll 1\n");
  CHECK_EQ(begin + NAMES * line, strlen(source), "bytes");
  for (int i = 0; i < NAMES; i++)
    CHECK_EQ('0' + (NAMES - 1 - i) % 9 + 1, source[begin + (size_t)i * line + line - 2], "line %d", i);
  free(source);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_in_pragmas_become_numbers),
                                     cmocka_unit_test(very_many_names_are_found_soon)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
