/* unit.h: cmocka with checks that describe themselves. A test file has TEST(name) { CHECK...(..., "row %zu", i) } and
 * ends with a main that lists the tests. A check that fails prints its text, which names the row of a table. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka's macro of this name would hide our function. */
#undef fail
#define fail_test() _fail(__FILE__, __LINE__)

#include "base/fail.h"
#include "base/memory/array.h"

#define TEST(name) static void name(void **state __attribute__((unused)))

/* The message ends with a newline, and is printed before cmocka's, which names file and line. */
#define CHECK(condition, ...)            \
  do {                                   \
    if (!(condition)) {                  \
      print_error("# %s: ", #condition); \
      print_error(__VA_ARGS__);          \
      print_error("\n");                 \
      fail_test();                       \
    }                                    \
  } while (0)

#define CHECK_EQ(want, got, ...)                                                      \
  do {                                                                                \
    long long want_ = (long long)(want), got_ = (long long)(got);                     \
    if (want_ != got_) print_error("# %s: want %lld, got %lld\n", #got, want_, got_); \
    CHECK(want_ == got_, __VA_ARGS__);                                                \
  } while (0)

#define CHECK_NEAR(want, got, tolerance, ...)                                    \
  do {                                                                           \
    double want_ = (want), got_ = (got);                                         \
    int near_ = fabs(want_ - got_) <= (tolerance); /* false for NaN */           \
    if (!near_) print_error("# %s: want %.17g, got %.17g\n", #got, want_, got_); \
    CHECK(near_, __VA_ARGS__);                                                   \
  } while (0)

#define CHECK_TEXT(want, got, ...)                                                            \
  do {                                                                                        \
    const char *want_ = (want), *got_ = (got);                                                \
    if (strcmp(want_, got_) != 0) print_error("# want \"%s\"\n# got  \"%s\"\n", want_, got_); \
    CHECK(strcmp(want_, got_) == 0, __VA_ARGS__);                                             \
  } while (0)

#define CHECK_OK(call)                                                \
  do {                                                                \
    halotune_status status_ = (call);                                 \
    if (status_ != HALOTUNE_OK) print_error("# %s\n", fail_text());   \
    CHECK(status_ == HALOTUNE_OK, "%s", halotune_strstatus(status_)); \
  } while (0)

/* A number that a variable of the environment gives, such as SEED, or the one to take without it. */
static inline long number_of_environment(const char *name, long missing) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : missing;
}

#endif
