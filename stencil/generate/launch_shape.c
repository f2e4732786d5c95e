/* launch_shape.c: applies rules, evaluates the launch formulas, and checks the numbers against the limits of
 * GPUs. */
#include "stencil/generate/launch_shape.h"

#include <limits.h>
#include <math.h>

#include "stencil/analysis/iterate.h"
#include "stencil/launch/tensor_shape.h"

/* The limits of every GPU from sm_75 on. */
static const long max_block[MAX_DIMS] = {1024, 1024, 64}, max_grid[MAX_DIMS] = {INT_MAX, 65535, 65535};

/* Evaluate one number of the launch geometry. It must be whole, and within its limits. */
static halotune_status whole_value(const struct bindings *bindings, struct formula formula, const char *what, int axis,
                                   long low, long high, long *out) {
  double value = bindings_value(bindings, formula);
  if (value >= (double)low && value <= (double)high && value == floor(value)) {
    *out = (long)value;
    return HALOTUNE_OK;
  }
  return fail(HALOTUNE_ARGUMENT, "template %s: %s%s%.1s is %.10g; it must be a whole number from %ld to %ld",
              bindings->template->name, what, axis < 0 ? "" : " in ", axis < 0 ? "" : &axis_names[axis], value, low,
              high);
}

static bool is_empty(const struct domain *domain) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain->low[axis] >= domain->high[axis]) return true;
  }
  return false;
}

static halotune_status find_blocks(const struct variant_spec *spec, const struct bindings *bindings,
                                   struct launch *out) {
  halotune_status status = HALOTUNE_OK;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    status = whole_value(bindings, spec->template->block[axis], "block", axis, 1, max_block[axis], &out->block[axis]);
    if (status != HALOTUNE_OK) break;
    status = whole_value(bindings, spec->template->grid[axis], "grid", axis, is_empty(&spec->domain) ? 0 : 1,
                         max_grid[axis], &out->grid[axis]);
  }
  if (status == HALOTUNE_OK && out->block[0] * out->block[1] * out->block[2] > spec->limits.max_threads) {
    status = fail(HALOTUNE_ARGUMENT, "template %s: a block of %ldx%ldx%ld threads; at most %d are possible",
                  spec->template->name, out->block[0], out->block[1], out->block[2], spec->limits.max_threads);
  }
  return status == HALOTUNE_OK ? whole_value(bindings, spec->template->shared_bytes, "shared_bytes", -1, 0,
                                             spec->limits.max_shared_bytes, &out->shared_bytes)
                               : status;
}

/* Evaluate the cluster. The grid must consist of whole clusters. */
static halotune_status find_cluster(const struct variant_spec *spec, const struct bindings *bindings,
                                    struct launch *out) {
  const struct optional_formula *formulas = spec->template->cluster;
  long most = (long)bindings->variables[FACT_max_cluster];
  halotune_status status = HALOTUNE_OK;
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    out->cluster[axis] = 1;
    if (formulas[axis].is_given) {
      status = whole_value(bindings, formulas[axis].formula, "cluster", axis, 1, most, &out->cluster[axis]);
    }
    if (status == HALOTUNE_OK && out->grid[axis] % out->cluster[axis] != 0) {
      status =
          fail(HALOTUNE_ARGUMENT, "template %s: %ld blocks in %c are not a multiple of %ld, the extent of a cluster",
               spec->template->name, out->grid[axis], axis_names[axis], out->cluster[axis]);
    }
  }
  if (status == HALOTUNE_OK && launch_cluster_blocks(out) > most) {
    status = fail(HALOTUNE_ARGUMENT, "template %s: a cluster of %ldx%ldx%ld blocks; at most %ld are possible",
                  spec->template->name, out->cluster[0], out->cluster[1], out->cluster[2], most);
  }
  return status;
}

static halotune_status find_overlap(const struct variant_spec *spec, const struct bindings *bindings,
                                    struct launch *out) {
  double value = bindings_optional(bindings, &spec->template->overlap);
  out->overlaps = value == 1;
  if (value == 0 || value == 1) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "template %s: overlap is %.10g; it must be 0 or 1", spec->template->name, value);
}

/* Blocks that wait for each other must all run: at least one fits a multiprocessor. */
static halotune_status find_cooperative(const struct variant_spec *spec, const struct bindings *bindings,
                                        struct launch *out) {
  double value = bindings_optional(bindings, &spec->template->cooperative);
  long blocks = out->grid[0] * out->grid[1] * out->grid[2];
  long most = (long)bindings->variables[FACT_multiprocessors];
  out->cooperative = value == 1;
  if (value != 0 && value != 1) {
    return fail(HALOTUNE_ARGUMENT, "template %s: cooperative is %.10g; it must be 0 or 1", spec->template->name, value);
  }
  if (!out->cooperative) return HALOTUNE_OK;
  if (out->overlaps) {
    return fail(HALOTUNE_ARGUMENT, "template %s: a cooperative launch cannot overlap with the previous one",
                spec->template->name);
  }
  if (blocks <= most) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT,
              "template %s: %ld blocks of a cooperative launch, which would not all run at the same time on %ld "
              "multiprocessors",
              spec->template->name, blocks, most);
}

