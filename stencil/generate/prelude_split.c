/* prelude_split.c: writes a stencil's update in two parts as CUDA functions. One adds a loaded plane to sums, the other
 * computes outputs from complete sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/generate/prelude_parts.h"

/* Names of the stencil's file end in an underscore, as in the update. */
struct context {
  const struct prelude *prelude;
  int assignment, output; /* the assignment and output that are being printed */
  char *name;             /* room for NAME_BYTES */
};
enum { NAME_BYTES = 128 };

static const struct split *split_of(const struct prelude *prelude) { return &prelude->spec->analysis->split; }

static void add_leaf(struct text *text, const struct expr *node, const void *context) {
  const struct context *c = context;
  const struct stencil *stencil = c->prelude->spec->stencil;
  switch (node->kind) {
  case EXPR_NUMBER: prelude_write_number(text, c->prelude, node->number); break;
  case EXPR_COEFFICIENT: text_printf(text, "coefficients.%s_", stencil->coefficients[node->index].name); break;
  case EXPR_VARIABLE:
    text_printf(text, "taps(%d)", prelude_index_field(stencil, node->index - VARIABLE_INDEX_X));
    break;
  default:
    text_printf(text, "taps(%d)", prelude_tap_field(c->prelude, find_tap(c->prelude->spec->analysis, node)));
    break;
  }
}

/* Append the values of the weights, each number once. */
static halotune_status add_values(struct text *values, const struct prelude *prelude) {
  const struct split *split = split_of(prelude);
  struct context context = {.prelude = prelude};
  struct spelling spelling = {.leaf = add_leaf, .is_cuda = true, .context = &context};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0, next = 0; i < split->weight_count && status == HALOTUNE_OK; i++) {
    if (split->weights[i].number != next) continue;
    text_printf(values, "%s    ", next > 0 ? ",\n" : "");
    status = expr_print(values, &split->exprs, split->weights[i].factor, &spelling);
    next++;
  }
  return status;
}

static void add_weights(struct text *text, const char *values, int count) {
  text_printf(text, "// The weights of the taps. Each thread computes them once.\nstruct Weights {\n  real ");
  for (int i = 0; i < count; i++) text_printf(text, "%sw%d", i > 0 ? ", " : "", i);
  text_printf(text,
              ";\n};\n__device__ __forceinline__ Weights weights_of(const Coefficients &coefficients) {\n"
              "  (void)coefficients;\n  return {\n%s};\n}\n",
              values);
}

/* Append sums[0][5] = sums[0][4] + weights.w3*taps(0, 0, 0) + ...; */
static void add_sum(struct text *text, const struct prelude *prelude, int f, int plane) {
  const struct analysis *analysis = prelude->spec->analysis;
  const struct form *form = &analysis->split.forms[f];
  int axis = analysis->split.axis, low = analysis->radius_low[axis];
  bool first = true;
  text_printf(text, "  sums[%d][%d] =", f, plane + low);
  if (plane > form->first_plane) {
    text_printf(text, " sums[%d][%d]", f, plane - 1 + low);
    first = false;
  }
  for (int i = form->first_weight; i < form->first_weight + form->weight_count; i++) {
    const struct tap *tap = &analysis->taps[analysis->split.weights[i].tap];
    if (tap->offset[axis] != plane) continue;
    text_printf(text, "%s weights.w%d*taps(%d, %d, %d)", first ? "" : " +", analysis->split.weights[i].number,
                tap->input, tap->offset[0], axis == 1 ? 0 : tap->offset[1]);
    first = false;
  }
  text_printf(text, ";\n");
}

static void add_plane(struct text *text, const struct prelude *prelude) {
  const struct split *split = split_of(prelude);
  text_printf(
      text,
      "// Add a plane that comes in to the sums. taps(input, x, y) gives a point of it at an offset. sums[form][i] belongs to\n"
      "// the plane from which the incoming plane lies at offset i - LOW_Z. So each sum first moves to its next place.\n"
      "// %s\n"
      "template <class Taps>\n"
      "__device__ __forceinline__ void add_plane(const Taps &taps, const Weights &weights, real (&sums)[FORMS][PLANES]) {\n",
      prelude->groups_weights
          ? "Points of equal or proportional weights are added first. A sum that several planes receive is computed once."
          : "Taps are added in the order of z, then y, then x.");
  if (prelude->groups_weights) prelude_write_grouped(text, prelude, false);
  for (int f = 0; f < split->form_count && !prelude->groups_weights; f++) {
    for (int plane = split->forms[f].kept_until; plane >= split->forms[f].first_plane; plane--) {
      add_sum(text, prelude, f, plane);
    }
  }
  text_printf(text, "}\n\n");
}

