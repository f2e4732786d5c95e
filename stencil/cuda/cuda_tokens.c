/* cuda_tokens.c: scans CUDA text, and hashes its tokens. */
#include "stencil/cuda/cuda_tokens.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "base/text/text.h"
#include "stencil/cuda/includes.h"

struct cuda_reader cuda_reader_of(const char *text, size_t length) {
  return (struct cuda_reader){.at = text, .end = text + length, .line = 1};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || is_digit(c);
}

/* The byte `ahead` bytes after the reader's position; 0 beyond the end. */
static char byte_at(const struct cuda_reader *r, size_t ahead) {
  if (ahead >= (size_t)(r->end - r->at)) return '\0';
  return r->at[ahead];
}

/* The length of a backslash and the line break after it, which join two lines; 0 for anything else. */
static size_t splice_length(const struct cuda_reader *r, size_t ahead) {
  if (byte_at(r, ahead) != '\\') return 0;
  if (byte_at(r, ahead + 1) == '\n') return 2;
  return byte_at(r, ahead + 1) == '\r' && byte_at(r, ahead + 2) == '\n' ? 3 : 0;
}

static void skip_bytes(struct cuda_reader *r, size_t length) {
  for (size_t i = 0; i < length; i++) r->line += r->at[i] == '\n';
  r->at += length;
}

/* Skip spaces and joined lines. Stop at the line break that ends a directive. Returns whether it skipped joined lines
 * alone. */
static bool skip_space(struct cuda_reader *r) {
  bool has_space = false, has_splice = false;
  for (;;) {
    size_t splice = splice_length(r, 0);
    if (splice > 0) {
      skip_bytes(r, splice);
      has_splice = true;
    } else if (r->at < r->end && is_space(*r->at)) {
      skip_bytes(r, 1);
      has_space = true;
    } else if (r->at < r->end && *r->at == '\n' && !r->is_in_directive) {
      skip_bytes(r, 1);
      r->is_line_begun = false;
      has_space = true;
    } else {
      return has_splice && !has_space;
    }
  }
}

/* The length of a // comment. A backslash at the end of a line continues it. */
static size_t line_comment_length(const struct cuda_reader *r) {
  size_t length = 2;
  while (r->at + length < r->end && r->at[length] != '\n') {
    size_t splice = splice_length(r, length);
    length += splice > 0 ? splice : 1;
  }
  return length;
}

/* The length of the joined lines that begin `ahead` bytes after the reader's position. */
static size_t splices_length(const struct cuda_reader *r, size_t ahead) {
  size_t length = 0;
  for (size_t one; (one = splice_length(r, ahead + length)) > 0;) length += one;
  return length;
}

/* The length of a comment, whose end may be spread over joined lines. */
static size_t block_comment_length(const struct cuda_reader *r) {
  size_t length = 2;
  for (; r->at + length < r->end; length++) {
    if (r->at[length] != '*') continue;
    const size_t slash = length + 1 + splices_length(r, length + 1);
    if (byte_at(r, slash) == '/') return slash + 1;
  }
  return length;
}

/* The length of a quoted literal. A literal without a closing quote ends with its line. */
static size_t quoted_length(const struct cuda_reader *r, char quote) {
  size_t length = 1;
  while (r->at + length < r->end && r->at[length] != quote && r->at[length] != '\n') {
    length += r->at[length] == '\\' && r->at + length + 1 < r->end ? 2 : 1;
  }
  return byte_at(r, length) == quote ? length + 1 : length;
}

/* The length of R"mark( ... )mark", from the R on; 0 for anything else. */
static size_t raw_length(const struct cuda_reader *r) {
  enum { MOST_MARK = 16 };
  size_t mark = 0, left = (size_t)(r->end - r->at);
  if (byte_at(r, 0) != 'R' || byte_at(r, 1) != '"') return 0;
  const char *begin = r->at + 2;
  while (mark <= MOST_MARK && 2 + mark < left && begin[mark] != '(' && begin[mark] != '\n') mark++;
  if (2 + mark >= left || begin[mark] != '(') return 0;
  for (const char *c = begin + mark + 1; c < r->end; c++) {
    if (*c == ')' && (size_t)(r->end - c) >= mark + 2 && memcmp(c + 1, begin, mark) == 0 && c[1 + mark] == '"') {
      return (size_t)(c - r->at) + mark + 2;
    }
  }
  return left;
}

