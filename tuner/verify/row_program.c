/* row_program.c: translates the nodes of an update into instructions, and runs them. */
#include "tuner/verify/row_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/set.h"

enum { NO_ROW = -1 };

/* Facts about a node during the translation. */
struct note {
  bool is_used, is_uniform;
  bool is_exact, is_whole; /* a kernel computes it without any rounding; and it is a whole number */
  bool is_carried;         /* it has errors of earlier time steps */
  int last_use;            /* the last node that has this one as an operand */
  int row;                 /* NO_ROW before it has one */
  double value, magnitude; /* value and magnitude of a uniform node */
  double bound;            /* bound of the size of a whole number; INFINITY: unknown */
};

struct compiler {
  const struct stencil *stencil;
  const struct kernel_run *run;
  const struct expr *nodes; /* the nodes of the update only */
  int node_count;
  struct note *notes; /* one for each node */
  struct row_program *program;
  struct arena *arena;
  int *free_buffers;
  int free_count;
};

static int arg_of(const struct compiler *c, const struct expr *node, int k) {
  return node->args[k] - c->stencil->update.first;
}

static int root_of(const struct compiler *c, int assignment) {
  return c->stencil->update.assignments[assignment].root - c->stencil->update.first;
}

/* Whether a node's values come from a field, or are the numbers of the points. */
static bool is_read(const struct expr *node) { return node->kind == EXPR_TAP || node->kind == EXPR_VARIABLE; }

static void take_notes(struct compiler *c) {
  for (int i = 0; i < c->node_count; i++) {
    struct note *note = &c->notes[i];
    *note = (struct note){.row = NO_ROW, .is_uniform = !is_read(&c->nodes[i]), .last_use = i};
    for (int k = 0; k < c->nodes[i].arg_count; k++) {
      note->is_uniform = note->is_uniform && c->notes[arg_of(c, &c->nodes[i], k)].is_uniform;
    }
  }
  for (int i = 0; i < c->stencil->update.count; i++) {
    if (c->stencil->update.assignments[i].output >= 0) c->notes[root_of(c, i)].is_used = true;
  }
  for (int i = c->node_count - 1; i >= 0; i--) {
    for (int k = 0; c->notes[i].is_used && k < c->nodes[i].arg_count; k++) {
      struct note *arg = &c->notes[arg_of(c, &c->nodes[i], k)];
      if (arg->last_use < i) arg->last_use = i;
      arg->is_used = true;
    }
  }
}

static bool is_computed(const struct compiler *c, int i) {
  return c->notes[i].is_used && !c->notes[i].is_uniform && !is_read(&c->nodes[i]);
}

/* Whether a time step of this run replaces an input, so that it has errors in the steps after the first one. */
static bool is_replaced(const struct compiler *c, int input) {
  for (int i = 0; i < c->stencil->iterate_count; i++) {
    if (c->stencil->iterate[i].to == input) return c->run->steps > 1;
  }
  return false;
}

/* The largest whole number up to which a type holds all whole numbers. */
static double most_whole(const struct compiler *c) { return c->run->dtype == DTYPE_F32 ? 0x1p24 : 0x1p53; }

/* A bound of a node's size, from the bounds of its operands. */
static double bound_of(const struct compiler *c, const struct expr *node) {
  double bounds[MAX_EXPR_ARGS] = {0};
  for (int k = 0; k < node->arg_count; k++) bounds[k] = c->notes[arg_of(c, node, k)].bound;
  if (expr_is_truth(node)) return 1;
  switch (node->kind) {
  case EXPR_NEGATE: return bounds[0];
  case EXPR_CHOOSE: return fmax(bounds[1], bounds[2]);
  case EXPR_ADD:
  case EXPR_SUBTRACT: return bounds[0] + bounds[1];
  case EXPR_MULTIPLY: return bounds[0] * bounds[1];
  /* the divisor is a constant; the bound is not used otherwise */
  case EXPR_DIVIDE: return bounds[0] / fabs(c->notes[arg_of(c, node, 1)].value);
  case EXPR_CALL:
    if (node->index == FUNCTION_SIGN) return 1;
    return ceil(fmax(bounds[0], bounds[1])); /* for floor, ceil, fabs, fmin and fmax; other functions are never exact */
  default: return INFINITY;
  }
}