/* The taps of one row of the plane: row 0, which is y, and the rows beside it. */
static void add_row(struct text *text, const struct prelude *prelude, int row) {
  const struct analysis *analysis = prelude->spec->analysis;
  const struct split *split = &analysis->split;
  for (int f = 0; f < split->form_count; f++) {
    const struct form *form = &split->forms[f];
    for (int plane = form->kept_until; plane >= form->first_plane; plane--) {
      for (int i = form->first_weight; i < form->first_weight + form->weight_count; i++) {
        const struct tap *tap = &analysis->taps[split->weights[i].tap];
        if (tap->offset[split->axis] != plane || (split->axis != 1 && tap->offset[1] != row)) continue;
        int place = plane + analysis->radius_low[split->axis];
        text_printf(text, "    sums[%d][%d] = fma(weights.w%d, taps(%d, %d), sums[%d][%d]);\n", f, place,
                    split->weights[i].number, tap->input, tap->offset[0], f, place);
      }
    }
  }
}

static void add_rows(struct text *text, const struct prelude *prelude) {
  const struct analysis *analysis = prelude->spec->analysis;
  text_printf(
      text,
      "// The same in parts. move_sums: call it before a plane comes in; each sum moves to its next place.\n"
      "// add_row: add the row of this plane at offset y from the point. taps(input, x) gives its points.\n"
      "__device__ __forceinline__ void move_sums(real (&sums)[FORMS][PLANES]) {\n"
      "#pragma unroll\n"
      "  for (int form = 0; form < FORMS; form++) {\n"
      "#pragma unroll\n"
      "    for (int i = PLANES - 1; i > 0; i--) sums[form][i] = sums[form][i - 1];\n"
      "    sums[form][0] = 0;\n"
      "  }\n}\n"
      "template <class Taps>\n"
      "__device__ __forceinline__ void add_row(int y, const Taps &taps, const Weights &weights, real (&sums)[FORMS][PLANES]) {\n");
  bool in_plane = analysis->split.axis != 1;
  for (int row = in_plane ? -analysis->radius_low[1] : 0; row <= (in_plane ? analysis->radius_high[1] : 0); row++) {
    text_printf(text, "  if (y == %d) {\n", row);
    if (prelude->groups_weights && !in_plane) prelude_write_grouped(text, prelude, true);
    else add_row(text, prelude, row);
    text_printf(text, "  }\n");
  }
  text_printf(text, "}\n\n");
}

/* Templates that keep weights in an order of their own ask for each. */
static void add_visit(struct text *text, const struct prelude *prelude) {
  const struct analysis *analysis = prelude->spec->analysis;
  const struct split *split = &analysis->split;
  text_printf(
      text, "// Call visit(input, x, y, z, weight) for each tap of a form: its offset from the point, and its weight.\n"
            "template <class Visit>\n"
            "__device__ __forceinline__ void visit_weights(int form, const Weights &weights, const Visit &visit) {\n");
  for (int f = 0; f < split->form_count; f++) {
    const struct form *form = &split->forms[f];
    text_printf(text, "  if (form == %d) {\n", f);
    for (int i = form->first_weight; i < form->first_weight + form->weight_count; i++) {
      const struct tap *tap = &analysis->taps[split->weights[i].tap];
      text_printf(text, "    visit(%d, %d, %d, %d, weights.w%d);\n", tap->input, tap->offset[0], tap->offset[1],
                  tap->offset[2], split->weights[i].number);
    }
    text_printf(text, "  }\n");
  }
  text_printf(text, "}\n\n");
}

static const char *find_name(int node, const void *context) {
  const struct context *c = context;
  const struct analysis *analysis = c->prelude->spec->analysis;
  int form = split_form(&analysis->split, node);
  if (form >= 0) {
    snprintf(c->name, NAME_BYTES, "sums[%d][%d]", form,
             analysis->split.delay[c->output] + analysis->radius_low[analysis->split.axis]);
    return c->name;
  }
  for (int i = 0; i < c->assignment; i++) {
    const struct assignment *assignment = &c->prelude->spec->stencil->update.assignments[i];
    if (assignment->output >= 0 || assignment->root != node) continue;
    snprintf(c->name, NAME_BYTES, "%s_", assignment->name);
    return c->name;
  }
  return NULL;
}

/* Mark the nodes of the update that one output needs after its forms are complete. */
static void mark_rest(const struct prelude *prelude, int root, bool *is_rest) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct update *update = &stencil->update;
  memset(is_rest, 0, (size_t)(update->end - update->first) * sizeof *is_rest);
  is_rest[root - update->first] = true;
  for (int i = root; i >= update->first; i--) {
    if (!is_rest[i - update->first] || split_form(split_of(prelude), i) >= 0) continue;
    const struct expr *node = &stencil->exprs.nodes[i];
    for (int k = 0; k < node->arg_count; k++) is_rest[node->args[k] - update->first] = true;
  }
}

