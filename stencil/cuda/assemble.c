/* assemble.c: finds the pieces that a kernel needs, and writes them. */
#include "stencil/cuda/assemble.h"

#include <stdlib.h>
#include <string.h>

#include "stencil/cuda/pieces.h"
#include "stencil/cuda/resolve.h"

struct assembly {
  const struct assembly_text *texts;
  int count;
  struct identifiers names;
  struct part_work work;
  struct part parts[MAX_ASSEMBLY_TEXTS];
  struct constants constants;
  struct pieces pieces;
  bool *is_inlined;            /* indexed by the number of the name */
  int *reached, reached_count; /* pieces that the kernel needs, in the order in which they were found */
};

static void assembly_free(struct assembly *a) {
  for (int i = 0; i < a->count; i++) part_free(&a->parts[i]);
  identifiers_free(&a->names);
  free(a->constants.list);
  pieces_free(&a->pieces);
  free(a->is_inlined);
  free(a->reached);
}

static halotune_status assembly_read(struct assembly *a, const char *const *inlined) {
  halotune_status status = HALOTUNE_OK;
  size_t bytes = 0;
  for (int i = 0; i < a->count; i++) bytes += strlen(a->texts[i].text);
  a->work = part_work_for(bytes);
  for (int i = 0; i < a->count && status == HALOTUNE_OK; i++) {
    status = part_read(a->texts[i].file, a->texts[i].text, &a->names, &a->work, &a->parts[i]);
  }
  if (status != HALOTUNE_OK) return status;
  size_t names = (size_t)a->names.count + 1;
  a->constants.names = &a->names;
  a->constants.list = calloc(names, sizeof *a->constants.list);
  a->pieces.first = malloc(names * sizeof *a->pieces.first);
  a->is_inlined = calloc(names, sizeof *a->is_inlined);
  if (!a->constants.list || !a->pieces.first || !a->is_inlined) return fail_memory();
  for (size_t i = 0; i < names; i++) a->pieces.first[i] = -1;
  for (int i = 0; inlined[i]; i++) {
    int name = identifiers_find(&a->names, inlined[i]);
    if (name >= 0) a->is_inlined[name] = true;
  }
  return HALOTUNE_OK;
}

static halotune_status assembly_cut(struct assembly *a) {
  for (int i = 0; i < a->count; i++) {
    int unknown = resolve_directives(&a->constants, &a->parts[i]);
    if (unknown < 0) continue;
    const struct cuda_token *name = &a->parts[i].tokens[unknown].token;
    return fail(HALOTUNE_PARSE,
                "%s:%d: nothing defines '%.*s', which this condition needs: the compiler would take it for 0",
                a->parts[i].file, name->line, (int)name->length, name->at);
  }
  for (int i = 0; i < a->count; i++) {
    if (a->texts[i].file) pieces_cut(&a->pieces, &a->constants, &a->parts[i]);
  }
  if (a->pieces.out_of_memory) return fail_memory();
  a->reached = calloc((size_t)a->pieces.count + 1, sizeof *a->reached);
  return a->reached ? HALOTUNE_OK : fail_memory();
}

/* --- what the kernel needs */

static void reach_piece(void *context, int number) {
  struct assembly *a = context;
  struct piece *piece = &a->pieces.list[number];
  if (piece->is_reached) return;
  piece->is_reached = true;
  resolve_definition(&a->constants, piece->part, piece->body);
  a->reached[a->reached_count++] = number;
}

static void assembly_reach(struct assembly *a) {
  for (int i = 0; i < a->pieces.count; i++) {
    if (a->pieces.list[i].is_needed) reach_piece(a, i);
  }
  for (int i = 0; i < a->reached_count && a->work.steps_left >= 0; i++) {
    const struct piece *piece = &a->pieces.list[a->reached[i]];
    pieces_named(&a->pieces, piece->part, piece->head, reach_piece, a);
    pieces_named(&a->pieces, piece->part, piece->body, reach_piece, a);
  }
}

/* --- writing */

