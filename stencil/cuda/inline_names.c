/* inline_names.c: copies tokens, and follows calls into their arguments. */
#include "stencil/cuda/inline_names.h"

#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/cuda_tokens.h"

/* Calls in arguments of calls are replaced down to this depth. All that is read of arguments is so many times the text,
 * at most: a text of somebody else cannot keep a program busy. What is deeper or behind that stays as it is. Comments
 * and blanks do not count, since they must not decide what is replaced. */
enum { DEEPEST_CALL = 32, MOST_READ = 64 };

struct inliner {
  const struct inlined *list;
  int count, depth;
  long tokens_left; /* of arguments */
  struct text *out;
};

/* A piece of a text. */
struct span {
  const char *begin, *end;
};

static struct span span_of(const char *text) { return (struct span){text, text + strlen(text)}; }

static struct cuda_reader read_span(struct span span) {
  return cuda_reader_of(span.begin, (size_t)(span.end - span.begin));
}

/* A name that is replaced, with its arguments. */
struct call {
  const struct inlined *inlined;
  struct span arguments[MOST_INLINED_PARAMETERS];
  const char *end; /* in the text */
};

static bool is_one_of(const struct cuda_token *token, const char *characters) {
  return token->kind == CUDA_PUNCTUATION && token->length == 1 && strchr(characters, *token->at);
}

/* The operators that stand outside of brackets. */
enum operators { OPERATORS_NONE, OPERATORS_PRODUCT, OPERATORS_ANY };

static enum operators operators_of(const char *text) {
  static const char *const others[] = {"(", "[", "{", ")", "]", "}", ",", ".", "::", "->"};
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  enum operators found = OPERATORS_NONE;
  int depth = 0;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    bool is_other = token.kind != CUDA_PUNCTUATION;
    for (size_t i = 0; i < COUNT(others); i++) is_other = is_other || cuda_is(&token, others[i]);
    depth += is_one_of(&token, "([{") - is_one_of(&token, ")]}");
    if (depth > 0 || is_other) continue;
    if (!cuda_is(&token, "*")) return OPERATORS_ANY;
    found = OPERATORS_PRODUCT;
  }
  return found;
}

/* The next token that is no comment. */
static struct cuda_token next_of(struct cuda_reader *reader) {
  struct cuda_token token = cuda_next(reader);
  while (token.kind == CUDA_COMMENT) token = cuda_next(reader);
  return token;
}

/* Read the arguments of a call up to its closing bracket. Returns their number; -1 if there are too many, a directive
 * begins or ends among them, or no bracket closes. */
static int read_arguments(struct inliner *in, struct cuda_reader *reader, struct span out[MOST_INLINED_PARAMETERS]) {
  int depth = 0, count = 0;
  struct cuda_token token = next_of(reader);
  if (!is_one_of(&token, "(")) return -1;
  const char *begin = token.at + 1;
  for (; token.kind != CUDA_END && token.kind != CUDA_DIRECTIVE && token.kind != CUDA_DIRECTIVE_END;
       token = cuda_next(reader)) {
    in->tokens_left -= token.kind != CUDA_COMMENT;
    depth += is_one_of(&token, "([{") - is_one_of(&token, ")]}");
    if (depth > 0 && (depth > 1 || !is_one_of(&token, ","))) continue;
    if (count == MOST_INLINED_PARAMETERS) return -1;
    out[count++] = (struct span){begin, token.at};
    begin = token.at + 1;
    if (depth == 0) return count;
  }
  return -1;
}

static int parameter_count(const struct inlined *inlined) {
  int count = 0;
  while (inlined->parameters[count]) count++;
  return count;
}

/* Whether a token is a name that is replaced. The reader stands behind it. */
static bool read_call(struct inliner *in, const struct cuda_token *token, struct cuda_reader reader, struct call *out) {
  int i = 0;
  while (i < in->count && (token->kind != CUDA_NAME || !cuda_is(token, in->list[i].name))) i++;
  if (i == in->count) return false;
  *out = (struct call){.inlined = &in->list[i], .end = token->at + token->length};
  const int count = parameter_count(out->inlined);
  if (count == 0) return true;
  if (in->depth == DEEPEST_CALL || in->tokens_left < 0) return false;
  const bool is_call = read_arguments(in, &reader, out->arguments) == count;
  out->end = reader.at;
  return is_call;
}

/* Append to what is written. A blank comes before what would join it, such as a word behind a word. */
static void append_apart(struct text *out, const char *text, size_t length) {
  if (out->length > 0 && length > 0 && cuda_may_join(out->bytes[out->length - 1], *text)) text_add(out, " ", 1);
  text_add(out, text, length);
}

static void copy_span(const struct inliner *in, struct span span) {
  append_apart(in->out, span.begin, (size_t)(span.end - span.begin));
}

static void write_span(struct inliner *in, struct span span);

