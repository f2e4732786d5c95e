/* parts.h: the texts that a generated source is put together from, as tokens of which some are gone; private to
 * stencil/. */
#ifndef STENCIL_CUDA_PARTS_H
#define STENCIL_CUDA_PARTS_H

#include "stencil/cuda/cuda_tokens.h"

/* The names of all parts, each with a number from 0. Start with {0}, end with identifiers_free. */
struct identifiers {
  struct cuda_token *list;
  int count, capacity;
  int *slots; /* numbers plus 1, by hash; a power of two of them */
  int slot_count;
};

void identifiers_free(struct identifiers *names);

/* The number of a name; -1 where no part has it. */
int identifiers_find(const struct identifiers *names, const char *name);

/* A token of a part. */
struct part_token {
  struct cuda_token token;
  int name;           /* the number of a name; -1 for other tokens */
  const char *number; /* what stands in place of the variable of a loop that has one turn; else NULL */
  int outdent;        /* columns by which a line that begins here moves left */
  bool is_gone;       /* the configuration needs it not */
};

/* One text. End with part_free. */
struct part {
  const char *file; /* what #line calls it: "zmarch.cu" */
  const char *text;
  struct part_token *tokens;
  int count; /* without the end of the text */
};

/* Tokens [begin, end) of a part. */
struct range {
  int begin, end;
};

/* Read a text, which must outlive the part and the names. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status part_read(const char *file, const char *text, struct identifiers *names, struct part *out);
void part_free(struct part *part);

/* The first token at or behind `at` that is neither gone nor a comment; `end` where there is none. */
int part_skip(const struct part *part, int at, int end);

/* The last one before `at`; `begin - 1` where there is none. */
int part_skip_back(const struct part *part, int begin, int at);

/* Whether the token at `at`, before `end`, is spelled like this. */
bool part_is(const struct part *part, int at, int end, const char *spelling);
bool part_is_name(const struct part *part, int at, int end);

/* The token that closes the bracket at `open`; `end` where none does. */
int part_close(const struct part *part, int open, int end);

/* The place behind the template arguments <...> that open at `open`; `open` where it is no such bracket. */
int part_skip_angles(const struct part *part, int open, int end);

/* How many line breaks stand in front of a token, 2 at most; and its column, from 0, in its line. */
int part_breaks_before(const struct part *part, int at);
int part_column(const struct part *part, int at);

void part_remove(struct part *part, int begin, int end);

#endif