struct writer {
  const struct assembly *a;
  struct text *out;
  const char *file; /* the file of the last line, and its number there */
  int line;
  int last;             /* the last written token of a piece; -1 for none */
  bool has_begun;       /* something was written */
  bool wants_blank;     /* a blank line stood before a piece that was left out */
  bool is_in_directive; /* the last written token stands in a directive, whose # was written, too */
};

static int column_of(const struct text *out) {
  size_t at = out->length;
  while (at > 0 && out->bytes[at - 1] != '\n') at--;
  return (int)(out->length - at);
}

static void add_spaces(struct text *out, int count) {
  for (int i = 0; i < count; i++) text_add(out, " ", 1);
}

/* Begin the line of a token. */
static void begin_line(struct writer *w, const struct part *part, int at, bool is_behind_blank) {
  const struct part_token *token = &part->tokens[at];
  if (w->has_begun) text_add(w->out, "\n\n", is_behind_blank ? 2 : 1);
  w->line += 1 + is_behind_blank;
  if (w->file != part->file || w->line != token->token.line) {
    text_printf(w->out, "#line %d \"%s\"\n", token->token.line, part->file);
  }
  w->file = part->file, w->line = token->token.line;
  w->has_begun = true;
  int columns = part_column(part, at) - token->outdent;
  add_spaces(w->out, columns > 0 ? columns : 0);
}

/* The number of spaces before a token. */
static int spaces_before(const struct part *part, int at) {
  const char *c = part->tokens[at].token.at;
  while (c > part->text && strchr(" \t\v\f\r", c[-1])) c--;
  return (int)(part->tokens[at].token.at - c);
}

/* Whether a token ends an operand. An operator and its other operand were then removed after it. */
static bool ends_operand(const struct cuda_token *token) {
  if (token->kind == CUDA_NAME) return !cuda_is(token, "return");
  return token->kind != CUDA_PUNCTUATION || cuda_is(token, ")") || cuda_is(token, "]");
}

static bool is_inlined(const struct writer *w, int name) {
  return name >= 0 && w->a->is_inlined[name] && w->a->constants.list[name].kind == CONSTANT_MACRO;
}

/* The first byte that is written for a token; 0 for none. */
static char first_byte(const struct writer *w, const struct part_token *token) {
  if (is_inlined(w, token->name)) {
    const struct constant *macro = &w->a->constants.list[token->name];
    return macro->body.begin < macro->body.end ? macro->part->tokens[macro->body.begin].token.at[0] : '\0';
  }
  return token->number ? token->number[0] : token->token.length > 0 ? token->token.at[0] : '\0';
}

static bool is_replaced(const struct writer *w, const struct part_token *token) {
  return token->number || is_inlined(w, token->name);
}

/* Separate a token from the one that it touches in the text, if what is written for one of them would join the other.
 */
static void write_close(struct writer *w, const struct part_token *last, const struct part_token *token) {
  const char first = first_byte(w, token);
  if (!first || w->out->length == 0 || !(is_replaced(w, last) || is_replaced(w, token))) return;
  if (cuda_may_join(w->out->bytes[w->out->length - 1], first)) text_add(w->out, " ", 1);
}

/* Write what separates a token from the last written one in the same piece. */
static void write_gap(struct writer *w, const struct part *part, int at) {
  const struct cuda_token *last = &part->tokens[w->last].token, *token = &part->tokens[at].token;
  const char *gap = last->at + last->length;
  if (w->last + 1 == at && token->follows_closely) {
    write_close(w, &part->tokens[w->last], &part->tokens[at]);
    return;
  }
  /* the tokens are neighbours in the text: separate them as there */
  const bool is_next = w->last + 1 == at;
  const bool is_joined = is_next && memchr(gap, '\\', (size_t)(token->at - gap)); /* lines of one directive */
  if (is_joined || (is_next && part->tokens[at].outdent == 0)) {                  /* as in the text */
    int line = w->line;
    for (const char *c = gap; c < token->at; c++) w->line += *c == '\n';
    if (is_joined || (part_breaks_before(part, at) < 2 && w->line == token->line)) {
      text_add(w->out, gap, (size_t)(token->at - gap));
      return;
    }
    w->line = line;
  }
  const bool has_break = memchr(gap, '\n', (size_t)(token->at - gap));
  if (has_break && w->is_in_directive) { /* a line that ends here would end the directive */
    text_add(w->out, " ", 1);
    return;
  }
  if (has_break) {
    begin_line(w, part, at, part_breaks_before(part, at) > 1);
    return;
  }
  const int spaces = spaces_before(part, ends_operand(last) ? at : w->last + 1);
  add_spaces(w->out, spaces == 0 && cuda_may_join(last->at[last->length - 1], token->at[0]) ? 1 : spaces);
}