static size_t number_length(const struct cuda_reader *r) {
  size_t length = 1;
  for (char c; (c = byte_at(r, length)) != 0; length++) {
    bool is_sign = (c == '+' || c == '-') && strchr("eEpP", r->at[length - 1]);
    bool is_separator = c == '\'' && is_name(byte_at(r, length + 1));
    if (!is_name(c) && c != '.' && !is_sign && !is_separator) break;
  }
  return length;
}

/* The length of the longest operator at the reader's position. */
static size_t punctuation_length(const struct cuda_reader *r) {
  static const char *const operators[] = {"<<=", ">>=", "...", "->*", "::", "##", "++", "--", "->",
                                          ".*",  "<<",  ">>",  "<=",  ">=", "==", "!=", "&&", "||",
                                          "+=",  "-=",  "*=",  "/=",  "%=", "^=", "&=", "|="};
  const char second = byte_at(r, 1);
  if (!second || !strchr("<>=&|+-*.:#", second)) return 1; /* no operator has such a second byte */
  for (size_t i = 0; i < COUNT(operators); i++) {
    size_t length = strlen(operators[i]);
    if ((size_t)(r->end - r->at) >= length && memcmp(r->at, operators[i], length) == 0) return length;
  }
  return 1;
}

static size_t name_length(const struct cuda_reader *r) {
  size_t length = 0;
  while (is_name(byte_at(r, length))) length++;
  return length;
}

static enum cuda_token_kind token_kind(struct cuda_reader *r, size_t *length) {
  char c = *r->at, next = byte_at(r, 1);
  if (c == '/' && (next == '/' || next == '*')) {
    *length = next == '/' ? line_comment_length(r) : block_comment_length(r);
    return CUDA_COMMENT;
  }
  if ((*length = raw_length(r)) > 0) return CUDA_LITERAL;
  if (is_digit(c) || (c == '.' && is_digit(next))) {
    *length = number_length(r);
    return CUDA_NUMBER;
  }
  if ((*length = name_length(r)) > 0) return CUDA_NAME;
  if (c == '"' || c == '\'') {
    *length = quoted_length(r, c);
    return CUDA_LITERAL;
  }
  *length = punctuation_length(r);
  return c == '#' && *length == 1 && !r->is_line_begun ? CUDA_DIRECTIVE : CUDA_PUNCTUATION; /* ## begins none */
}

struct cuda_token cuda_next(struct cuda_reader *r) {
  const char *before = r->at;
  const bool is_joined = skip_space(r);
  struct cuda_token token = {CUDA_END, r->at, 0, r->line, r->at == before, is_joined};
  if (r->is_in_directive && (r->at >= r->end || *r->at == '\n')) {
    r->is_in_directive = false;
    token.kind = CUDA_DIRECTIVE_END;
    return token;
  }
  if (r->at >= r->end) return token;
  token.kind = token_kind(r, &token.length);
  skip_bytes(r, token.length);
  if (token.kind == CUDA_DIRECTIVE) r->is_in_directive = true;
  if (token.kind != CUDA_COMMENT) r->is_line_begun = true;
  return token;
}

/* Skip the rest of a directive. */
static void skip_directive(struct cuda_reader *r) {
  while (r->is_in_directive) cuda_next(r);
}

static struct cuda_token next_no_comment(struct cuda_reader *r, bool *is_joined) {
  struct cuda_token token = cuda_next(r);
  *is_joined = *is_joined || token.is_joined;
  while (token.kind == CUDA_COMMENT) {
    token = cuda_next(r);
    *is_joined = *is_joined || token.is_joined;
  }
  return token;
}