/* Find whether a kernel computes a node without rounding. The few rules cover the usual operands of comparisons. */
static void find_exact(const struct compiler *c, int i) {
  const struct expr *node = &c->nodes[i];
  struct note *note = &c->notes[i];
  bool exact = true, whole = true;
  for (int k = 0; k < node->arg_count; k++) {
    exact = exact && c->notes[arg_of(c, node, k)].is_exact;
    whole = whole && c->notes[arg_of(c, node, k)].is_whole;
  }
  note->bound = bound_of(c, node);
  for (int k = 0; k < node->arg_count; k++)
    note->is_carried = note->is_carried || c->notes[arg_of(c, node, k)].is_carried;
  switch (node->kind) {
  case EXPR_NEGATE:
  case EXPR_CHOOSE: note->is_exact = exact, note->is_whole = exact && whole; break;
  case EXPR_ADD:
  case EXPR_SUBTRACT:
  case EXPR_MULTIPLY: note->is_exact = note->is_whole = exact && whole && note->bound <= most_whole(c); break;
  case EXPR_DIVIDE: {
    const struct note *divisor = &c->notes[arg_of(c, node, 1)];
    int exponent;
    note->is_exact = exact && divisor->is_uniform && fabs(frexp(divisor->value, &exponent)) == 0.5;
    note->is_whole = false;
    break;
  }
  case EXPR_CALL: {
    const bool steps = node->index == FUNCTION_FLOOR || node->index == FUNCTION_CEIL || node->index == FUNCTION_SIGN;
    const bool picks = node->index == FUNCTION_FABS || node->index == FUNCTION_FMIN || node->index == FUNCTION_FMAX;
    note->is_exact = exact && (steps || picks);
    note->is_whole = note->is_exact && (steps || whole);
    break;
  }
  default: note->is_exact = note->is_whole = exact && expr_is_truth(node); break;
  }
}

static double doubt_at(const struct compiler *c, int i) {
  for (int k = 0; k < c->nodes[i].arg_count; k++) {
    if (!c->notes[arg_of(c, &c->nodes[i], k)].is_exact) return c->run->doubt;
  }
  return 0;
}

static bool are_carried(const struct compiler *c, int i) {
  const struct expr *node = &c->nodes[i];
  return node->arg_count >= 2 && c->notes[arg_of(c, node, 0)].is_carried && c->notes[arg_of(c, node, 1)].is_carried;
}

/* Compute the value and magnitude of a constant: a number, a coefficient, or an operation on constants. */
static void evaluate_constant(struct compiler *c, int i, const double *coefficients) {
  const struct expr *node = &c->nodes[i];
  struct note *note = &c->notes[i];
  if (node->arg_count > 0) {
    struct row args[ROW_MAX_ARGS] = {{0}};
    for (int k = 0; k < node->arg_count; k++) {
      const struct note *arg = &c->notes[arg_of(c, node, k)];
      args[k] = (struct row){&arg->value, &arg->magnitude};
    }
    const enum row_operation operation = row_operation_of(&c->stencil->exprs, node);
    find_exact(c, i);
    row_values(operation, 1, (struct result_row){&note->value, &note->magnitude}, args);
    row_magnitudes(operation, 1, (struct result_row){&note->value, &note->magnitude}, args, doubt_at(c, i), false);
  } else {
    note->value = node->kind == EXPR_COEFFICIENT ? coefficients[node->index] : node->number;
    note->magnitude = note->bound = fabs(note->value);
    note->is_exact = (double)(float)note->value == note->value;
    note->is_whole = note->is_exact && floor(note->value) == note->value;
  }
}