static halotune_status find_workspace(const struct variant_spec *spec, const struct bindings *bindings,
                                      struct launch *out) {
  const struct optional_formula *formula = &spec->template->workspace_bytes;
  if (!formula->is_given) return HALOTUNE_OK;
  if (out->overlaps) {
    return fail(
        HALOTUNE_ARGUMENT,
        "template %s: a variant with a workspace cannot overlap with the previous launch, because their blocks would wait for each other",
        spec->template->name);
  }
  return whole_value(bindings, formula->formula, "workspace_bytes", -1, 1, LONG_MAX / 2, &out->workspace_bytes);
}

struct stages variant_stages(const struct variant_spec *spec, int steps) {
  struct stages stages = spec->chain ? *spec->chain : stages_of_update(spec->stencil, spec->analysis, steps);
  stages.steps = steps;
  return stages;
}

/* Each stage rotates the fields as `iterate` says. */
static halotune_status find_steps(const struct variant_spec *spec, struct launch *out) {
  struct carried carried[MAX_FIELDS];
  halotune_status status = configuration_steps(spec->template, &spec->configuration, &out->steps);
  if (status != HALOTUNE_OK) return status;
  const struct stages stages = variant_stages(spec, out->steps);
  out->carried_count = iterate_carried(spec->stencil, stages_count(&stages), carried);
  if (spec->stencil->output_count + out->carried_count <= MAX_FIELDS) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "template %s: %d steps write more than %d arrays", spec->template->name, out->steps,
              MAX_FIELDS);
}

void tensor_fields_find(const struct variant_spec *spec, struct launch *out) {
  out->input_maps.count = out->output_maps.count = 0;
  for (int i = 0; i < spec->stencil->input_count; i++) {
    if (is_staged(spec->analysis, i)) out->input_maps.fields[out->input_maps.count++] = i;
  }
  for (int o = 0; o < spec->stencil->output_count; o++) out->output_maps.fields[out->output_maps.count++] = o;
}

static halotune_status find_promotion(const struct variant_spec *spec, double value, struct tensor_maps *out) {
  if (value != 0 && value != 64 && value != 128 && value != 256)
    return fail(HALOTUNE_ARGUMENT, "template %s: promotion_bytes is %.10g; it must be 0, 64, 128 or 256",
                spec->template->name, value);
  out->promotion_bytes = (int)value;
  return HALOTUNE_OK;
}

static halotune_status find_maps(const struct variant_spec *spec, const struct bindings *bindings,
                                 const struct map_formulas *formulas, const char *what, struct tensor_maps *out) {
  enum { MOST_BOX = 256 };
  struct tensor_shape shape;
  if (!bindings_take_maps(bindings, formulas)) out->count = 0;
  if (out->count == 0) return HALOTUNE_OK;
  halotune_status status = find_promotion(spec, bindings_optional(bindings, &formulas->promotion_bytes), out);
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    status = whole_value(bindings, formulas->box[axis], "the box of tensor maps", axis, 1, MOST_BOX, &out->box[axis]);
  }
  if (status != HALOTUNE_OK) return status;
  if (spec->limits.capability < 90) {
    return fail(HALOTUNE_ARGUMENT, "template %s: %s need sm_90 or later", spec->template->name, what);
  }
  tensor_shape_make(out, spec->stencil->dims, &spec->domain, spec->dtype, &shape);
  const char *error = tensor_shape_error(&shape);
  return error ? fail(HALOTUNE_ARGUMENT, "template %s: %s: %s", spec->template->name, what, error) : HALOTUNE_OK;
}

halotune_status launch_find(const struct variant_spec *spec, struct launch *out) {
  struct bindings bindings;
  double facts[FACT_COUNT];
  facts_fill(spec->stencil, spec->analysis, spec->dtype, &spec->domain, &spec->limits, spec->reproducible, facts);
  if (spec->most_steps > 1) facts_set_steps(spec->stencil, 1, spec->most_steps, facts);
  if (spec->chain) facts_set_stages(spec->chain, facts);
  halotune_status status = bindings_make(spec->template, facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &spec->configuration);
  const struct rule *failed = bindings_failed_rule(&bindings);
  if (failed) {
    status = fail(HALOTUNE_ARGUMENT, "a rule of template %s excludes this configuration: %s (%s)", spec->template->name,
                  failed->otherwise, failed->text);
  }
  tensor_fields_find(spec, out);
  const struct template *t = spec->template;
  if (status == HALOTUNE_OK) status = find_steps(spec, out);
  if (status == HALOTUNE_OK) status = find_blocks(spec, &bindings, out);
  if (status == HALOTUNE_OK) status = find_cluster(spec, &bindings, out);
  if (status == HALOTUNE_OK) status = find_overlap(spec, &bindings, out);
  if (status == HALOTUNE_OK) status = find_cooperative(spec, &bindings, out);
  if (status == HALOTUNE_OK) status = find_workspace(spec, &bindings, out);
  if (status == HALOTUNE_OK) status = find_maps(spec, &bindings, &t->input_maps, "tensor_inputs", &out->input_maps);
  if (status == HALOTUNE_OK) status = find_maps(spec, &bindings, &t->output_maps, "tensor_outputs", &out->output_maps);
  bindings_free(&bindings);
  return status;
}
