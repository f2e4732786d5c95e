/* analysis.c: finds taps, reach, shape and bytes per point, and calls the other parts of the analysis. */
#include "stencil/analysis/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis_parts.h"

const char *const shape_names[] = {
    [SHAPE_POINTWISE] = "pointwise", [SHAPE_PENCIL] = "pencil", [SHAPE_STAR] = "star", [SHAPE_BOX] = "box",
    [SHAPE_GENERAL] = "general",
};

bool *find_uniform(const struct stencil *stencil) {
  const struct update *update = &stencil->update;
  bool *uniform = malloc((size_t)(update->end - update->first + 1) * sizeof *uniform);
  if (!uniform) return NULL;
  for (int i = update->first; i < update->end; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    bool all = node->kind != EXPR_TAP && node->kind != EXPR_VARIABLE; /* variables are the point's position */
    for (int k = 0; k < node->arg_count; k++) all = all && uniform[node->args[k] - update->first];
    uniform[i - update->first] = all;
  }
  return uniform;
}

static int compare_offsets(const int a[MAX_DIMS], const int b[MAX_DIMS]) {
  for (int axis = MAX_DIMS - 1; axis >= 0; axis--) {
    if (a[axis] != b[axis]) return a[axis] < b[axis] ? -1 : 1;
  }
  return 0;
}

static int compare_taps(const void *left, const void *right) {
  const struct tap *a = left, *b = right;
  return a->input != b->input ? a->input - b->input : compare_offsets(a->offset, b->offset);
}

int find_tap(const struct analysis *analysis, const struct expr *node) {
  struct tap tap = {.input = node->index};
  memcpy(tap.offset, node->offset, sizeof tap.offset);
  const struct tap *found = bsearch(&tap, analysis->taps, (size_t)analysis->tap_count, sizeof tap, compare_taps);
  return found ? (int)(found - analysis->taps) : -1;
}

static int compare_taps_by_offset(const void *left, const void *right) {
  const struct tap *a = left, *b = right;
  return compare_offsets(a->offset, b->offset);
}

/* Drop equal neighbours from a sorted list. Returns how many taps are left. */
static int drop_repeated(struct tap *taps, int count, int (*compare)(const void *, const void *)) {
  int kept = 0;
  for (int i = 0; i < count; i++) {
    if (kept == 0 || compare(&taps[kept - 1], &taps[i]) != 0) taps[kept++] = taps[i];
  }
  return kept;
}

static void sort_taps(struct analysis *analysis) {
  qsort(analysis->taps, (size_t)analysis->tap_count, sizeof *analysis->taps, compare_taps);
  analysis->tap_count = drop_repeated(analysis->taps, analysis->tap_count, compare_taps);
}

static halotune_status collect_taps(const struct stencil *stencil, struct analysis *analysis) {
  const struct update *update = &stencil->update;
  int most = update->end - update->first + 1; /* a scan has no nodes and one tap */
  analysis->taps = arena_alloc(&analysis->arena, (size_t)most * sizeof *analysis->taps);
  if (!analysis->taps) return fail_memory();
  if (stencil->kind == STENCIL_SCAN) {
    analysis->taps[0] = (struct tap){0};
    analysis->tap_count = 1;
    return HALOTUNE_OK;
  }
  for (int i = update->first; i < update->end; i++) {
    const struct expr *node = &stencil->exprs.nodes[i];
    if (node->kind != EXPR_TAP) continue;
    struct tap *tap = &analysis->taps[analysis->tap_count++];
    tap->input = node->index;
    memcpy(tap->offset, node->offset, sizeof tap->offset);
  }
  sort_taps(analysis);
  return HALOTUNE_OK;
}

static void measure_reach(struct analysis *analysis) {
  for (int i = 0; i < analysis->tap_count; i++) {
    const struct tap *tap = &analysis->taps[i];
    if (tap->offset[0] || tap->offset[1] || tap->offset[2]) analysis->neighbour_inputs |= 1U << tap->input;
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      int offset = tap->offset[axis];
      if (-offset > analysis->radius_low[axis]) analysis->radius_low[axis] = -offset;
      if (offset > analysis->radius_high[axis]) analysis->radius_high[axis] = offset;
    }
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    int low = analysis->radius_low[axis], high = analysis->radius_high[axis];
    analysis->radius[axis] = low > high ? low : high;
    if (analysis->radius[axis] > analysis->max_radius) analysis->max_radius = analysis->radius[axis];
  }
}

