/* operations.c: counts floating-point operations per point: as written, without repetition, and with fused
 * multiply-adds. */
#include <stdlib.h>
#include <string.h>

#include "base/memory/set.h"
#include "stencil/analysis/analysis_parts.h"

/* The multiplications of a power by repeated squaring, and a division for a negative exponent. */
static int flops_of_power(int exponent) {
  int flops = exponent < 0;
  for (int rest = abs(exponent); rest > 1; rest /= 2) flops += 1 + rest % 2;
  return flops;
}

static int flops_of(const struct exprs *exprs, const struct expr *node) {
  int exponent;
  if (expr_is_whole_power(exprs, node, &exponent)) return flops_of_power(exponent);
  switch (node->kind) {
  case EXPR_ADD:
  case EXPR_SUBTRACT:
  case EXPR_MULTIPLY:
  case EXPR_DIVIDE:
  case EXPR_LESS:
  case EXPR_LESS_EQUAL:
  case EXPR_GREATER:
  case EXPR_GREATER_EQUAL:
  case EXPR_EQUAL:
  case EXPR_NOT_EQUAL:
  case EXPR_CHOOSE: return 1;
  case EXPR_CALL: return node->index == FUNCTION_FMA ? 2 : 1;
  default: return 0;
  }
}

static bool is_commutative(const struct expr *node) {
  return node->kind == EXPR_ADD || node->kind == EXPR_MULTIPLY || node->kind == EXPR_EQUAL ||
         node->kind == EXPR_NOT_EQUAL || node->kind == EXPR_AND || node->kind == EXPR_OR ||
         (node->kind == EXPR_CALL && (node->index == FUNCTION_FMIN || node->index == FUNCTION_FMAX));
}

/* Two nodes with equal keys have the same value: they have the same operation, and operands of the same value. */
struct key {
  long kind, index, args[MAX_EXPR_ARGS], offset[MAX_DIMS];
  long number_bits; /* an integer, so that the key has neither padding nor doubles and can be compared as bytes */
};

static struct key key_of(const struct expr *node, const int *same, int first) {
  struct key key = {.kind = node->kind, .index = node->index};
  if (node->kind == EXPR_NUMBER) memcpy(&key.number_bits, &node->number, sizeof node->number);
  for (int axis = 0; axis < MAX_DIMS; axis++) key.offset[axis] = node->offset[axis];
  for (int k = 0; k < node->arg_count; k++) key.args[k] = same[node->args[k] - first];
  if (is_commutative(node) && key.args[0] > key.args[1]) {
    long larger = key.args[0];
    key.args[0] = key.args[1];
    key.args[1] = larger;
  }
  return key;
}

/* The first node with a key; -1 for none. */
static int find_key(const struct set *set, const struct key *keys, uint64_t hash, const struct key *key) {
  int number;
  for (struct set_walk at = set_walk(set, hash); set_next(&at, &number);) {
    if (memcmp(&keys[number], key, sizeof *key) == 0) return number;
  }
  return -1;
}

/* For each node, find the first node that has the same value, which may be the node itself. Positions are minus
 * update.first. */
static halotune_status find_same(const struct stencil *stencil, int count, int *same) {
  const int first = stencil->update.first;
  struct key *keys = malloc(((size_t)count + 1) * sizeof *keys);
  struct set set = {0};
  bool has_memory = keys && set_reserve(&set, (size_t)count);
  for (int i = 0; i < count && has_memory; i++) {
    keys[i] = key_of(&stencil->exprs.nodes[first + i], same, first);
    const uint64_t hash = set_hash(&keys[i], sizeof keys[i]);
    const int known = find_key(&set, keys, hash, &keys[i]);
    same[i] = known < 0 ? i : known;
    if (known < 0) has_memory = set_add(&set, hash, i);
  }
  set_free(&set);
  free(keys);
  return has_memory ? HALOTUNE_OK : fail_memory();
}

