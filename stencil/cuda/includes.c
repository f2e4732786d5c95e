/* includes.c: reads a text without its joined lines, and checks the word after each # that may begin a directive.
 * NVRTC also looks for a file where a macro joins the name `__has_include` by `##`, and no option removes that name. */
#include "stencil/cuda/includes.h"

#include <string.h>

#include "base/memory/array.h"

/* Skip backslashes at the ends of lines, which join the lines. NVRTC allows carriage returns between them, and g++ all
 * blanks. A text that a compiler does not join is found too often, never too rarely: no word has a backslash. */
static const char *skip_splices(const char *at) {
  while (*at == '\\') {
    const char *end = at + 1 + strspn(at + 1, " \t\v\f\r");
    if (*end != '\n') break;
    at = end + 1;
  }
  return at;
}

/* The character after this one. */
static const char *next_of(const char *at) { return *at ? skip_splices(at + 1) : at; }

static bool begins_with(const char *at, const char *word) {
  for (; *word && *at == *word; word++) at = next_of(at);
  return *word == '\0';
}

bool cuda_is_file_word(const char *at) {
  static const char *const directives[] = {"include", "import", "embed"};
  for (size_t i = 0; i < COUNT(directives); i++) {
    if (begins_with(at, directives[i])) return true;
  }
  return false;
}

static bool is_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

/* Whether the name `assert` begins here: NVRTC's macro has the number of its line. */
static bool is_assert(const char *begin, const char *at) {
  if (*at != 'a' || (at > begin && is_in_name(at[-1])) || !begins_with(at, "assert")) return false;
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

/* Where a text is being read. Each # may begin a directive, also in what looks like a comment or a literal, and blanks
 * and comments may stand behind it. Those that have come to the same place in a comment go on alike, so a few facts say
 * where all of them are, and each character is read once. */
struct search {
  const char *begin, *at;
  bool is_behind_hash, is_behind_long; /* directly behind a #, or behind %:, which is another spelling of it */
  bool is_behind_percent;
  bool awaits_word;           /* behind some # and its blanks and comments */
  bool is_behind_slash;       /* the same with a / behind it, which may begin a comment */
  bool is_inside, is_at_star; /* in a comment behind some #; there behind a *, which may end it */
};

static struct search search_of(const char *text) { return (struct search){.begin = text, .at = skip_splices(text)}; }

static void read_character(struct search *s) {
  const struct search before = *s;
  const char c = *s->at;
  const bool is_blank = strchr(" \t\v\f\r", c), is_long = before.is_behind_percent && c == ':';
  s->is_behind_hash = c == '#';
  s->is_behind_long = is_long;
  s->is_behind_percent = c == '%';
  s->awaits_word = c == '#' || is_long || (before.awaits_word && is_blank) || (before.is_at_star && c == '/');
  s->is_behind_slash = before.awaits_word && c == '/';
  s->is_at_star = (before.is_inside || before.is_at_star) && c == '*';
  s->is_inside = (before.is_behind_slash && c == '*') || (before.is_inside && c != '*') ||
                 (before.is_at_star && c != '*' && c != '/');
  s->at = next_of(s->at);
}

/* Whether a text begins here that may make a compiler look at anything but the source. */
static bool is_found(const struct search *s) {
  const char *at = s->at;
  return is_question(at) || is_assert(s->begin, at) || (s->awaits_word && cuda_is_file_word(at)) ||
         (s->is_behind_hash && *at == '#') || (s->is_behind_long && begins_with(at, "%:"));
}

/* Go on to the next such text; it may be where the search is. Returns false at the end. */
static bool find_next(struct search *s) {
  while (*s->at && !is_found(s)) read_character(s);
  return *s->at;
}

bool cuda_includes_file(const char *source) {
  struct search search = search_of(source);
  return find_next(&search);
}

void cuda_disarm_includes(char *source) {
  for (struct search search = search_of(source); find_next(&search);) {
    /* a name is cut behind its first character, or the end of assert__LINE__ would leave assert alone */
    const bool is_name = is_in_name(*search.at) && !search.awaits_word;
    source[(is_name ? next_of(search.at) : search.at) - source] = CUDA_DISARMED[1];
  }
}