/* At most one number of each offset is not 0. */
bool analysis_taps_on_axes(const struct analysis *analysis) {
  for (int i = 0; i < analysis->tap_count; i++) {
    int moved = 0;
    for (int axis = 0; axis < MAX_DIMS; axis++) moved += analysis->taps[i].offset[axis] != 0;
    if (moved > 1) return false;
  }
  return true;
}

static halotune_status find_shape(const struct stencil *stencil, struct analysis *analysis) {
  int axes = 0, box = 1;
  struct tap *offsets = malloc(((size_t)analysis->tap_count + 1) * sizeof *offsets);
  if (!offsets) return fail_memory();
  memcpy(offsets, analysis->taps, (size_t)analysis->tap_count * sizeof *offsets);
  qsort(offsets, (size_t)analysis->tap_count, sizeof *offsets, compare_taps_by_offset);
  analysis->offset_count = drop_repeated(offsets, analysis->tap_count, compare_taps_by_offset);
  analysis->pencil_axis = -1;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    box *= analysis->radius_low[axis] + analysis->radius_high[axis] + 1;
    if (analysis->radius[axis] > 0) {
      axes++;
      analysis->pencil_axis = axis;
    }
  }
  if (stencil->kind == STENCIL_SCAN) {
    analysis->shape = SHAPE_PENCIL;
    analysis->pencil_axis = stencil->axis;
  } else if (axes == 0) analysis->shape = SHAPE_POINTWISE;
  else if (axes == 1) analysis->shape = SHAPE_PENCIL;
  else if (analysis_taps_on_axes(analysis)) analysis->shape = SHAPE_STAR;
  else if (analysis->offset_count == box) analysis->shape = SHAPE_BOX;
  else analysis->shape = SHAPE_GENERAL;
  if (analysis->shape != SHAPE_PENCIL) analysis->pencil_axis = -1;
  free(offsets);
  return HALOTUNE_OK;
}

/* Whether every output becomes an input of the next step. */
static bool writes_unknowns_alone(const struct stencil *stencil) {
  int fed = 0;
  for (int output = 0; output < stencil->output_count; output++) fed += analysis_kept_input(stencil, output) >= 0;
  return fed > 0 && fed == stencil->output_count && fed <= stencil->input_count;
}

/* The bytes of an input for each point of the grid. One that lies along some axes only has so few elements that it
 * counts as none. */
static int input_bytes_per_point(const struct stencil *stencil, int input, enum dtype dtype) {
  if (input_is_thin(stencil, input)) return 0;
  return stencil->input_types[input] == INPUT_U8 ? 1 : (int)dtype_bytes(dtype);
}

static void count_bytes(const struct stencil *stencil, struct analysis *analysis) {
  bool has_unknowns = writes_unknowns_alone(stencil);
  for (int dtype = 0; dtype < DTYPE_COUNT; dtype++) {
    int bytes = (int)dtype_bytes((enum dtype)dtype);
    int *read = &analysis->read_bytes_per_point[dtype];
    for (int i = 0; i < stencil->input_count; i++) *read += input_bytes_per_point(stencil, i, (enum dtype)dtype);
    analysis->bytes_per_point[dtype] = *read + bytes * stencil->output_count;
    if (!has_unknowns) continue;
    analysis->unknown_bytes_per_point[dtype] = bytes * stencil->output_count;
    analysis->known_bytes_per_point[dtype] = *read - bytes * stencil->output_count;
  }
}

/* What grouping saves of the sums, it saves of the update. An update that computes a sum once and uses it several times
 * has fewer instructions than its sums have weights. */