/* Whether this is a line's number that every compiler takes: 1 to 999999999. */
static bool is_line_number(const struct cuda_token *token) {
  if (token->kind != CUDA_NUMBER || token->length > 9) return false;
  for (size_t i = 0; i < token->length; i++) {
    if (!is_digit(token->at[i])) return false;
  }
  return token->at[0] != '0';
}

/* Whether this is the name of a file without escapes, some of which compilers refuse. */
static bool is_file_name(const struct cuda_token *token) {
  return token->kind == CUDA_LITERAL && token->length > 1 && token->at[0] == '"' &&
         token->at[token->length - 1] == '"' && !memchr(token->at, '\\', token->length);
}

/* Whether a directive, whose # was read, is `#line NUMBER`, `#line NUMBER "FILE"` or the same without the word. Such a
 * directive has no effect on the meaning, unless it parts the name of a macro from its arguments. */
static bool is_line_directive(struct cuda_reader r) {
  bool is_joined = false;
  struct cuda_token token = next_no_comment(&r, &is_joined);
  if (cuda_is(&token, "line")) token = next_no_comment(&r, &is_joined);
  if (!is_line_number(&token)) return false;
  token = next_no_comment(&r, &is_joined);
  if (is_file_name(&token)) token = next_no_comment(&r, &is_joined);
  return token.kind == CUDA_DIRECTIVE_END && !is_joined;
}

bool cuda_skip_line_directive(struct cuda_reader *reader) {
  if (!is_line_directive(*reader)) return false;
  skip_directive(reader);
  return true;
}

/* Append a token and a NUL, which no token contains. An empty token stands for the end of a directive. */
static void add_token(struct text *out, const char *bytes, size_t length) {
  text_add(out, bytes, length);
  text_add(out, "", 1);
}

/* Whether a quoted literal has no closing quote in its line. */
static bool is_open(const struct cuda_token *literal) {
  size_t last = 1;
  if (literal->at[0] == 'R') return false;
  while (last + 1 < literal->length) last += literal->at[last] == '\\' ? 2 : 1;
  return last + 1 != literal->length || literal->at[last] != literal->at[0];
}

/* Whether a comment begins with / and * and does not plainly end: without an end it is an error. */
static bool is_open_comment(const struct cuda_token *comment) {
  const char *end = comment->at + comment->length;
  return comment->at[1] == '*' && (comment->length < 4 || end[-2] != '*' || end[-1] != '/');
}

/* Whether two tokens without anything between them are a digraph, such as %: for #. */
static bool is_digraph(const struct cuda_token *left, const struct cuda_token *right) {
  static const char *const digraphs[] = {"<:", ":>", "<%", "%>", "%:"};
  const char pair[] = {left->at[left->length - 1], right->at[0], '\0'};
  for (size_t i = 0; i < COUNT(digraphs); i++) {
    if (strcmp(pair, digraphs[i]) == 0) return true;
  }
  return false;
}

/* How much of the layout of a text a compiler may see. */
enum layout {
  LAYOUT_HIDDEN,
  LAYOUT_SPACES, /* it sees where blanks and comments stand: stringification; names of several tokens; suffixes */
  LAYOUT_BYTES,  /* it may read other tokens than this file does */
};

/* The layout that a token makes visible.
 *   before      the token or comment before it
 *   is_touched  nothing stands between both */
static enum layout layout_shown(const struct cuda_token *before, const struct cuda_token *token, bool is_touched) {
  const bool is_word = before->kind == CUDA_NAME || before->kind == CUDA_LITERAL;
  if (token->is_joined) return LAYOUT_BYTES;
  switch (token->kind) {
  case CUDA_NUMBER: return memchr(token->at, '\'', token->length) ? LAYOUT_BYTES : LAYOUT_HIDDEN;
  case CUDA_LITERAL: return is_open(token) || (is_touched && is_word) ? LAYOUT_BYTES : LAYOUT_HIDDEN; /* u8R"(a)" */
  case CUDA_NAME: return is_touched && before->kind == CUDA_LITERAL ? LAYOUT_SPACES : LAYOUT_HIDDEN;  /* "a"_suffix */
  case CUDA_PUNCTUATION:
    if (is_touched && before->kind == CUDA_PUNCTUATION && is_digraph(before, token)) return LAYOUT_BYTES;
    return token->at[0] == '#' || token->at[0] == '\\' || (unsigned char)token->at[0] >= 0x80 ? LAYOUT_SPACES
                                                                                              : LAYOUT_HIDDEN;
  default: return LAYOUT_HIDDEN;
  }
}