/* The columns that a macro's tokens take up to the next comma. */
static int columns_to_comma(const struct part *part, int at, int end) {
  int columns = 0;
  for (; at < end; at++) {
    columns += (int)part->tokens[at].token.length + !part->tokens[at].token.follows_closely;
    if (part_is(part, at, end, ",")) break;
  }
  return columns;
}

/* Write the text of a macro, in lines that break after commas. A directive ends with its line, which does not break. */
static void write_inlined(struct writer *w, int name) {
  enum { LINE_COLUMNS = 118 };
  const struct constant *macro = &w->a->constants.list[name];
  const struct part *from = macro->part;
  for (int i = macro->body.begin; i < macro->body.end; i++) {
    const struct cuda_token *token = &from->tokens[i].token;
    bool is_first = i == macro->body.begin;
    bool may_break = !is_first && !w->is_in_directive && part_is(from, i - 1, macro->body.end, ",");
    if (may_break && column_of(w->out) + columns_to_comma(from, i, macro->body.end) > LINE_COLUMNS) {
      text_printf(w->out, "\n    ");
      w->line++;
    } else if (!is_first && !token->follows_closely) {
      text_add(w->out, " ", 1);
    }
    text_add(w->out, token->at, token->length);
  }
}

/* Go on at a token, also where the tokens before it are not written. Returns whether the directive with the last
 * written token ends before it. */
static bool leave_directive(struct writer *w, const struct part *part, int at) {
  const bool was_in_directive = w->is_in_directive;
  for (int i = w->last + 1; i < at && w->is_in_directive; i++)
    w->is_in_directive = part->tokens[i].token.kind != CUDA_DIRECTIVE_END;
  return was_in_directive && !w->is_in_directive;
}

static void write_tokens(struct writer *w, const struct part *part, struct range range) {
  for (int i = range.begin; i < range.end; i++) {
    const struct part_token *token = &part->tokens[i];
    if (token->is_gone) continue;
    leave_directive(w, part, i);
    if (w->last >= 0) write_gap(w, part, i);
    else begin_line(w, part, i, w->has_begun && w->wants_blank);
    w->is_in_directive =
        (w->is_in_directive || token->token.kind == CUDA_DIRECTIVE) && token->token.kind != CUDA_DIRECTIVE_END;
    if (is_inlined(w, token->name)) write_inlined(w, token->name);
    else if (token->number) text_printf(w->out, "%s", token->number);
    else text_add(w->out, token->token.at, token->token.length);
    for (size_t c = 0; c < token->token.length; c++) w->line += token->token.at[c] == '\n';
    w->last = i;
  }
}

/* Write a piece, with the beginning or the end of a statement that several pieces share. */
static void write_piece(struct writer *w, const struct piece *piece, bool begins, bool ends) {
  if (begins) {
    w->last = -1;
    w->is_in_directive = false;
    write_tokens(w, piece->part, piece->head);
  } else {
    const struct cuda_token *last = &piece->part->tokens[w->last].token;
    const bool is_behind = leave_directive(w, piece->part, piece->body.begin);
    const bool ends_line =
        is_behind || last->kind == CUDA_DIRECTIVE_END || (last->kind == CUDA_COMMENT && last->at[1] == '/');
    text_add(w->out, ends_line ? "\n," : ",", ends_line ? 2 : 1);
    w->line += ends_line;
    w->last = piece->body.begin - 1; /* the comma before the piece */
  }
  write_tokens(w, piece->part, piece->body);
  if (ends) write_tokens(w, piece->part, piece->tail);
}

