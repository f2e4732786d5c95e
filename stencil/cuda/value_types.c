/* value_types.c: finds declarations by their shape: a type, a name, and what may follow the name. */
#include "stencil/cuda/value_types.h"

#include "base/memory/array.h"

static const struct {
  const char *word;
  enum value_type type;
} words[] = {
    {"int", VALUE_INT},
    {"bool", VALUE_INT},
    {"short", VALUE_INT},
    {"char", VALUE_INT},
    {"long", VALUE_LONG},
    {"index_t", VALUE_INDEX},
    {"unsigned", VALUE_UNSIGNED},
    {"uint32_t", VALUE_UNSIGNED},
    {"size_t", VALUE_UNSIGNED_LONG},
    {"uint64_t", VALUE_UNSIGNED_LONG},
};

/* The type whose last word is at a token and of a known type: the words before it may be `unsigned` or `long`. */
static enum value_type with_words_before(const struct part *part, int at, int end, enum value_type type) {
  static const char *const befores[] = {"unsigned", "signed", "long", "short", "int", "char", "const"};
  bool is_unsigned = type == VALUE_UNSIGNED, is_long = type == VALUE_LONG, is_type_word = true;
  const bool is_small = part_is(part, at, end, "short") || part_is(part, at, end, "char"); /* they become int */
  while (is_type_word && (at = part_skip_back(part, 0, at)) >= 0) {
    is_unsigned = is_unsigned || part_is(part, at, end, "unsigned");
    is_long = is_long || part_is(part, at, end, "long");
    is_type_word = false;
    for (size_t i = 0; i < COUNT(befores); i++) is_type_word = is_type_word || part_is(part, at, end, befores[i]);
  }
  if (is_long) return is_unsigned ? VALUE_UNSIGNED_LONG : VALUE_LONG;
  return is_unsigned && !is_small ? VALUE_UNSIGNED : VALUE_INT;
}

enum value_type value_type_named(const struct part *part, int at, int end) {
  for (size_t i = 0; i < COUNT(words); i++) {
    if (!part_is(part, at, end, words[i].word)) continue;
    const enum value_type type = words[i].type;
    return type == VALUE_INDEX || type == VALUE_UNSIGNED_LONG ? type : with_words_before(part, at, end, type);
  }
  return VALUE_REAL;
}

enum value_type value_type_common(enum value_type a, enum value_type b) {
  if (a == VALUE_REAL || b == VALUE_REAL) return VALUE_REAL;
  if (a == VALUE_ANY || b == VALUE_ANY) return VALUE_ANY;
  const enum value_type greater = a > b ? a : b, lesser = a > b ? b : a;
  return greater == VALUE_UNSIGNED && lesser == VALUE_INDEX ? VALUE_ANY : greater; /* unsigned, or long long */
}

static void note_type(struct constants *constants, int name, enum value_type type) {
  struct constant *constant = &constants->list[name];
  bool is_first = constant->typed_in != constants->definition;
  constant->type = is_first ? type : value_type_common(constant->type, type);
  constant->typed_in = constants->definition;
}

/* Whether a name before another name is not a type, as in: return x. */
static bool is_no_type(const struct part *part, int at, int end) {
  static const char *const keywords[] = {"return", "else", "case", "do", "new", "sizeof", "throw", "goto"};
  for (size_t i = 0; i < COUNT(keywords); i++) {
    if (part_is(part, at, end, keywords[i])) return true;
  }
  return false;
}

/* Whether a token may follow a name that is declared. */
static bool ends_name(const struct part *part, int at, int end) {
  static const char *const behinds[] = {"=", ";", "[", ",", ")", "(", "{", ":", ">"};
  for (size_t i = 0; i < COUNT(behinds); i++) {
    if (part_is(part, at, end, behinds[i])) return true;
  }
  return false;
}

/* Note the names after the first one: int a = 1, b, c[2]; */
static void note_more(struct constants *constants, const struct part *part, int at, int end, enum value_type type) {
  while (at < end && !part_is(part, at, end, ";") && !part_is(part, at, end, ")") && !part_is_over(part)) {
    part_worked(part, 1);
    bool opens = part_is(part, at, end, "(") || part_is(part, at, end, "[") || part_is(part, at, end, "{");
    bool is_comma = part_is(part, at, end, ",");
    at = part_skip(part, (opens ? part_close(part, at, end) : at) + 1, end);
    if (!is_comma) continue;
    bool is_pointer = part_is(part, at, end, "*");
    if (is_pointer) at = part_skip(part, at + 1, end);
    if (!part_is_name(part, at, end) || !ends_name(part, part_skip(part, at + 1, end), end)) return; /* a parameter */
    note_type(constants, part->tokens[at].name, is_pointer ? VALUE_ANY : type);
  }
}

/* Whether the token at `before` ends the type of the name after it, and which type that is. A pointer may be anything;
 * a reference has the type of its target. Before * and & only a known word is a type: s*t is a product. */
static bool is_type_before(const struct part *part, int begin, int before, int end, enum value_type *out) {
  bool is_pointer = part_is(part, before, end, "*"), is_reference = part_is(part, before, end, "&");
  int word = is_pointer || is_reference ? part_skip_back(part, begin, before) : before;
  if (word < begin || !part_is_name(part, word, end) || is_no_type(part, word, end)) return false;
  *out = value_type_named(part, word, end);
  if (word == before) return true;
  bool is_known = *out != VALUE_REAL || part_is(part, word, end, "real") || part_is(part, word, end, "float") ||
                  part_is(part, word, end, "double");
  if (is_pointer) *out = VALUE_ANY;
  return is_known;
}

void value_types_note(struct constants *constants, const struct part *part, struct range definition) {
  const int begin = definition.begin, end = definition.end;
  enum value_type type;
  constants->definition++;
  for (int before = part_skip(part, begin, end), at; before < end; before = at) {
    at = part_skip(part, before + 1, end);
    int behind = part_skip(part, at + 1, end);
    if (!part_is_name(part, at, end) || !ends_name(part, behind, end)) continue;
    if (!is_type_before(part, begin, before, end, &type)) continue;
    note_type(constants, part->tokens[at].name, type);
    if (!part_is(part, behind, end, "(")) note_more(constants, part, behind, end, type);
  }
}

void value_types_note_function(struct constants *constants, const struct part *part, int begin, int name) {
  struct constant *constant = &constants->list[part->tokens[name].name];
  enum value_type type = VALUE_ANY;
  for (int at = begin; at < name; at++) {
    if (part_is(part, at, name, "constexpr")) type = value_type_named(part, part_skip_back(part, begin, name), name);
  }
  constant->call_type = constant->is_function ? value_type_common(constant->call_type, type) : type;
  constant->is_function = true;
}

enum value_type value_type_of(const struct constants *constants, int name) {
  const struct constant *constant = &constants->list[name];
  const bool is_declared = constant->typed_in == constants->definition && constants->definition > 0;
  return is_declared || constant->kind == CONSTANT_CONSTEXPR ? constant->type : VALUE_ANY;
}
