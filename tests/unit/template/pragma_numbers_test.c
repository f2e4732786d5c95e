/* pragma_numbers_test.c: names in pragmas become numbers, and nothing else changes. */
#include "stencil/cuda/pragma_numbers.h"

#include "tests/unit/unit.h"

static const struct {
  const char *source, *want;
} rows[] = {
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
    {"", ""},
};

TEST(names_in_pragmas_become_numbers) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char source[256];
    snprintf(source, sizeof source, "%s", rows[i].source);
    pragma_numbers(source);
    CHECK_TEXT(rows[i].want, source, "row %zu", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(names_in_pragmas_become_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
