/* facts.c: computes the facts that rules may use about a stencil, a grid and a device. */
#include "stencil/template/facts.h"

#include "stencil/analysis/iterate.h"

#define AS_ROW(name, about) {#name, about},
const struct fact_row fact_rows[FACT_COUNT] = {FACT_LIST(AS_ROW)};

bool fact_varies(enum fact fact) {
  if (fact >= FACT_nx && fact <= FACT_points_in_z) return true;
  switch (fact) {
  case FACT_pointer_bytes:
  case FACT_in_place:
  case FACT_no_textures:
  case FACT_reproducible:
  case FACT_least_steps:
  case FACT_most_steps: return true;
  default: return false;
  }
}

/* The largest cluster that every GPU with clusters accepts. */
enum { MAX_CLUSTER = 8 };

/* The limits that the CUDA programming guide gives for every compute capability from 7.5 to 12.1. */
enum { MAX_LINEAR_TEXELS = 1 << 28, MAX_TEXTURE_WIDTH = 131072, MAX_TEXTURE_HEIGHT = 65000 };

/* Count the aligned groups of `width` neighbours in x that the taps of one such group touch. Taps are sorted by input,
 * z, y, x. */
static int count_groups(const struct analysis *analysis, int width) {
  int count = 0, reached = 0;
  for (int i = 0; i < analysis->tap_count; i++) {
    const struct tap *tap = &analysis->taps[i], *before = i > 0 ? tap - 1 : NULL;
    bool same_row = before && tap->input == before->input && tap->offset[1] == before->offset[1] &&
                    tap->offset[2] == before->offset[2];
    int shifted = tap->offset[0] + MAX_RADIUS * width; /* not negative, with the same alignment */
    int first = shifted / width, last = (shifted + width - 1) / width;
    if (same_row && first <= reached) first = reached + 1;
    count += last - first + 1;
    reached = last;
  }
  return count;
}

/* The most planes that are loaded before `finish` reads a staged input at the computed point. */
static int split_kept_planes(const struct stencil *stencil, const struct analysis *analysis) {
  const struct split *split = &analysis->split;
  int longest = 0;
  for (int o = 0; o < stencil->output_count && split->form_count > 0; o++) {
    for (int i = 0; i < stencil->input_count; i++) {
      if (split->reads_beside[o][i] && is_staged(analysis, i) && split->delay[o] > longest) longest = split->delay[o];
    }
  }
  return longest;
}

/* Whether each output is itself a form, so nothing is left to do when its sums are complete. */
static bool outputs_are_sums(const struct stencil *stencil, const struct analysis *analysis) {
  const struct split *split = &analysis->split;
  for (int i = 0; i < stencil->update.count; i++) {
    const struct assignment *assignment = &stencil->update.assignments[i];
    if (assignment->output >= 0 && split_form(split, assignment->root) < 0) return false;
  }
  return split->form_count > 0;
}

/* Whether a step reads neighbours of an input, or of the input that takes its value in a later step. */
static bool is_read_nearby(const struct stencil *stencil, const struct analysis *analysis, int input) {
  for (int hops = 0; input >= 0 && hops <= stencil->iterate_count; hops++) {
    int next = -1;
    if (is_staged(analysis, input)) return true;
    for (int i = 0; i < stencil->iterate_count; i++) {
      if (!stencil->iterate[i].from_output && stencil->iterate[i].from == input) next = stencil->iterate[i].to;
    }
    input = next;
  }
  return false;
}

/* Whether the output becomes the one staged input, no other input changes from step to step, and all are whole. */
static bool steps_one_field(const struct stencil *stencil, const struct analysis *analysis) {
  int staged = 0, changed = 0;
  for (int i = 0; i < stencil->input_count; i++) {
    if (!input_is_whole(stencil, i)) return false;
    staged += is_staged(analysis, i);
  }
  for (int i = 0; i < stencil->iterate_count; i++) {
    const struct iterate *step = &stencil->iterate[i];
    if (!step->from_output || !is_staged(analysis, step->to)) return false;
    changed++;
  }
  return analysis->can_iterate && stencil->output_count == 1 && staged == 1 && changed == 1 &&
         stencil->in_place_count == 0;
}