static bool is_written(const struct writer *w, int number) {
  const struct piece *piece = &w->a->pieces.list[number];
  if (!piece->is_reached) return false;
  return !is_inlined(w, piece->macro);
}

/* Whether a blank line stands before a token, or before the removed directives above it. */
static bool begins_paragraph(const struct part *part, int at) {
  while (part_breaks_before(part, at) < 2) {
    if (at == 0 || part->tokens[at - 1].token.kind != CUDA_DIRECTIVE_END || !part->tokens[at - 1].is_gone) return false;
    do at--;
    while (at > 0 && part->tokens[at].token.kind != CUDA_DIRECTIVE);
  }
  return true;
}

static void write_pieces(struct writer *w, const struct part *part, const char *without) {
  const struct pieces *pieces = &w->a->pieces;
  bool is_open = false, is_paragraph = false;
  int asked = -1; /* the token about which is_paragraph is: the pieces of a statement share the first one */
  w->wants_blank = true;
  for (int i = 0; i < pieces->count && !part_is_over(part); i++) {
    const struct piece *piece = &pieces->list[i];
    if (piece->part != part) continue;
    int begin = piece->head.begin < piece->head.end ? piece->head.begin : piece->body.begin;
    if (begin != asked) is_paragraph = begins_paragraph(part, begin);
    asked = begin;
    w->wants_blank = w->wants_blank || is_paragraph;
    if (!is_written(w, i)) continue;
    if (without && !is_open) {
      text_printf(w->out, "\n\n#ifndef %s  // the emulation has its own", without);
      w->line = -1;
      is_open = true;
    }
    int before = i - 1, behind = i + 1;
    while (before >= 0 && pieces->list[before].statement == piece->statement && !is_written(w, before)) before--;
    while (behind < pieces->count && pieces->list[behind].statement == piece->statement && !is_written(w, behind))
      behind++;
    write_piece(w, piece, before < 0 || pieces->list[before].statement != piece->statement,
                behind == pieces->count || pieces->list[behind].statement != piece->statement);
    w->wants_blank = false;
  }
  if (is_open) {
    text_printf(w->out, "\n#endif");
    w->line = -1;
  }
}

/* Whether a condition about a name was resolved in some piece that is needed. */
static bool is_decided_by(const struct assembly *a, const char *name) {
  int number = identifiers_find(&a->names, name);
  for (int i = 0; i < a->reached_count && number >= 0; i++) {
    const struct piece *piece = &a->pieces.list[a->reached[i]];
    /* a comment may have brought what stands between it and the definition */
    for (int t = part_skip(piece->part, piece->body.begin, piece->body.end); t < piece->body.end; t++) {
      if (piece->part->tokens[t].name == number && piece->part->tokens[t].is_gone) return true;
    }
  }
  return false;
}

halotune_status assemble(const struct assembly_text *texts, int count, int real_bytes, const char *const *inlined,
                         const char *watched, bool *is_decisive, struct text *out) {
  struct assembly a = {.texts = texts, .count = count, .constants = {.real_bytes = real_bytes}};
  halotune_status status = assembly_read(&a, inlined);
  if (status == HALOTUNE_OK) status = assembly_cut(&a);
  if (status == HALOTUNE_OK) {
    struct writer w = {.a = &a, .out = out};
    assembly_reach(&a);
    *is_decisive = is_decided_by(&a, watched);
    for (int i = 0; i < count; i++) write_pieces(&w, &a.parts[i], texts[i].without);
    text_add(out, "\n", 1);
    status = text_ok(out) ? part_work_check(&a.work) : fail_memory();
  }
  assembly_free(&a);
  return status;
}
