/* includes.c: reads a text without its joined lines, and looks behind each # that may begin a directive. */
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

/* The first letter of the next `include` behind a #; NULL for none. */
static const char *find_include(const char *from) {
  for (const char *at = skip_splices(from); *at; at = next_of(at)) {
    const char *behind = NULL;
    if (*at == '#') behind = next_of(at);
    else if (*at == '%' && *next_of(at) == ':') behind = next_of(next_of(at)); /* another spelling of # */
    if (behind) behind = skip_blanks(behind);
    if (behind && begins_with(behind, "include")) return behind;
  }
  return NULL;
}

bool cuda_includes_file(const char *source) { return find_include(source) != NULL; }

void cuda_disarm_includes(char *source) {
  for (const char *at = source; (at = find_include(at));) source[at - source] = CUDA_DISARMED[1];
}
