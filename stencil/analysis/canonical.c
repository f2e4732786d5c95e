/* canonical.c: writes a text that describes what a stencil computes, and keeps its hash. The text does not depend on
 * how the file is written.
 *
 * The text begins with a few lines of facts. Each distinct operation of the update then has one line "HASH =
 * operation(operand, ...)". An operand is a leaf, or the hash of the line that computes it. A chain of + or of * is
 * written as one sum or product with sorted operands, and the lines are sorted, too. So the names of temporaries and
 * the order of terms do not matter. Only one thing about temporaries matters: a link of a chain that is used twice has
 * its own line, while an expression that is written out twice is opened into both chains. */
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis_parts.h"

struct work {
  const struct stencil *stencil;
  int count; /* nodes of the update; each array has this length and is indexed by position minus update.first */
  int *uses;
  char **names; /* the name of each node as an operand */
  char **lines; /* one for each operation; NULL for leaves and for links of a longer chain */
  struct arena arena;
};

static const struct expr *node_at(const struct work *w, int position) {
  return &w->stencil->exprs.nodes[w->stencil->update.first + position];
}

/* a - b counts as a + (-b), so that its terms can be sorted like those of a sum. */
static enum expr_kind chain_of(const struct expr *node) { return node->kind == EXPR_SUBTRACT ? EXPR_ADD : node->kind; }

static bool is_chain(const struct expr *node) { return chain_of(node) == EXPR_ADD || node->kind == EXPR_MULTIPLY; }

static void add_leaf(struct text *text, const struct stencil *stencil, const struct expr *node) {
  switch (node->kind) {
  case EXPR_NUMBER: text_number(text, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "%s", stencil->coefficients[node->index].name); break;
  case EXPR_VARIABLE: text_printf(text, "%s", variable_names[node->index]); break;
  default:
    text_printf(text, "%s[%d,%d,%d]", stencil->inputs[node->index], node->offset[0], node->offset[1], node->offset[2]);
    break;
  }
}

/* An operand of a chain or of another operation. */
struct operand {
  int position;
  bool negative;
};

struct operands {
  struct operand *list;
  char **texts;
  int count;
};

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Collect the operands of the chain that ends at `top`. A link that only this chain uses is replaced by its own
 * operands. `pending` has room for every node. */
static void open_chain(const struct work *w, int top, struct operand *pending, struct operands *out) {
  enum expr_kind kind = chain_of(node_at(w, top));
  int first = w->stencil->update.first, waiting = 0;
  pending[waiting++] = (struct operand){top, false};
  while (waiting > 0) {
    struct operand operand = pending[--waiting];
    const struct expr *node = node_at(w, operand.position);
    bool link = operand.position == top || (w->uses[operand.position] == 1 && !operand.negative);
    if (!link || chain_of(node) != kind) {
      out->list[out->count++] = operand;
      continue;
    }
    pending[waiting++] = (struct operand){node->args[1] - first, node->kind == EXPR_SUBTRACT};
    pending[waiting++] = (struct operand){node->args[0] - first, false};
  }
}

static const char *operation_name(const struct expr *node) {
  switch (chain_of(node)) {
  case EXPR_ADD: return "sum";
  case EXPR_MULTIPLY: return "product";
  case EXPR_DIVIDE: return "quotient";
  case EXPR_NEGATE: return "negative";
  case EXPR_LESS: return "less";
  case EXPR_LESS_EQUAL: return "less_equal";
  case EXPR_GREATER: return "greater";
  case EXPR_GREATER_EQUAL: return "greater_equal";
  case EXPR_EQUAL: return "equal";
  case EXPR_NOT_EQUAL: return "not_equal";
  case EXPR_AND: return "and";
  case EXPR_OR: return "or";
  case EXPR_NOT: return "not";
  case EXPR_CHOOSE: return "choice";
  default: return functions[node->index].name;
  }
}