/* Count how often each value is used, by other values and as an output. */
static void count_uses(const struct stencil *stencil, int count, const int *same, int *uses) {
  const struct update *update = &stencil->update;
  for (int i = 0; i < count; i++) {
    const struct expr *node = &stencil->exprs.nodes[update->first + i];
    for (int k = 0; k < node->arg_count && same[i] == i; k++) uses[same[node->args[k] - update->first]]++;
  }
  for (int i = 0; i < update->count; i++) {
    if (update->assignments[i].output >= 0) uses[same[update->assignments[i].root - update->first]]++;
  }
}

/* Whether an operand is a multiplication that nothing else uses, possibly with signs before it. An fma can then compute
 * it. */
static bool operand_fuses(const struct stencil *stencil, int node, const int *same, const bool *uniform,
                          const int *uses) {
  int first = stencil->update.first;
  for (;;) {
    int position = same[node - first];
    const struct expr *expr = &stencil->exprs.nodes[first + position];
    if (uniform[position] || uses[position] != 1) return false;
    if (expr->kind != EXPR_NEGATE) return expr->kind == EXPR_MULTIPLY;
    node = expr->args[0];
  }
}

/* Whether an operation on fields is undefined or huge for some values around 0. */
static bool is_partial(const struct stencil *stencil, const struct expr *node, const bool *uniform) {
  const int first = stencil->update.first;
  int exponent;
  if (node->kind == EXPR_DIVIDE) return !uniform[node->args[1] - first];
  if (node->kind != EXPR_CALL) return false;
  if (expr_is_whole_power(&stencil->exprs, node, &exponent)) return exponent < 0;
  return node->index == FUNCTION_SQRT || node->index == FUNCTION_LOG || node->index == FUNCTION_POW ||
         node->index == FUNCTION_TAN;
}

static bool find_asks_signs(const struct stencil *stencil, const bool *uniform) {
  bool compares = false;
  for (int i = stencil->update.first; i < stencil->update.end; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    if (uniform[i - stencil->update.first]) continue;
    if (is_partial(stencil, node, uniform)) return false;
    compares = compares || expr_is_truth(node) || (node->kind == EXPR_CALL && node->index == FUNCTION_SIGN);
  }
  return compares;
}

halotune_status count_operations(const struct stencil *stencil, struct analysis *analysis) {
  const struct update *update = &stencil->update;
  int count = update->end - update->first;
  if (stencil->kind == STENCIL_SCAN) { /* a scan adds each point to the running sum */
    analysis->flops_per_point = analysis->unique_flops_per_point = analysis->instructions_per_point = 1;
    return HALOTUNE_OK;
  }
  const struct expr *nodes = stencil->exprs.nodes + update->first;
  bool *uniform = find_uniform(stencil);
  int *same = malloc((size_t)count * sizeof *same), *uses = calloc((size_t)count, sizeof *uses);
  halotune_status status = uniform && same && uses ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = find_same(stencil, count, same);
  if (status == HALOTUNE_OK) count_uses(stencil, count, same, uses);
  if (status == HALOTUNE_OK) analysis->asks_signs = find_asks_signs(stencil, uniform);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    int flops = flops_of(&stencil->exprs, &nodes[i]);
    if (!nodes[i].is_constant) analysis->flops_per_point += flops;
    if (uniform[i] || same[i] != i || flops == 0) continue;
    analysis->unique_flops_per_point += flops;
    analysis->instructions_per_point += nodes[i].kind == EXPR_CALL && nodes[i].index == FUNCTION_POW ? flops : 1;
    bool sum = nodes[i].kind == EXPR_ADD || nodes[i].kind == EXPR_SUBTRACT;
    if (sum && (operand_fuses(stencil, nodes[i].args[0], same, uniform, uses) ||
                operand_fuses(stencil, nodes[i].args[1], same, uniform, uses))) {
      analysis->instructions_per_point--;
    }
  }
  free(uses);
  free(same);
  free(uniform);
  return status;
}
