/* scan.c: splits text into tokens. It classifies characters itself, because the C library's functions depend on the
 * locale. */
#include "stencil/expression/scan.h"

#include <math.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/numbers/number.h"
#include "base/text/utf8.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_name(char c) { return is_name_start(c) || is_digit(c); }

struct scanner scanner_at_start(const struct snippet *snippet) {
  return (struct scanner){.snippet = snippet, .place = snippet->start, .end = snippet->start};
}

static void skip_bytes(struct scanner *scanner, size_t length) {
  const struct snippet *snippet = scanner->snippet;
  scanner->place = place_behind(scanner->place, snippet->start.column, snippet->text + scanner->offset, length);
  scanner->offset += length;
}

static void skip_blanks(struct scanner *scanner) {
  for (;;) {
    const char *text = scanner->snippet->text + scanner->offset;
    size_t length = strspn(text, " \t\r\n");
    if (text[length] == '#') length += strcspn(text + length, "\n");
    if (length == 0) return;
    skip_bytes(scanner, length);
  }
}

static size_t count_digits(const char *text) {
  size_t length = 0;
  while (is_digit(text[length])) length++;
  return length;
}

/* The length of the longest decimal number at the start of `text`, as C spells it: 1, 1.5, .5, 1e-3. */
static size_t number_length(const char *text) {
  size_t length = count_digits(text);
  if (text[length] == '.') length += 1 + count_digits(text + length + 1);
  if (text[length] == 'e' || text[length] == 'E') {
    size_t sign = text[length + 1] == '-' || text[length + 1] == '+';
    size_t exponent = count_digits(text + length + 1 + sign);
    if (exponent > 0) length += 1 + sign + exponent;
  }
  return length;
}

static halotune_status scan_number(struct scanner *scanner, struct token *token) {
  const struct snippet *snippet = scanner->snippet;
  token->kind = TOKEN_NUMBER;
  token->length = number_length(token->text);
  char after = token->text[token->length];
  if (is_name(after) || after == '.') {
    return source_fail(snippet->source, token->place, "malformed number; write it as 2, 0.5 or 1e-3");
  }
  token->number = number_read(token->text, NULL);
  if (!isfinite(token->number)) return source_fail(snippet->source, token->place, "number too large for a double");
  bool written_as_zero = !is_digit(token->text[strspn(token->text, "0.")]);
  if (token->number == 0 && !written_as_zero) {
    return source_fail(snippet->source, token->place, "number too small for a double");
  }
  return HALOTUNE_OK;
}

/* The length of the symbol at the start of `text`; 0 if there is none. */
static size_t symbol_length(const char *text, bool is_rule) {
  static const char *const pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
  if (*text == '\0') return 0;
  for (size_t i = 0; i < COUNT(pairs); i++) {
    if (strncmp(text, pairs[i], 2) == 0) return 2;
  }
  return *text != '%' || is_rule ? strchr("+-*/()[],=;%<>!?:", *text) != NULL : 0;
}

/* Operators of other languages, and what to write here. */
static const struct {
  const char *symbol, *remedy;
} remedies[] = {
    {"^", "write a power as pow(a, b)"},
    {"&", "write 'and' as &&"},
    {"|", "write 'or' as ||"},
    {"~", "write 'not' as !, and 'not equal' as !="},
    {"%", "write the remainder of a over b as a - b*floor(a/b)"},
};

static halotune_status unknown_character(const struct scanner *scanner, const struct token *token) {
  const int bytes = (int)character_bytes(token->text);
  for (size_t i = 0; i < COUNT(remedies); i++) {
    if (*token->text != *remedies[i].symbol) continue;
    return source_fail(scanner->snippet->source, token->place, "'%.*s' has no meaning here: %s", bytes, token->text,
                       remedies[i].remedy);
  }
  return source_fail(scanner->snippet->source, token->place,
                     "'%.*s' has no meaning here: operators are + - * / %s< <= > >= == != && || ! ?:; names consist of "
                     "the letters a-z, digits and underscores",
                     bytes, token->text, scanner->is_rule ? "% " : "");
}

halotune_status scan(struct scanner *scanner, struct token *token) {
  const struct snippet *snippet = scanner->snippet;
  skip_blanks(scanner);
  *token = (struct token){.kind = TOKEN_END, .text = snippet->text + scanner->offset, .place = scanner->end};
  if (scanner->offset == snippet->length) return HALOTUNE_OK;
  token->place = scanner->place;
  char c = *token->text;
  halotune_status status = HALOTUNE_OK;
  if (is_name_start(c)) {
    token->kind = TOKEN_NAME;
    while (is_name(token->text[token->length])) token->length++;
  } else if (is_digit(c) || (c == '.' && is_digit(token->text[1]))) {
    status = scan_number(scanner, token);
  } else {
    token->kind = TOKEN_SYMBOL;
    token->length = symbol_length(token->text, scanner->is_rule);
    if (token->length == 0) return unknown_character(scanner, token);
  }
  skip_bytes(scanner, token->length);
  scanner->end = scanner->place;
  return status;
}

bool token_is(const struct token *token, const char *text) {
  return token->kind != TOKEN_END && token->kind != TOKEN_NUMBER && strlen(text) == token->length &&
         memcmp(token->text, text, token->length) == 0;
}