static const double *filled_row(struct compiler *c, double value) {
  double *row = arena_alloc(c->arena, ROW_POINTS * sizeof *row);
  for (int point = 0; row && point < ROW_POINTS; point++) row[point] = value;
  return row;
}

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

/* Find or make the row of a constant. Equal constants share a row, since an update may have thousands. */
static halotune_status add_constant(struct compiler *c, int i, struct set *set) {
  struct note *note = &c->notes[i];
  struct row *constants = c->program->constants;
  const uint64_t key[] = {bits_of(note->value), bits_of(note->magnitude)}, hash = set_hash(key, sizeof key);
  int number;
  for (struct set_walk at = set_walk(set, hash); set_next(&at, &number);) {
    const struct row *known = &constants[number];
    if (bits_of(known->values[0]) != key[0] || bits_of(known->magnitudes[0]) != key[1]) continue;
    note->row = number;
    return HALOTUNE_OK;
  }
  struct row row = {.values = filled_row(c, note->value)};
  row.magnitudes = key[0] == key[1] ? row.values : filled_row(c, note->magnitude);
  if (!row.values || !row.magnitudes || !set_add(set, hash, c->program->constant_count)) return fail_memory();
  note->row = c->program->constant_count++;
  constants[note->row] = row;
  return HALOTUNE_OK;
}

/* Make rows for constants. A constant needs a row only if it is an output or if an operation at every point reads
 * it. */
static halotune_status add_constants(struct compiler *c, const double *coefficients) {
  struct set set = {0};
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < c->node_count; i++) {
    if (c->notes[i].is_used && c->notes[i].is_uniform) evaluate_constant(c, i, coefficients);
  }
  for (int i = 0; i < c->node_count && status == HALOTUNE_OK; i++) {
    for (int k = 0; k < c->nodes[i].arg_count && is_computed(c, i) && status == HALOTUNE_OK; k++) {
      int arg = arg_of(c, &c->nodes[i], k);
      if (c->notes[arg].is_uniform && c->notes[arg].row == NO_ROW) status = add_constant(c, arg, &set);
    }
  }
  for (int i = 0; i < c->stencil->update.count && status == HALOTUNE_OK; i++) {
    int root = root_of(c, i);
    bool needed = c->stencil->update.assignments[i].output >= 0 && c->notes[root].is_uniform;
    if (needed && c->notes[root].row == NO_ROW) status = add_constant(c, root, &set);
  }
  set_free(&set);
  return status;
}

static void add_tap(struct compiler *c, int i) {
  struct row_program *program = c->program;
  struct tap *tap = &program->taps[program->tap_count];
  const bool is_index = c->nodes[i].kind == EXPR_VARIABLE;
  tap->input = is_index ? INDEX_INPUT + c->nodes[i].index - VARIABLE_INDEX_X : c->nodes[i].index;
  for (int axis = 0; axis < MAX_DIMS; axis++) tap->offset[axis] = c->nodes[i].offset[axis];
  c->notes[i].row = program->constant_count + program->tap_count++;
  struct note *note = &c->notes[i];
  note->bound = is_index ? (double)(c->run->grid.n[tap->input - INDEX_INPUT] - 1) : INFINITY;
  note->is_exact = is_index ? note->bound <= most_whole(c) : !is_replaced(c, tap->input);
  note->is_carried = !is_index && is_replaced(c, tap->input);
  note->is_whole = is_index;
}

/* Take a row for a new result: a free buffer, or an additional one. */
static int take_buffer(struct compiler *c) {
  if (c->free_count > 0) return c->free_buffers[--c->free_count];
  return row_program_first_result(c->program) + c->program->output_count + c->program->buffer_count++;
}

/* Free the buffers whose last use was node `i`. */
static void free_buffers(struct compiler *c, int i) {
  int first_buffer = row_program_first_result(c->program) + c->program->output_count;
  for (int k = 0; k < c->nodes[i].arg_count; k++) {
    struct note *arg = &c->notes[arg_of(c, &c->nodes[i], k)];
    if (arg->row < first_buffer || arg->last_use != i) continue;
    c->free_buffers[c->free_count++] = arg->row;
    arg->last_use = NO_ROW; /* the operand may be named twice, but its buffer is freed once */
  }
}