/* Whether one compiler ends or joins a line where another one does not: at a carriage return alone, and at a backslash
 * before blanks at the end of a line. The byte 0xff ends the text for NVRTC, also within a comment. */
static bool has_unclear_lines(const char *text) {
  for (const char *at = text; *at; at++) {
    if ((*at == '\r' && at[1] != '\n') || *at == '\xff') return true;
    if (*at != '\\') continue;
    const size_t blanks = strspn(at + 1, " \t\v\f\r");
    if (blanks > 0 && at[1 + blanks] == '\n' && !(blanks == 1 && at[1] == '\r')) return true;
  }
  return false;
}

/* Append the tokens. To `spaces`: for each token, whether something stands between it and the one before. */
static enum layout add_tokens(struct cuda_reader r, struct text *out, struct text *spaces) {
  struct cuda_token token, before = {.kind = CUDA_END};
  enum layout layout = LAYOUT_HIDDEN;
  int in_define = 0; /* 1: `define` comes next; 2: the macro's name; 3: what follows the name */
  bool is_behind_line = false, is_behind_lines = false; /* behind a #line directive; a comment of several lines */
  for (; (token = cuda_next(&r)).kind != CUDA_END; before = token) {
    const bool is_touched = token.follows_closely && before.kind != CUDA_COMMENT && before.kind != CUDA_END;
    const enum layout shown = layout_shown(&before, &token, is_touched);
    if (shown > layout) layout = shown;
    if (token.is_joined) add_token(out, "\\\n", 2);
    if (token.kind == CUDA_COMMENT) {
      if (is_open_comment(&token)) layout = LAYOUT_BYTES;
      /* NVRTC takes '#if defined', a comment of two lines, and what is an error without the comment */
      if (r.is_in_directive && memchr(token.at, '\n', token.length)) layout = LAYOUT_BYTES;
      is_behind_lines = is_behind_lines || memchr(token.at, '\n', token.length);
      if (before.kind == CUDA_DIRECTIVE && !is_behind_line)
        layout = LAYOUT_BYTES;           /* resolve_directives finds no name there */
      if (in_define == 3) in_define = 0; /* a compiler reads a space in its place */
      continue;
    }
    /* for NVRTC, a # is the first of its line also where a comment that began in an earlier line precedes it */
    if (is_behind_lines && cuda_is(&token, "#") && token.kind == CUDA_PUNCTUATION) layout = LAYOUT_BYTES;
    is_behind_lines = false;
    if (is_behind_line && cuda_is(&token, "(")) layout = LAYOUT_BYTES; /* no macro F takes `(` behind `F #line 1` */
    if (token.kind == CUDA_DIRECTIVE) {
      if (cuda_skip_line_directive(&r)) {
        is_behind_line = true;
        continue;
      }
      in_define = 1;
    } else if (in_define == 1) {
      in_define = cuda_is(&token, "define") ? 2 : 0;
    } else if (in_define == 2) {
      in_define = 3;
    } else if (in_define == 3) {
      if (cuda_is(&token, "(") && token.follows_closely) add_token(out, " ", 1); /* a macro with parameters */
      in_define = 0;
    }
    is_behind_line = false;
    /* a # that begins no directive: the end of a directive does not say which # began it */
    if (token.kind == CUDA_PUNCTUATION && token.at[0] == '#') add_token(out, " #", 2);
    add_token(out, token.at, token.length);
    text_add(spaces, is_touched && token.kind != CUDA_DIRECTIVE_END ? "0" : "1", 1);
  }
  return layout;
}