/* Write the line of one operation. The hash of the line becomes the node's name. */
static bool write_line(struct work *w, int position, struct operand *pending, struct operands *operands) {
  const struct expr *node = node_at(w, position);
  struct text line = {0};
  char hex[IDENTITY_HEX_BYTES];
  operands->count = 0;
  if (is_chain(node)) {
    open_chain(w, position, pending, operands);
  } else {
    for (int k = 0; k < node->arg_count; k++) {
      operands->list[operands->count++] = (struct operand){node->args[k] - w->stencil->update.first, false};
    }
  }
  bool ok = true;
  for (int i = 0; i < operands->count && ok; i++) {
    const char *name = w->names[operands->list[i].position];
    size_t length = name ? strlen(name) + 1 : 0;
    char *text = name ? arena_alloc(&w->arena, length + 1) : NULL;
    if ((ok = text != NULL)) {
      text[0] = operands->list[i].negative ? '-' : '+';
      memcpy(text + 1, name, length);
      operands->texts[i] = text;
    }
  }
  if (ok && is_chain(node)) qsort(operands->texts, (size_t)operands->count, sizeof *operands->texts, compare_texts);
  text_printf(&line, "%s(", operation_name(node));
  for (int i = 0; i < operands->count && ok; i++) {
    const char *text = operands->texts[i];
    text_printf(&line, "%s%s", i > 0 ? ", " : "", text[0] == '+' ? text + 1 : text);
  }
  text_printf(&line, ")");
  identity_hex(identity_of("expression", text_string(&line), line.length), hex);
  if (ok) w->names[position] = arena_text(&w->arena, hex, sizeof hex - 1);
  if (ok) w->lines[position] = arena_text(&w->arena, text_string(&line), line.length);
  ok = ok && text_ok(&line) && w->names[position] && w->lines[position];
  text_free(&line);
  return ok;
}

static bool name_leaf(struct work *w, int position) {
  struct text text = {0};
  add_leaf(&text, w->stencil, node_at(w, position));
  w->names[position] = arena_text(&w->arena, text_string(&text), text.length);
  text_free(&text);
  return w->names[position] != NULL;
}

static void count_uses(struct work *w) {
  const struct update *update = &w->stencil->update;
  for (int i = 0; i < w->count; i++) {
    const struct expr *node = node_at(w, i);
    for (int k = 0; k < node->arg_count; k++) w->uses[node->args[k] - update->first]++;
  }
  for (int i = 0; i < update->count; i++) {
    if (update->assignments[i].output >= 0) w->uses[update->assignments[i].root - update->first]++;
  }
}

/* Find the nodes that are links: their only user is an operation of the same chain, which takes over their operands. */
static void find_links(const struct work *w, bool *links) {
  int first = w->stencil->update.first;
  for (int i = 0; i < w->count; i++) {
    const struct expr *user = node_at(w, i);
    for (int k = 0; k < user->arg_count && is_chain(user); k++) {
      int position = user->args[k] - first;
      bool negative = user->kind == EXPR_SUBTRACT && k == 1;
      if (!negative && w->uses[position] == 1 && chain_of(node_at(w, position)) == chain_of(user))
        links[position] = true;
    }
  }
}

static halotune_status write_lines(struct work *w) {
  size_t count = (size_t)w->count + MAX_EXPR_ARGS;
  struct operand *pending = malloc(2 * count * sizeof *pending);
  struct operands operands = {.list = malloc(count * sizeof *operands.list),
                              .texts = malloc(count * sizeof *operands.texts)};
  bool *links = calloc(count, sizeof *links);
  bool ok = pending && operands.list && operands.texts && links;
  if (ok) find_links(w, links);
  for (int i = 0; i < w->count && ok; i++) {
    if (node_at(w, i)->arg_count == 0) ok = name_leaf(w, i);
    else if (!links[i]) ok = write_line(w, i, pending, &operands);
  }
  free(links);
  free(operands.texts);
  free(operands.list);
  free(pending);
  return ok ? HALOTUNE_OK : fail_memory();
}

static void add_edges(struct text *text, const struct stencil *stencil, const char *input, int axis,
                      const struct edge edges[SIDES]) {
  text_printf(text, "boundary %s%s%c ", input ? input : "", input ? " " : "", axis_names[axis]);
  edges_write(text, stencil, edges, " ");
  text_printf(text, "\n");
}

/* Append the rules of inputs that differ from those of the axes, and margins of outputs that differ from the reach. */
static void add_exceptions(struct text *text, const struct stencil *stencil, const struct analysis *analysis) {
  for (int i = 0; i < stencil->input_count; i++) {
    for (int axis = 0; axis < stencil->dims; axis++) {
      const struct edge *edges = stencil->input_boundary[i][axis], *usual = stencil->boundary[axis];
      if (edge_equal(&edges[SIDE_LOW], &usual[SIDE_LOW]) && edge_equal(&edges[SIDE_HIGH], &usual[SIDE_HIGH])) continue;
      add_edges(text, stencil, stencil->inputs[i], axis, edges);
    }
  }
  for (int output = 0; output < stencil->output_count; output++) {
    for (int axis = 0; axis < stencil->dims; axis++) {
      const struct edge *edges = stencil->boundary[axis];
      int low = margin_of(stencil, analysis, output, axis, SIDE_LOW);
      int high = margin_of(stencil, analysis, output, axis, SIDE_HIGH);
      bool is_usual = low == (edge_leaves_out(&edges[SIDE_LOW]) ? analysis->radius_low[axis] : 0) &&
                      high == (edge_leaves_out(&edges[SIDE_HIGH]) ? analysis->radius_high[axis] : 0);
      if (!is_usual) text_printf(text, "margin %s %c %d %d\n", stencil->outputs[output], axis_names[axis], low, high);
    }
  }
}