static void count_grouped_instructions(struct analysis *analysis) {
  const struct split *split = &analysis->split;
  const int all = analysis->instructions_per_point, saved = split->weight_count - split->grouped_operations;
  int *grouped = &analysis->grouped_instructions_per_point;
  *grouped = all;
  if (split->form_count == 0 || saved <= 0) return;
  *grouped = all - saved > split->grouped_operations ? all - saved : split->grouped_operations;
  if (*grouped > all) *grouped = all;
}

halotune_status analysis_make(const struct stencil *stencil, struct analysis **out) {
  halotune_status status;
  *out = NULL;
  struct analysis *analysis = calloc(1, sizeof *analysis);
  if (!analysis) return fail_memory();
  for (int i = 0; i < stencil->input_count; i++) analysis->whole_inputs |= (unsigned)input_is_whole(stencil, i) << i;
  if ((status = collect_taps(stencil, analysis)) != HALOTUNE_OK) goto done;
  measure_reach(analysis);
  if ((status = find_shape(stencil, analysis)) != HALOTUNE_OK) goto done;
  if ((status = count_operations(stencil, analysis)) != HALOTUNE_OK) goto done;
  if ((status = find_weights(stencil, analysis)) != HALOTUNE_OK) goto done;
  if ((status = find_split(stencil, analysis)) != HALOTUNE_OK) goto done;
  count_grouped_instructions(analysis);
  count_bytes(stencil, analysis);
  analysis->can_iterate = stencil->iterate_count > 0;
  if ((status = make_hash(stencil, analysis)) != HALOTUNE_OK) goto done;
  *out = analysis;
  analysis = NULL;
done:
  analysis_free(analysis);
  return status;
}

/* Collect what any of the updates reads and needs. */
static halotune_status merge_parts(const struct analysis *const parts[], int count, struct analysis *out) {
  int most = 0;
  for (int i = 0; i < count; i++) most += parts[i]->tap_count;
  out->taps = arena_alloc(&out->arena, (size_t)(most + 1) * sizeof *out->taps);
  if (!out->taps) return fail_memory();
  out->whole_inputs = parts[0]->whole_inputs;
  out->can_iterate = parts[0]->can_iterate;
  for (int i = 0; i < count; i++) {
    memcpy(out->taps + out->tap_count, parts[i]->taps, (size_t)parts[i]->tap_count * sizeof *out->taps);
    out->tap_count += parts[i]->tap_count;
    out->asks_signs = out->asks_signs || parts[i]->asks_signs;
    if (parts[i]->instructions_per_point > out->instructions_per_point)
      out->instructions_per_point = parts[i]->instructions_per_point;
  }
  sort_taps(out);
  return HALOTUNE_OK;
}

halotune_status analysis_of_chain(const struct stencil *stencil, const struct analysis *const parts[], int count,
                                  struct analysis **out) {
  struct identity_maker maker;
  *out = NULL;
  struct analysis *analysis = calloc(1, sizeof *analysis);
  if (!analysis) return fail_memory();
  halotune_status status = merge_parts(parts, count, analysis);
  if (status == HALOTUNE_OK) measure_reach(analysis);
  if (status == HALOTUNE_OK) status = find_shape(stencil, analysis);
  if (status != HALOTUNE_OK) {
    analysis_free(analysis);
    return status;
  }
  count_bytes(stencil, analysis);
  identity_begin(&maker, "chain");
  for (int i = 0; i < count; i++) identity_add_identity(&maker, parts[i]->hash);
  analysis->hash = identity_end(&maker);
  *out = analysis;
  return HALOTUNE_OK;
}

void analysis_free(struct analysis *analysis) {
  if (!analysis) return;
  exprs_free(&analysis->split.exprs);
  arena_free(&analysis->arena);
  free(analysis);
}

double analysis_intensity(const struct analysis *analysis, enum dtype dtype) {
  return (double)analysis->flops_per_point / analysis->bytes_per_point[dtype];
}

double analysis_read_intensity(const struct analysis *analysis, enum dtype dtype) {
  const int bytes = analysis->read_bytes_per_point[dtype];
  return bytes > 0 ? (double)analysis->flops_per_point / bytes : NAN;
}

bool is_staged(const struct analysis *analysis, int input) {
  return (analysis->whole_inputs & analysis->neighbour_inputs) >> input & 1;
}
