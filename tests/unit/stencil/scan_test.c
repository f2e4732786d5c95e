/* scan_test.c: tokens of the expression language, their values and places. */
#include "tests/unit/unit.h"

#include <locale.h>

#include "base/text/text.h"
#include "stencil/expression/scan.h"

static struct snippet snippet_of(const struct source *source) {
  return (struct snippet){source, source->text, source->length, {1, 1}};
}

/* Append the tokens as "text@line:column text@line:column ...", and the end as "@line:column"; or the error. */
static void add_tokens(struct text *out, const char *text) {
  struct source source = {"s", text, strlen(text)};
  struct snippet snippet = snippet_of(&source);
  struct scanner scanner = scanner_at_start(&snippet);
  struct token token;
  do {
    if (scan(&scanner, &token) != HALOTUNE_OK) {
      text_printf(out, "%s", fail_text());
      return;
    }
    text_printf(out, "%.*s@%d:%d ", (int)token.length, token.text, token.place.line, token.place.column);
  } while (token.kind != TOKEN_END);
}

static const struct {
  const char *text, *tokens;
} token_rows[] = {
    {"", "@1:1 "},
    {"  \t\n", "@1:1 "},
    {"# all of it", "@1:1 "},
    {"u", "u@1:1 @1:2 "},
    {"_a1 B", "_a1@1:1 B@1:5 @1:6 "},
    {"u[-1,0]", "u@1:1 [@1:2 -@1:3 1@1:4 ,@1:5 0@1:6 ]@1:7 @1:8 "},
    {"v=(a+b)*c/d;", "v@1:1 =@1:2 (@1:3 a@1:4 +@1:5 b@1:6 )@1:7 *@1:8 c@1:9 /@1:10 d@1:11 ;@1:12 @1:13 "},
    {"a # b\n c", "a@1:1 c@2:2 @2:3 "},
    {"a # \xC3\xA9\n\xC3",
     "a@1:1 s:2:1: '?' has no meaning here: operators are + - * / < <= > >= == != && || ! ?:; names consist of the "
     "letters a-z, digits and underscores\n  ?\n  ^"},
    {"a<=b!c?d:e", "a@1:1 <=@1:2 b@1:4 !@1:5 c@1:6 ?@1:7 d@1:8 :@1:9 e@1:10 @1:11 "},
    {"a&&b||c!=d", "a@1:1 &&@1:2 b@1:4 ||@1:5 c@1:7 !=@1:8 d@1:10 @1:11 "},
    {"a % b",
     "a@1:1 s:1:3: '%' has no meaning here: write the remainder of a over b as a - b*floor(a/b)\n  a % b\n    ^"},
    {"a^b", "a@1:1 s:1:2: '^' has no meaning here: write a power as pow(a, b)\n  a^b\n   ^"},
    {"a & b", "a@1:1 s:1:3: '&' has no meaning here: write 'and' as &&\n  a & b\n    ^"},
    {"a  # the end is where the words end\n\n", "a@1:1 @1:2 "},
    {"a\r\nb\r\n", "a@1:1 b@2:1 @2:2 "},
    {"2u", "s:1:1: malformed number; write it as 2, 0.5 or 1e-3\n  2u\n  ^"},
    {"1..2", "s:1:1: malformed number; write it as 2, 0.5 or 1e-3\n  1..2\n  ^"},
    {"1.2.3", "s:1:1: malformed number; write it as 2, 0.5 or 1e-3\n  1.2.3\n  ^"},
    {"1e", "s:1:1: malformed number; write it as 2, 0.5 or 1e-3\n  1e\n  ^"},
    {"1e+", "s:1:1: malformed number; write it as 2, 0.5 or 1e-3\n  1e+\n  ^"},
    {"1e400", "s:1:1: number too large for a double\n  1e400\n  ^"},
    {"1e-400", "s:1:1: number too small for a double\n  1e-400\n  ^"},
    {"a .",
     "a@1:1 s:1:3: '.' has no meaning here: operators are + - * / < <= > >= == != && || ! ?:; names consist of the "
     "letters a-z, digits and underscores\n  a .\n    ^"},
    {"\t\xE2\x88\x82",
     "s:1:2: '\xE2\x88\x82' has no meaning here: operators are + - * / < <= > >= == != && || ! ?:; names consist "
     "of the letters a-z, digits and underscores\n  \t\xE2\x88\x82\n  \t^"},
};

TEST(tokens_know_their_places) {
  for (size_t i = 0; i < COUNT(token_rows); i++) {
    struct text got = {0};
    add_tokens(&got, token_rows[i].text);
    CHECK_TEXT(token_rows[i].tokens, text_string(&got), "row %zu \"%s\"", i, token_rows[i].text);
    text_free(&got);
  }
}

static const struct {
  const char *text;
  double value;
} number_rows[] = {
    {"0", 0},
    {"007", 7},
    {"2.", 2},
    {".5", 0.5},
    {"0.1", 0.1},
    {"1e3", 1000},
    {"1E-3", 1e-3},
    {"1.5e+2", 150},
    {"0.000", 0},
    {"0e5", 0},
    {"0.0e-999", 0},
    {"4503599627370497.5", 4503599627370497.5},
    {"1.7976931348623157e308", 1.7976931348623157e308},
    {"2.2250738585072014e-308", 2.2250738585072014e-308},
};

static void check_numbers(const char *locale) {
  for (size_t i = 0; i < COUNT(number_rows); i++) {
    struct source source = {"s", number_rows[i].text, strlen(number_rows[i].text)};
    struct snippet snippet = snippet_of(&source);
    struct scanner scanner = scanner_at_start(&snippet);
    struct token token;
    CHECK_OK(scan(&scanner, &token));
    CHECK_EQ(TOKEN_NUMBER, token.kind, "row %zu \"%s\"", i, number_rows[i].text);
    CHECK_EQ(source.length, token.length, "row %zu \"%s\"", i, number_rows[i].text);
    CHECK(token.number == number_rows[i].value, "row %zu \"%s\" in the locale %s: %.17g", i, number_rows[i].text,
          locale, token.number);
  }
}

TEST(numbers_are_read_in_every_locale) {
  static const char *const comma_locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
  check_numbers("C");
  for (size_t i = 0; i < COUNT(comma_locales); i++) { /* as far as this machine has these locales */
    if (setlocale(LC_ALL, comma_locales[i])) check_numbers(comma_locales[i]);
  }
  setlocale(LC_ALL, "C");
}

TEST(the_end_comes_again_and_again) {
  struct source source = {"s", "a", 1};
  struct snippet snippet = snippet_of(&source);
  struct scanner scanner = scanner_at_start(&snippet);
  struct token token;
  CHECK_OK(scan(&scanner, &token));
  CHECK(token_is(&token, "a") && !token_is(&token, "ab") && !token_is(&token, ""), "%.*s", (int)token.length,
        token.text);
  for (int i = 0; i < 3; i++) {
    CHECK_OK(scan(&scanner, &token));
    CHECK_EQ(TOKEN_END, token.kind, "time %d", i);
    CHECK(!token_is(&token, ""), "time %d", i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tokens_know_their_places),
      cmocka_unit_test(numbers_are_read_in_every_locale),
      cmocka_unit_test(the_end_comes_again_and_again),
  };
  return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
