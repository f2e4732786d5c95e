/* includes.c: reads a text without its joined lines, and looks behind each # that may begin a directive. NVRTC looks
 * for a file also where a macro joins the name `__has_include` by `##`, and no option takes that name away. */
#include "stencil/cuda/includes.h"

#include <string.h>

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

/* The letter of a directive `include` behind this #, or of the `##` that it begins; NULL for neither. */
static const char *find_behind(const char *at) {
  const bool is_long = *at == '%' && *next_of(at) == ':'; /* another spelling of # */
  if (*at != '#' && !is_long) return NULL;
  const char *behind = is_long ? next_of(next_of(at)) : next_of(at);
  if (is_long ? begins_with(behind, "%:") : *behind == '#') return behind;
  behind = skip_blanks(behind);
  return begins_with(behind, "include") ? behind : NULL;
}

/* The place of the next text through which a compiler may look at a file; NULL for none. */
static const char *find_include(const char *from) {
  for (const char *at = skip_splices(from); *at; at = next_of(at)) {
    if (begins_with(at, "__has_include") || begins_with(at, "__has_embed")) return at;
    const char *behind = find_behind(at);
    if (behind) return behind;
  }
  return NULL;
}

bool cuda_includes_file(const char *source) { return find_include(source) != NULL; }

void cuda_disarm_includes(char *source) {
  for (const char *at = source; (at = find_include(at));) source[at - source] = CUDA_DISARMED[1];
}
