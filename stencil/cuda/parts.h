/* parts.h: the texts of a generated source as tokens, some of which are removed; private to stencil/. */
#ifndef STENCIL_CUDA_PARTS_H
#define STENCIL_CUDA_PARTS_H

#include "base/memory/set.h"
#include "stencil/cuda/cuda_tokens.h"

/* The names in all parts, each with a number from 0. Start with {0}, end with identifiers_free. */
struct identifiers {
  struct cuda_token *list;
  int count, capacity;
  struct set set; /* a set of positions in the list */
};

void identifiers_free(struct identifiers *names);

/* The number of a name; -1 if no part has it. */
int identifiers_find(const struct identifiers *names, const char *name);

/* What reading some parts may still cost. Nested statements and expressions are looked at once for each level, so that
 * a short text of somebody else could keep a program busy for hours, or use up its stack. */
struct part_work {
  long steps_left; /* below 0: it is over, and what was found is not to be used */
  int depth;
};

enum { PART_MOST_NESTED = 256 };

/* Work for texts of so many bytes in all. */
struct part_work part_work_for(size_t bytes);

/* Fail if the work was too much. */
halotune_status part_work_check(const struct part_work *work);

/* A token of a part. */
struct part_token {
  struct cuda_token token;
  int name;           /* the number of a name; -1 for other tokens */
  const char *number; /* replaces the variable of a loop that has only one iteration; else NULL */
  int outdent;        /* columns by which a line that begins here moves left */
  bool is_gone;       /* the configuration does not need the token */
};

/* One text. End with part_free. */
struct part {
  const char *file; /* its name in #line: "zmarch.cu" */
  const char *text;
  struct part_token *tokens;
  int count; /* without the end of the text */
  struct part_work *work;
};

/* Tokens `begin` to `end` - 1 of a part. */
struct range {
  int begin, end;
};

/* Read a text. The part refers to the text, the names and the work. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status part_read(const char *file, const char *text, struct identifiers *names, struct part_work *work,
                          struct part *out);
void part_free(struct part *part);

static inline void part_worked(const struct part *part, int steps) { part->work->steps_left -= steps; }
static inline bool part_is_over(const struct part *part) { return part->work->steps_left < 0; }

/* Go one level deeper, in a function that calls itself. Each call needs a part_leave. Returns false if it is too deep.
 */
static inline bool part_enter(const struct part *part) { return ++part->work->depth <= PART_MOST_NESTED; }
static inline void part_leave(const struct part *part) { part->work->depth--; }

/* The first token from `at` on that is neither removed nor a comment; `end` if there is none. */
static inline int part_skip(const struct part *part, int at, int end) {
  while (at < end && (part->tokens[at].is_gone || part->tokens[at].token.kind == CUDA_COMMENT)) {
    at++;
    part_worked(part, 1);
  }
  return at;
}

/* The last such token before `at`; `begin - 1` if there is none. */
int part_skip_back(const struct part *part, int begin, int at);

/* Whether the token at `at` has this spelling. False where there is none: at `end` and behind it, and before the first
 * token, where part_skip_back may lead. */
static inline bool part_is(const struct part *part, int at, int end, const char *spelling) {
  return at >= 0 && at < end && cuda_is(&part->tokens[at].token, spelling);
}
static inline bool part_is_name(const struct part *part, int at, int end) {
  return at >= 0 && at < end && part->tokens[at].name >= 0;
}

/* Whether the last token before `at` that is neither removed nor a comment is a name. */
static inline bool part_is_name_before(const struct part *part, int at) {
  const int before = part_skip_back(part, 0, at);
  return before >= 0 && part_is_name(part, before, at);
}

/* The token that closes the bracket at `open`; `end` if there is none, or the work is over. */
int part_close(const struct part *part, int open, int end);

/* The position after the template arguments <...> that open at `open`; `open` if it is not such a bracket. */
int part_skip_angles(const struct part *part, int open, int end);

/* The number of line breaks before a token, at most 2; and the token's column in its line, from 0. */
int part_breaks_before(const struct part *part, int at);
int part_column(const struct part *part, int at);

void part_remove(struct part *part, int begin, int end);

#endif