static void add_instruction(struct compiler *c, int i) {
  const struct expr *node = &c->nodes[i];
  find_exact(c, i);
  struct row_instruction instruction = {
      .operation = row_operation_of(&c->stencil->exprs, node), .carried = are_carried(c, i), .doubt = doubt_at(c, i)};
  for (int k = 0; k < node->arg_count; k++) instruction.args[k] = c->notes[arg_of(c, node, k)].row;
  /* The result takes its buffer before the operands free theirs, since it must not overlap them. */
  if (c->notes[i].row == NO_ROW) c->notes[i].row = take_buffer(c);
  instruction.result = c->notes[i].row;
  free_buffers(c, i);
  c->program->instructions[c->program->instruction_count++] = instruction;
}

/* Compute each output in its own row, even if other nodes read it. An output that is a bare tap or constant, or equal
 * to another output, is copied. */
static void place_outputs(struct compiler *c) {
  for (int i = 0; i < c->stencil->update.count; i++) {
    int output = c->stencil->update.assignments[i].output, root = root_of(c, i);
    if (output < 0 || !is_computed(c, root) || c->notes[root].row != NO_ROW) continue;
    c->notes[root].row = row_program_first_result(c->program) + output;
  }
}

static void copy_outputs(struct compiler *c) {
  struct row_program *program = c->program;
  for (int i = 0; i < c->stencil->update.count; i++) {
    int output = c->stencil->update.assignments[i].output;
    int row = row_program_first_result(program) + output, from = c->notes[root_of(c, i)].row;
    if (output < 0 || from == row) continue;
    program->instructions[program->instruction_count++] =
        (struct row_instruction){.operation = ROW_COPY, .result = row, .args = {from}};
  }
}

halotune_status row_program_make(const struct stencil *stencil, const double *coefficients,
                                 const struct kernel_run *run, struct arena *arena, struct row_program *out) {
  const struct update *update = &stencil->update;
  struct compiler c = {.stencil = stencil, .run = run, .nodes = stencil->exprs.nodes + update->first};
  c.program = out, c.arena = arena;
  c.node_count = update->end - update->first;
  size_t count = (size_t)c.node_count;
  *out = (struct row_program){.output_count = stencil->output_count};
  c.notes = arena_alloc(arena, count * sizeof *c.notes);
  c.free_buffers = arena_alloc(arena, count * sizeof *c.free_buffers);
  out->constants = arena_alloc(arena, count * sizeof *out->constants);
  out->taps = arena_alloc(arena, count * sizeof *out->taps);
  out->instructions = arena_alloc(arena, (count + MAX_FIELDS) * sizeof *out->instructions);
  if (!c.notes || !c.free_buffers || !out->constants || !out->taps || !out->instructions) return fail_memory();

  take_notes(&c);
  halotune_status status = add_constants(&c, coefficients);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < c.node_count; i++) {
    if (c.notes[i].is_used && is_read(&c.nodes[i])) add_tap(&c, i);
  }
  place_outputs(&c);
  for (int i = 0; i < c.node_count; i++) {
    if (is_computed(&c, i)) add_instruction(&c, i);
  }
  copy_outputs(&c);
  return HALOTUNE_OK;
}

void row_program_run(const struct row_program *program, int count, const struct row rows[],
                     const struct result_row results[], bool magnitudes) {
  int first_result = row_program_first_result(program);
  for (int i = 0; i < program->instruction_count; i++) {
    const struct row_instruction *instruction = &program->instructions[i];
    const struct row args[ROW_MAX_ARGS] = {rows[instruction->args[0]], rows[instruction->args[1]],
                                           rows[instruction->args[2]]};
    struct result_row result = results[instruction->result - first_result];
    row_values(instruction->operation, count, result, args);
    if (magnitudes)
      row_magnitudes(instruction->operation, count, result, args, instruction->doubt, instruction->carried);
  }
}