static halotune_status add_output(struct text *text, const struct prelude *prelude, int index, bool *is_rest) {
  const struct stencil *stencil = prelude->spec->stencil;
  const struct assignment *assignments = stencil->update.assignments;
  char name[NAME_BYTES];
  struct context context = {.prelude = prelude, .output = assignments[index].output, .name = name};
  struct spelling spelling = {.leaf = add_leaf, .temporary = find_name, .is_cuda = true, .context = &context};
  halotune_status status = HALOTUNE_OK;
  mark_rest(prelude, assignments[index].root, is_rest);
  text_printf(text, "  if (output == %d) {  // %s\n", context.output, assignments[index].name);
  for (int i = 0; i < index && status == HALOTUNE_OK; i++) {
    int root = assignments[i].root;
    if (assignments[i].output >= 0 || !is_rest[root - stencil->update.first]) continue;
    if (split_form(split_of(prelude), root) >= 0) continue;
    context.assignment = i;
    text_printf(text, "    const real %s_ = ", assignments[i].name);
    status = expr_print(text, &stencil->exprs, root, &spelling);
    text_printf(text, ";\n");
  }
  context.assignment = index;
  text_printf(text, "    return ");
  if (status == HALOTUNE_OK) status = expr_print(text, &stencil->exprs, assignments[index].root, &spelling);
  text_printf(text, ";\n  }\n");
  return status;
}

static halotune_status add_finish(struct text *text, const struct prelude *prelude) {
  const struct stencil *stencil = prelude->spec->stencil;
  halotune_status status = HALOTUNE_OK;
  bool *is_rest = malloc((size_t)(stencil->update.end - stencil->update.first) * sizeof *is_rest);
  if (!is_rest) return fail_memory();
  text_printf(
      text,
      "// The output at a point, delay(output) planes after its own plane came in. taps(input) gives an input at the point.\n"
      "template <class Taps>\n"
      "__device__ __forceinline__ real finish(int output, const Taps &taps, const Coefficients &coefficients, const "
      "real (&sums)[FORMS][PLANES]) {\n  (void)taps, (void)coefficients;\n");
  for (int i = 0; i < stencil->update.count && status == HALOTUNE_OK; i++) {
    if (stencil->update.assignments[i].output >= 0) status = add_output(text, prelude, i, is_rest);
  }
  text_printf(text, "  return real(0);\n}\n\n");
  free(is_rest);
  return status;
}

static void add_constants(struct text *text, const struct prelude *prelude) {
  const struct split *split = split_of(prelude);
  const struct stencil *stencil = prelude->spec->stencil;
  const int tap_count = prelude->spec->analysis->tap_count;
  bool reads = false;
  text_printf(
      text,
      "// The update in two parts: FORMS sums of weighted taps, to which each plane adds; and finish(), the rest\n"
      "#define FORMS %d\n#define PLANES %d  // LOW_%c + 1 + HIGH_%c\n"
      "__device__ constexpr int delay(int output) { return ",
      split->form_count,
      prelude->spec->analysis->radius_low[split->axis] + 1 + prelude->spec->analysis->radius_high[split->axis],
      'X' + split->axis, 'X' + split->axis);
  for (int o = 0; o < stencil->output_count; o++) text_printf(text, "output == %d ? %d : ", o, split->delay[o]);
  text_printf(text, "0; }\n// Whether finish() of an output reads an input at the point.\n"
                    "__device__ constexpr bool finish_reads(int output, int input) {\n  return ");
  for (int o = 0; o < stencil->output_count; o++) {
    for (int i = 0; i < stencil->input_count; i++) {
      if (!split->reads_beside[o][i]) continue;
      text_printf(text, "(output == %d && input == %d) || ", o, i);
      reads = true;
    }
    for (int i = 0; i < tap_count; i++) {
      if (!split->reads_taps[o * tap_count + i]) continue;
      text_printf(text, "(output == %d && input == %d) || ", o, prelude_tap_field(prelude, i));
      reads = true;
    }
    for (int axis = 0; axis < stencil->dims; axis++) {
      if (!split->reads_index[o][axis]) continue;
      text_printf(text, "(output == %d && input == %d) || ", o, prelude_index_field(stencil, axis));
      reads = true;
    }
  }
  text_printf(text, "false;\n}\n#define FINISH_READS %d  // 1 if finish() of an output reads an input\n", reads);
}

halotune_status prelude_write_split(struct text *text, const struct prelude *prelude) {
  const struct split *split = split_of(prelude);
  struct text values = {0};
  halotune_status status = add_values(&values, prelude);
  if (status == HALOTUNE_OK) {
    add_constants(text, prelude);
    add_weights(text, text_string(&values), split->weight_numbers);
    add_plane(text, prelude);
    add_rows(text, prelude);
    add_visit(text, prelude);
    status = add_finish(text, prelude);
  }
  text_free(&values);
  return status;
}