/* Whether the update can tell the last point of an axis from the first one, which it should repeat. After a step both
 * may differ. Then a stage that computes images beyond the grid has other results than a launch of one step. */
static bool tells_end_points_apart(const struct stencil *stencil) {
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (stencil->uses_index[axis] && stencil->boundary[axis][SIDE_LOW].rule == BOUNDARY_PERIODIC_ENDPOINT) return true;
  }
  return false;
}

void facts_set_stages(const struct stages *stages, double facts[FACT_COUNT]) {
  facts[FACT_step_stages] = stages->step_count;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    facts[FACT_step_low_x + axis] = stages_reach_first(stages, stages->step_count, axis, SIDE_LOW);
    facts[FACT_step_high_x + axis] = stages_reach_first(stages, stages->step_count, axis, SIDE_HIGH);
  }
}

void facts_fill_stencil(const struct stencil *stencil, const struct analysis *analysis, double facts[FACT_COUNT]) {
  bool scan = stencil->kind == STENCIL_SCAN;
  const bool is_plain = analysis_is_plain(analysis, stencil);
  const struct stages stages = stages_of_update(stencil, analysis, 1);
  int staged = 0;
  for (int i = 0; i < stencil->input_count; i++) staged += is_staged(analysis, i);
  facts[FACT_dims] = stencil->dims;
  facts[FACT_inputs] = stencil->input_count;
  facts[FACT_outputs] = stencil->output_count;
  facts[FACT_staged] = staged;
  facts[FACT_coefficient_count] = stencil->coefficient_count;
  facts[FACT_taps] = analysis->tap_count;
  facts[FACT_instructions] = analysis->instructions_per_point;
  facts[FACT_groups_of_2] = count_groups(analysis, 2);
  facts[FACT_groups_of_4] = count_groups(analysis, 4);
  facts[FACT_forms] = analysis->split.form_count;
  facts[FACT_sum_operations] = analysis->split.form_count > 0 ? analysis->split.weight_count : 0;
  facts[FACT_grouped_operations] = analysis->split.grouped_operations;
  facts[FACT_partial_sums] = analysis->split.partial_sums;
  facts[FACT_kept_planes] = split_kept_planes(stencil, analysis);
  facts[FACT_is_sum] = !scan && outputs_are_sums(stencil, analysis);
  facts[FACT_steps_one_field] = steps_one_field(stencil, analysis);
  facts[FACT_uses_axes] = !scan && analysis_uses_axes(analysis, stencil);
  facts[FACT_radius] = analysis->max_radius;
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    facts[FACT_low_x + axis] = analysis->radius_low[axis];
    facts[FACT_high_x + axis] = analysis->radius_high[axis];
    facts[FACT_mirrors_x + axis] = analysis_mirrors(analysis, stencil, axis);
    facts[FACT_boundary_x + axis] = is_plain ? (double)stencil->boundary[axis][SIDE_LOW].rule : -1;
  }
  facts_set_stages(&stages, facts);
  facts[FACT_plain_boundary] = is_plain;
  facts[FACT_shared_images] = analysis_shares_images(stencil);
  facts[FACT_fills_ends] = analysis_fills_ends(analysis, stencil);
  facts[FACT_far_ends] = analysis_has_far_ends(analysis, stencil);
  facts[FACT_whole_images_x] = analysis_has_whole_images(analysis, stencil);
  facts[FACT_own_margins] = analysis_has_own_margins(analysis, stencil);
  /* Blocks compute the same points in the steps of one launch, so none may write where another one reads. */
  facts[FACT_iterates] = analysis->can_iterate && stencil->in_place_count == 0 && !tells_end_points_apart(stencil);
  facts[FACT_stage_buffers] = stencil->iterate_count;
  facts[FACT_carried_on] = facts[FACT_near_inputs] = 0;
  for (int i = 0; i < stencil->iterate_count; i++) {
    facts[FACT_carried_on] += stencil->iterate[i].from_output;
    facts[FACT_near_inputs] += is_read_nearby(stencil, analysis, stencil->iterate[i].to);
  }
  facts[FACT_stage_buffers] += facts[FACT_carried_on];
  facts[FACT_is_scan] = scan;
  facts[FACT_is_pointwise] = !scan && analysis->shape == SHAPE_POINTWISE;
  facts[FACT_is_pencil] = !scan && analysis->shape == SHAPE_PENCIL;
  facts[FACT_is_star] = !scan && analysis->shape == SHAPE_STAR;
  facts[FACT_is_box] = !scan && analysis->shape == SHAPE_BOX;
  facts[FACT_taps_on_axes] = analysis_taps_on_axes(analysis);
  facts[FACT_axis] = analysis->pencil_axis;
  facts[FACT_in_place] = stencil->in_place_count > 0;
}

