/* stencil_reader.c: reads texts, numbers and words of a stencil file, and declares its names. */
#include "stencil/file/stencil_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/nearest.h"
#include "stencil/expression/scan.h"

halotune_status entry_text(const struct stencil_reader *r, const struct yaml *node, const char *what,
                           const char **out) {
  if (node->kind != YAML_TEXT) return reader_fail(r, node->place, "expected %s", what);
  *out = arena_text(&r->stencil->arena, node->text, node->length);
  return *out ? HALOTUNE_OK : fail_memory();
}

halotune_status entry_line(const struct stencil_reader *r, const struct yaml *node, const char **out) {
  if (node->kind != YAML_TEXT) return reader_fail(r, node->place, "expected a text");
  size_t length = node->length;
  while (length > 0 && node->text[length - 1] == '\n') length--;
  if (memchr(node->text, '\n', length)) return reader_fail(r, node->place, "expected a text of one line");
  *out = arena_text(&r->stencil->arena, node->text, length);
  return *out ? HALOTUNE_OK : fail_memory();
}

halotune_status entry_whole(const struct stencil_reader *r, const struct yaml *node, const char *what, long low,
                            long high, long *out) {
  bool digits = node->kind == YAML_TEXT && node->length > 0 && strspn(node->text, "0123456789") == node->length;
  errno = 0;
  *out = digits ? strtol(node->text, NULL, 10) : 0;
  if (digits && errno == 0 && *out >= low && *out <= high) return HALOTUNE_OK;
  return reader_fail(r, node->place, "expected %s, a whole number from %ld to %ld", what, low, high);
}

halotune_status entry_word(const struct stencil_reader *r, const struct yaml *node, const char *what,
                           const char *const *words, int count, int *out) {
  struct text list = {0};
  const bool is_text = node->kind == YAML_TEXT;
  struct nearest nearest = nearest_to(is_text ? node->text : "", is_text ? node->length : 0);
  for (int i = 0; i < count; i++) {
    if (is_text && strcmp(node->text, words[i]) == 0) {
      text_free(&list);
      *out = i;
      return HALOTUNE_OK;
    }
    text_printf(&list, "%s%s", i == 0 ? "" : i == count - 1 ? " or " : ", ", words[i]);
    nearest_try(&nearest, words[i]);
  }
  halotune_status status = reader_fail(r, node->place, "expected %s: %s%s", what, text_string(&list), nearest.question);
  text_free(&list);
  return status;
}

halotune_status entry_check_list(const struct stencil_reader *r, const struct yaml *node, enum yaml_kind kind,
                                 const char *what, int most) {
  if (node->kind != kind) return reader_fail(r, node->place, "expected %s", what);
  if (node->count > most) return reader_fail(r, node->place, "at most %d entries are allowed here", most);
  return HALOTUNE_OK;
}

halotune_status entry_formula(struct stencil_reader *r, const struct yaml *node, const char *what,
                              struct formula *out) {
  struct snippet snippet;
  if (node->kind != YAML_TEXT) return reader_fail(r, node->place, "expected %s, a number or a formula", what);
  halotune_status status = yaml_snippet(r->source, node, &snippet);
  if (status != HALOTUNE_OK) return status;
  return parse_formula(&snippet, &r->formula_scope, &r->stencil->exprs, out);
}

halotune_status reader_declare_name(struct stencil_reader *r, const char *text, enum name_kind kind, int index,
                                    struct place place) {
  const char *error = name_error(text, strlen(text));
  if (error) return reader_fail(r, place, "'%s' cannot be a name here: %s", text, error);
  const struct name *other = scope_find(&r->scope, text, strlen(text));
  if (other) return reader_fail(r, place, "'%s' is already declared in line %d", text, other->place.line);
  return scope_add(&r->scope, (struct name){.text = text, .kind = kind, .index = index, .place = place});
}

halotune_status reader_allow_variable(struct stencil_reader *r, int variable) {
  return scope_add(&r->formula_scope,
                   (struct name){.text = variable_names[variable], .kind = NAME_VARIABLE, .index = (int)variable});
}

bool entry_is_number(const struct stencil_reader *r, const struct yaml *node, double *out) {
  struct snippet snippet;
  struct token token, end;
  if (node->kind != YAML_TEXT || yaml_snippet(r->source, node, &snippet) != HALOTUNE_OK) return false;
  struct scanner scanner = scanner_at_start(&snippet);
  if (scan(&scanner, &token) != HALOTUNE_OK) return false;
  const bool negative = token_is(&token, "-");
  if (negative && scan(&scanner, &token) != HALOTUNE_OK) return false;
  *out = negative ? -token.number : token.number;
  return token.kind == TOKEN_NUMBER && scan(&scanner, &end) == HALOTUNE_OK && end.kind == TOKEN_END;
}

halotune_status reader_find_field(const struct stencil_reader *r, const char *text, struct place place,
                                  const struct name **out) {
  *out = scope_find(&r->scope, text, strlen(text));
  if (*out && ((*out)->kind == NAME_INPUT || (*out)->kind == NAME_OUTPUT)) return HALOTUNE_OK;
  return reader_fail(r, place, "'%s' is neither an input nor an output", text);
}