/* Whether nothing beside an expression can take it apart. */
static bool stands_alone(const struct cuda_token *before, struct cuda_reader behind) {
  const struct cuda_token next = next_of(&behind);
  return (before->kind == CUDA_END || is_one_of(before, "(,")) && (next.kind == CUDA_END || is_one_of(&next, "),"));
}

/* Write an expression, in brackets if something beside it would take it apart. */
static void write_expression(const struct inliner *in, const char *text, bool has_brackets) {
  if (has_brackets) text_printf(in->out, "(%s)", text);
  else append_apart(in->out, text, strlen(text));
}

/* Write an argument of a call, in which calls are replaced. */
static void write_argument(struct inliner *in, struct span argument, bool is_alone) {
  struct text expanded = {0}, *out = in->out;
  in->out = &expanded;
  write_span(in, argument);
  in->out = out;
  if (text_ok(&expanded))
    write_expression(in, text_string(&expanded), !is_alone && operators_of(text_string(&expanded)) != OPERATORS_NONE);
  else out->out_of_memory = true;
  text_free(&expanded);
}

static int parameter_number(const struct inlined *inlined, const struct cuda_token *token) {
  for (int i = 0; inlined->parameters[i]; i++) {
    if (cuda_is(token, inlined->parameters[i])) return i;
  }
  return -1;
}

/* Write the text for which a call stands. */
static void write_result(struct inliner *in, const struct call *call) {
  const struct span text = span_of(call->inlined->text);
  struct cuda_reader reader = read_span(text);
  struct cuda_token before = {.kind = CUDA_END};
  const char *copied = text.begin;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END; before = token) {
    const int number = parameter_number(call->inlined, &token);
    if (number < 0) continue;
    copy_span(in, (struct span){copied, token.at});
    write_argument(in, call->arguments[number], stands_alone(&before, reader));
    copied = token.at + token.length;
  }
  copy_span(in, (struct span){copied, text.end});
}

/* The same, in brackets where they are needed. A product needs none beside a sum. */
static void write_call(struct inliner *in, const struct call *call, const struct cuda_token *before, bool is_alone) {
  struct text result = {0}, *out = in->out;
  in->out = &result;
  write_result(in, call);
  in->out = out;
  if (text_ok(&result)) {
    const enum operators operators = operators_of(text_string(&result));
    const bool is_kept =
        operators == OPERATORS_NONE || is_alone || (operators == OPERATORS_PRODUCT && !is_one_of(before, "/%!~"));
    write_expression(in, text_string(&result), !is_kept);
  } else {
    out->out_of_memory = true;
  }
  text_free(&result);
}

/* Write an argument in which calls are replaced, in one line and without comments: what stands behind the call must not
 * become a part of a comment or of a joined line. */
static void write_span(struct inliner *in, struct span span) {
  struct cuda_reader reader = read_span(span);
  struct cuda_token before = {.kind = CUDA_END};
  bool is_apart = false;  /* a comment stands before the token */
  bool is_behind = false; /* a call was replaced before the token */
  in->depth++;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    struct call call;
    if (token.kind == CUDA_COMMENT) {
      is_apart = true;
      continue;
    }
    if (before.kind != CUDA_END && (is_apart || !token.follows_closely)) text_add(in->out, " ", 1);
    if (read_call(in, &token, reader, &call)) {
      while (reader.at < call.end) (void)cuda_next(&reader);
      write_call(in, &call, &before, stands_alone(&before, reader));
      is_behind = true;
    } else {
      if (is_behind) append_apart(in->out, token.at, token.length);
      else text_add(in->out, token.at, token.length);
      is_behind = false;
    }
    before = token;
    is_apart = false;
  }
  in->depth--;
}

/* Write a text in which calls are replaced. The rest of it stays as it is. */
static void write_text(struct inliner *in, struct span span) {
  struct cuda_reader reader = read_span(span);
  struct cuda_token before = {.kind = CUDA_END};
  const char *copied = span.begin;
  in->depth++;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    struct call call;
    if (read_call(in, &token, reader, &call)) {
      while (reader.at < call.end) (void)cuda_next(&reader);
      copy_span(in, (struct span){copied, token.at});
      write_call(in, &call, &before, stands_alone(&before, reader));
      copied = call.end;
    }
    if (token.kind != CUDA_COMMENT) before = token;
  }
  copy_span(in, (struct span){copied, span.end});
  in->depth--;
}

/* The number of tokens of a text that are no comments. */
static long count_tokens(const char *text) {
  struct cuda_reader reader = cuda_reader_of(text, strlen(text));
  long count = 0;
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) count += token.kind != CUDA_COMMENT;
  return count;
}

halotune_status inline_names(const char *text, const struct inlined *list, int count, struct text *out) {
  struct inliner in = {.list = list, .count = count, .tokens_left = MOST_READ * count_tokens(text), .out = out};
  write_text(&in, span_of(text));
  return text_ok(out) ? HALOTUNE_OK : fail_memory();
}
