/* includes.c: reads a text without its joined lines, and checks the word after each # that may begin a directive.
 * NVRTC also looks for a file where a macro joins the name `__has_include` by `##`, and no option removes that name. */
#include "stencil/cuda/includes.h"

#include <string.h>

#include "base/memory/array.h"

/* Skip backslashes at the ends of lines, which join the lines. */
static const char *skip_splices(const char *at) {
  for (;;) {
    if (at[0] == '\\' && at[1] == '\n') at += 2;
    else if (at[0] == '\\' && at[1] == '\r' && at[2] == '\n') at += 3;
    else return at;
  }
}

/* The character after this one. */
static const char *next_of(const char *at) { return *at ? skip_splices(at + 1) : at; }

/* Skip a comment, from its / on. */
static const char *skip_comment(const char *at) {
  at = next_of(next_of(at));
  while (*at && !(*at == '*' && *next_of(at) == '/')) at = next_of(at);
  return next_of(next_of(at));
}

static const char *skip_blanks(const char *at) {
  for (;;) {
    if (*at && strchr(" \t\v\f\r", *at)) at = next_of(at);
    else if (*at == '/' && *next_of(at) == '*') at = skip_comment(at);
    else return at;
  }
}

static bool begins_with(const char *at, const char *word) {
  for (; *word && *at == *word; word++) at = next_of(at);
  return *word == '\0';
}

/* The first letter after this # of a directive that names a file, or the position of the `##` that it begins; NULL for
 * neither. NVRTC 13.0 knows only the first directive; newer compilers, and those of the emulation, know all. */
static const char *find_behind(const char *at) {
  static const char *const directives[] = {"include", "import", "embed"};
  const bool is_long = *at == '%' && *next_of(at) == ':'; /* another spelling of # */
  if (*at != '#' && !is_long) return NULL;
  const char *behind = is_long ? next_of(next_of(at)) : next_of(at);
  if (is_long ? begins_with(behind, "%:") : *behind == '#') return behind;
  behind = skip_blanks(behind);
  for (size_t i = 0; i < COUNT(directives); i++) {
    if (begins_with(behind, directives[i])) return behind;
  }
  return NULL;
}

static bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Whether the name `assert` begins here: NVRTC's macro has the number of its line. */
static bool is_assert(const char *from, const char *at) {
  if (*at != 'a' || (at > from && is_in_name(at[-1])) || !begins_with(at, "assert")) return false;
  for (int i = 0; i < 6; i++) at = next_of(at);
  return !is_in_name(*at);
}

/* Whether a name begins here that makes a compiler look at a file, or at the place or time of the compile. */
static bool is_question(const char *at) {
  static const char *const names[] = {"has_include",  "has_embed",    "LINE__",         "FILE__",
                                      "BASE_FILE__",  "DATE__",       "TIME__",         "TIMESTAMP__",
                                      "builtin_LINE", "builtin_FILE", "builtin_COLUMN", "builtin_source_location"};
  if (*at != '_' || *next_of(at) != '_') return false;
  const char *name = next_of(next_of(at));
  for (size_t i = 0; i < COUNT(names); i++) {
    if (begins_with(name, names[i])) return true;
  }
  return false;
}

/* The next text that may make a compiler look at anything but the source; NULL for none. */
static const char *find_include(const char *from) {
  for (const char *at = skip_splices(from); *at; at = next_of(at)) {
    if (is_question(at) || is_assert(from, at)) return at;
    const char *behind = find_behind(at);
    if (behind) return behind;
  }
  return NULL;
}

bool cuda_includes_file(const char *source) { return find_include(source) != NULL; }

void cuda_disarm_includes(char *source) {
  for (const char *at = source; (at = find_include(at));) source[at - source] = CUDA_DISARMED[1];
}