/* Whether NVRTC gets other tokens than the text has. A comment may decide which. */
static halotune_status is_changed_for_compiler(const char *text, bool *out) {
  struct text tokens = {0}, spaces = {0}, changed = {0}, changed_spaces = {0};
  char *disarmed = NULL;
  *out = false;
  if (!cuda_includes_file(text)) return HALOTUNE_OK;
  if (!(disarmed = strdup(text))) return fail_memory();
  cuda_disarm_includes(disarmed);
  add_tokens(cuda_reader_of(text, strlen(text)), &tokens, &spaces);
  add_tokens(cuda_reader_of(disarmed, strlen(disarmed)), &changed, &changed_spaces);
  const bool is_ok = text_ok(&tokens) && text_ok(&spaces) && text_ok(&changed) && text_ok(&changed_spaces);
  if (is_ok) *out = tokens.length != changed.length || memcmp(tokens.bytes, changed.bytes, tokens.length) != 0;
  text_free(&changed_spaces);
  text_free(&changed);
  text_free(&spaces);
  text_free(&tokens);
  free(disarmed);
  return is_ok ? HALOTUNE_OK : fail_memory();
}

/* Hash the tokens, and as much of the layout as a compiler may see, or `least` of it.
 *   where_seen  what counts of the layout if a compiler sees where blanks stand */
static halotune_status hash_text(const char *text, enum layout least, enum layout where_seen, struct identity *out) {
  struct text tokens = {0}, spaces = {0};
  enum layout layout = add_tokens(cuda_reader_of(text, strlen(text)), &tokens, &spaces);
  if (layout == LAYOUT_SPACES) layout = where_seen;
  if (layout < least) layout = least;
  if (has_unclear_lines(text)) layout = LAYOUT_BYTES;
  if (layout != LAYOUT_HIDDEN) add_token(&tokens, "  ", 2); /* no token begins with this */
  if (layout == LAYOUT_SPACES) add_token(&tokens, text_string(&spaces), spaces.length);
  if (layout == LAYOUT_BYTES) text_add(&tokens, text, strlen(text));
  const halotune_status status = text_ok(&tokens) && text_ok(&spaces) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) *out = identity_of("CUDA", text_string(&tokens), tokens.length);
  text_free(&spaces);
  text_free(&tokens);
  return status;
}

/* Whether a comment may decide that a word behind it is disarmed. It has a # then, or a literal in front of it has one.
 * The word may come with the name of the stencil, or tokens between both are removed. So a word that names a file at
 * the beginning of a directive, but stands elsewhere, is enough, too. */
static bool may_be_disarmed(const char *text) {
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  struct cuda_token token, before = {.kind = CUDA_END};
  for (; (token = cuda_next(&reader)).kind != CUDA_END; before = token) {
    const bool is_text = token.kind == CUDA_COMMENT || token.kind == CUDA_LITERAL;
    if (is_text && (memchr(token.at, '#', token.length) || memmem(token.at, token.length, "%:", 2))) return true;
    if (token.kind == CUDA_NAME && before.kind != CUDA_DIRECTIVE && cuda_is_file_word(token.at)) return true;
  }
  return false;
}

halotune_status cuda_hash(const char *text, struct identity *out) {
  return hash_text(text, may_be_disarmed(text) ? LAYOUT_BYTES : LAYOUT_HIDDEN, LAYOUT_BYTES, out);
}

halotune_status source_hash(const char *text, struct identity *out) {
  bool is_changed;
  const halotune_status status = is_changed_for_compiler(text, &is_changed);
  return status == HALOTUNE_OK ? hash_text(text, is_changed ? LAYOUT_BYTES : LAYOUT_HIDDEN, LAYOUT_SPACES, out)
                               : status;
}

bool source_mentions(const char *text, const char *word) {
  struct text tokens = {0}, spaces = {0};
  add_tokens(cuda_reader_of(text, strlen(text)), &tokens, &spaces);
  const bool is_there = !text_ok(&tokens) || memmem(text_string(&tokens), tokens.length, word, strlen(word));
  text_free(&spaces);
  text_free(&tokens);
  return is_there;
}

bool source_has_lines(const char *text) {
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    if (token.kind == CUDA_DIRECTIVE && cuda_skip_line_directive(&reader)) return true;
  }
  return false;
}
