/* scope.c: the names that an expression may use, and the check which words may be names. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/expression/parse.h"

/* Let scope_find know the name at this place of the list. */
static halotune_status index_name(struct scope *scope, int at) {
  const char *text = scope->names[at].text;
  return set_add(&scope->by_text, set_hash(text, strlen(text)), at) ? HALOTUNE_OK : fail_memory();
}

halotune_status scope_add(struct scope *scope, struct name name) {
  if (!array_room(scope->names, scope->count, scope->capacity)) return fail_memory();
  scope->names[scope->count] = name;
  const halotune_status status = index_name(scope, scope->count);
  if (status == HALOTUNE_OK) scope->count++;
  return status;
}

halotune_status scope_insert(struct scope *scope, int at, struct name name) {
  if (!array_room(scope->names, scope->count, scope->capacity)) return fail_memory();
  memmove(&scope->names[at + 1], &scope->names[at], (size_t)(scope->count - at) * sizeof *scope->names);
  scope->names[at] = name;
  scope->count++;
  set_free(&scope->by_text);
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < scope->count && status == HALOTUNE_OK; i++) status = index_name(scope, i);
  return status;
}

static bool is_spelled(const char *name, const char *text, size_t length) {
  return strlen(name) == length && memcmp(name, text, length) == 0;
}

struct name *scope_find(const struct scope *scope, const char *text, size_t length) {
  int number;
  for (struct set_walk at = set_walk(&scope->by_text, set_hash(text, length)); set_next(&at, &number);) {
    if (is_spelled(scope->names[number].text, text, length)) return &scope->names[number];
  }
  return NULL;
}

void scope_free(struct scope *scope) {
  set_free(&scope->by_text);
  free(scope->names);
  *scope = (struct scope){0};
}

/* Words that cannot be names. Names appear in generated CUDA source, so the keywords of C++ and our own variables are
 * taken. */
static const char *const reserved[] = {
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char8_t",
    "char16_t",
    "char32_t",
    "class",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "half",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "real",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
    "x",
    "y",
    "z",
    "nx",
    "ny",
    "nz",
    "pi",
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "taps",
    "results",
    "coefficients",
};

const char *name_error(const char *text, size_t length) {
  enum { LONGEST = 63 };
  if (length == 0) return "a name cannot be empty";
  if (length > LONGEST) return "a name has at most 63 characters";
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (!letter && !(digit && i > 0)) {
      return "a name consists of letters, digits and underscores, and does not begin with a digit";
    }
  }
  if (length >= 2 && text[0] == '_' && text[1] == '_')
    return "names that begin with two underscores are reserved for the compiler";
  for (size_t i = 0; i < COUNT(reserved); i++) {
    if (is_spelled(reserved[i], text, length)) return "CUDA or the format of stencil files reserves this word";
  }
  for (int i = 0; i < function_count; i++) {
    if (is_spelled(functions[i].name, text, length)) return "it is the name of a function";
  }
  return NULL;
}