static void add_facts(struct text *text, const struct stencil *stencil, const struct analysis *analysis) {
  text_printf(text, "halotune stencil 1\nkind %s\ndims %d\n", kind_names[stencil->kind], stencil->dims);
  if (stencil->kind == STENCIL_SCAN) text_printf(text, "axis %c\n", axis_names[stencil->axis]);
  for (int i = 0; i < stencil->input_count; i++) text_printf(text, "input %s\n", stencil->inputs[i]);
  for (int i = 0; i < stencil->input_count; i++) {
    if (!input_is_thin(stencil, i)) continue;
    text_printf(text, "along %s ", stencil->inputs[i]);
    input_axes_write(text, stencil, i);
    text_printf(text, "\n");
  }
  for (int i = 0; i < stencil->input_count; i++) {
    const char *type = input_type_names[stencil->input_types[i]];
    if (type) text_printf(text, "type %s %s\n", stencil->inputs[i], type);
  }
  for (int i = 0; i < stencil->output_count; i++) text_printf(text, "output %s\n", stencil->outputs[i]);
  for (int i = 0; i < stencil->coefficient_count; i++)
    text_printf(text, "coefficient %s\n", stencil->coefficients[i].name);
  for (int axis = 0; axis < stencil->dims && stencil->kind == STENCIL_STENCIL; axis++) {
    add_edges(text, stencil, NULL, axis, stencil->boundary[axis]);
  }
  if (stencil->kind == STENCIL_STENCIL) add_exceptions(text, stencil, analysis);
  for (int to = 0; to < stencil->input_count; to++) { /* sorted by target, since the order in the file has no meaning */
    for (int i = 0; i < stencil->iterate_count; i++) {
      const struct iterate *entry = &stencil->iterate[i];
      const char *from = entry->from_output ? stencil->outputs[entry->from] : stencil->inputs[entry->from];
      if (entry->to == to) text_printf(text, "iterate %s %s\n", from, stencil->inputs[to]);
    }
  }
}

static void add_in_place(struct text *text, const struct stencil *stencil) {
  for (int output = 0; output < stencil->output_count; output++) {
    const int input = stencil_in_place(stencil, output);
    if (input >= 0) text_printf(text, "in_place %s %s\n", stencil->outputs[output], stencil->inputs[input]);
  }
}

static void add_update(struct text *text, const struct work *w) {
  const struct update *update = &w->stencil->update;
  char **lines = w->lines;
  int count = 0;
  for (int output = 0; output < w->stencil->output_count; output++) {
    for (int i = 0; i < update->count; i++) {
      const struct assignment *assignment = &update->assignments[i];
      if (assignment->output != output) continue;
      text_printf(text, "update %s = %s\n", assignment->name, w->names[assignment->root - update->first]);
    }
  }
  for (int i = 0; i < w->count; i++) {
    if (lines[i]) lines[count++] = lines[i];
  }
  if (count > 1) qsort(lines, (size_t)count, sizeof *lines, compare_texts);
  for (int i = 0; i < count; i++) {
    char hex[IDENTITY_HEX_BYTES];
    if (i > 0 && strcmp(lines[i], lines[i - 1]) == 0) continue; /* the same expression appears twice */
    identity_hex(identity_of("expression", lines[i], strlen(lines[i])), hex);
    text_printf(text, "%s = %s\n", hex, lines[i]);
  }
}

halotune_status make_hash(const struct stencil *stencil, struct analysis *analysis) {
  struct work w = {.stencil = stencil, .count = stencil->update.end - stencil->update.first};
  struct text text = {0};
  halotune_status status = HALOTUNE_OK;
  w.uses = calloc((size_t)w.count + 1, sizeof *w.uses);
  w.names = calloc((size_t)w.count + 1, sizeof *w.names);
  w.lines = calloc((size_t)w.count + 1, sizeof *w.lines);
  if (!w.uses || !w.names || !w.lines) {
    status = fail_memory();
    goto done;
  }
  count_uses(&w);
  if ((status = write_lines(&w)) != HALOTUNE_OK) goto done;
  add_facts(&text, stencil, analysis);
  add_in_place(&text, stencil);
  add_update(&text, &w);
  if (text_ok(&text)) analysis->hash = identity_of("stencil", text.bytes, text.length);
  else status = fail_memory();
done:
  text_free(&text);
  arena_free(&w.arena);
  free(w.lines);
  free(w.names);
  free(w.uses);
  return status;
}