static void fill_domain(const struct domain *domain, double facts[FACT_COUNT]) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    facts[FACT_nx + axis] = (double)domain->grid.n[axis];
    facts[FACT_start_x + axis] = (double)domain->low[axis];
    facts[FACT_points_in_x + axis] = (double)(domain->high[axis] - domain->low[axis]);
  }
  facts[FACT_row] = (double)domain->row;
  facts[FACT_plane] = (double)domain->plane;
}

static void fill_device(const struct device_limits *limits, double facts[FACT_COUNT]) {
  facts[FACT_capability] = limits->capability;
  facts[FACT_max_threads] = limits->max_threads;
  facts[FACT_max_threads_sm] = limits->max_threads_sm;
  facts[FACT_max_registers] = limits->max_registers;
  facts[FACT_registers_sm] = limits->registers_sm;
  facts[FACT_max_shared_bytes] = limits->max_shared_bytes;
  facts[FACT_warp_size] = limits->warp_size;
  facts[FACT_multiprocessors] = limits->multiprocessors;
  facts[FACT_max_cluster] = limits->capability >= 90 ? MAX_CLUSTER : 1;
  facts[FACT_max_linear_texels] = MAX_LINEAR_TEXELS;
  facts[FACT_max_texture_width] = MAX_TEXTURE_WIDTH;
  facts[FACT_max_texture_height] = MAX_TEXTURE_HEIGHT;
}

void facts_fill_problem(enum dtype dtype, const struct domain *domain, const struct device_limits *limits,
                        bool reproducible, double facts[FACT_COUNT]) {
  fill_domain(domain, facts);
  fill_device(limits, facts);
  facts[FACT_element_bytes] = (double)dtype_bytes(dtype);
  facts[FACT_skip] = BOUNDARY_SKIP;
  facts[FACT_periodic] = BOUNDARY_PERIODIC;
  facts[FACT_periodic_endpoint] = BOUNDARY_PERIODIC_ENDPOINT;
  facts[FACT_clamp] = BOUNDARY_CLAMP;
  facts[FACT_zero] = BOUNDARY_ZERO;
  facts[FACT_pointer_bytes] = 0;
  facts[FACT_no_textures] = 0;
  facts[FACT_reproducible] = reproducible;
  facts[FACT_least_steps] = facts[FACT_most_steps] = 1;
}

void facts_set_steps(const struct stencil *stencil, int least, int most, double facts[FACT_COUNT]) {
  facts[FACT_least_steps] = least;
  facts[FACT_most_steps] = iterate_most_steps(stencil, most);
}

void facts_fill(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                const struct domain *domain, const struct device_limits *limits, bool reproducible,
                double facts[FACT_COUNT]) {
  facts_fill_stencil(stencil, analysis, facts);
  facts_fill_problem(dtype, domain, limits, reproducible, facts);
}
