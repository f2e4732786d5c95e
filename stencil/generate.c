/* generate.c: banner, prelude and template to one CUDA source. */
#include "stencil/generate.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "stencil/prelude.h"
#include "stencil/template_names.h"

/* The word or number that a parameter has in this variant; NULL where the template has no such parameter. */
static const char *chosen(const struct variant_spec *spec, const char *name) {
  int found = template_parameter(spec->template, name, strlen(name));
  return found < 0 ? NULL : spec->template->parameters[found].words[spec->configuration.choice[found]];
}

/* Which of a list of words a parameter has; the first where the template has no such parameter. No file with another word is
 * read. */
static int chosen_word(const struct variant_spec *spec, const char *name, const char *const *words, int count) {
  const char *word = chosen(spec, name);
  for (int i = 0; i < count && word; i++) {
    if (strcmp(word, words[i]) == 0) return i;
  }
  return 0;
}

/* What every GPU from sm_75 on can be asked for. */
static const long max_block[MAX_DIMS] = {1024, 1024, 64}, max_grid[MAX_DIMS] = {INT_MAX, 65535, 65535};

/* One number of the launch geometry: whole, and within its bounds. */
static halotune_status whole_value(const struct bindings *bindings, struct formula formula, const char *what, int axis, long low,
                                   long high, long *out) {
  double value = bindings_value(bindings, formula);
  if (value >= (double)low && value <= (double)high && value == floor(value)) {
    *out = (long)value;
    return HALOTUNE_OK;
  }
  return fail(HALOTUNE_ARGUMENT, "template %s: %s%s%.1s comes to %.10g; it must be a whole number from %ld to %ld",
              bindings->template->name, what, axis < 0 ? "" : " in ", axis < 0 ? "" : &axis_names[axis], value, low, high);
}

static bool is_empty(const struct domain *domain) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain->low[axis] >= domain->high[axis]) return true;
  }
  return false;
}

/* A number that an element of f32 cannot hold would be infinite in the kernel. */
static halotune_status check_number(const struct variant_spec *spec, double number) {
  if (spec->dtype != DTYPE_F32 || fabs(number) <= (double)FLT_MAX) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%s has the number %g, which is beyond the range of f32", spec->stencil->name, number);
}

static halotune_status check_numbers(const struct variant_spec *spec) {
  const struct update *update = &spec->stencil->update;
  halotune_status status = HALOTUNE_OK;
  for (int i = update->first; i < update->end && status == HALOTUNE_OK; i++) {
    const struct expr *node = &spec->stencil->exprs.nodes[i];
    if (node->kind == EXPR_NUMBER) status = check_number(spec, node->number);
  }
  for (int i = 0; i < spec->stencil->coefficient_count && status == HALOTUNE_OK; i++) {
    status = check_number(spec, spec->coefficients[i]);
  }
  return status;
}

/* Apply the rules and compute the launch geometry. */
static halotune_status find_geometry(const struct variant_spec *spec, struct generated *out) {
  struct bindings bindings;
  double facts[FACT_COUNT];
  facts_fill(spec->stencil, spec->analysis, spec->dtype, &spec->domain, &spec->limits, facts);
  halotune_status status = bindings_make(spec->template, facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &spec->configuration);
  const struct rule *failed = bindings_failed_rule(&bindings);
  if (failed) {
    status = fail(HALOTUNE_ARGUMENT, "template %s leaves this configuration out: %s (%s)", spec->template->name,
                  failed->otherwise, failed->text);
  }
  for (int axis = 0; axis < MAX_DIMS && status == HALOTUNE_OK; axis++) {
    status = whole_value(&bindings, spec->template->block[axis], "block", axis, 1, max_block[axis], &out->launch.block[axis]);
    if (status != HALOTUNE_OK) break;
    status = whole_value(&bindings, spec->template->grid[axis], "grid", axis, is_empty(&spec->domain) ? 0 : 1, max_grid[axis],
                         &out->launch.grid[axis]);
  }
  if (status == HALOTUNE_OK && out->launch.block[0] * out->launch.block[1] * out->launch.block[2] > spec->limits.max_threads) {
    status = fail(HALOTUNE_ARGUMENT, "template %s: a block of %ldx%ldx%ld threads; at most %d are possible", spec->template->name,
                  out->launch.block[0], out->launch.block[1], out->launch.block[2], spec->limits.max_threads);
  }
  if (status == HALOTUNE_OK) {
    status = whole_value(&bindings, spec->template->shared_bytes, "shared_bytes", -1, 0, spec->limits.max_shared_bytes,
                         &out->launch.shared_bytes);
  }
  if (status == HALOTUNE_OK && spec->template->has_workspace) {
    status = whole_value(&bindings, spec->template->workspace_bytes, "workspace_bytes", -1, 1, LONG_MAX / 2,
                         &out->launch.workspace_bytes);
  }
  bindings_free(&bindings);
  return status;
}

static void add_banner(struct text *text, const struct variant_spec *spec, const struct generated *g) {
  char hex[HASH_HEX_BYTES];
  const struct domain *l = &spec->domain;
  hash_hex(spec->analysis->hash, hex);
  text_printf(text, "// %s\n//\n// Generated by Halotune %s; do not edit.\n// stencil   %s %s\n", g->launch.kernel, HALOTUNE_VERSION,
              spec->stencil->name, hex);
  hash_hex(spec->template->hash, hex);
  text_printf(text, "// template  %s %s\n// values   ", spec->template->name, hex);
  for (int i = 0; i < spec->template->parameter_count; i++) {
    const struct parameter *parameter = &spec->template->parameters[i];
    text_printf(text, " %s=%s", parameter->name, parameter->words[spec->configuration.choice[i]]);
  }
  text_printf(text, "\n// grid      %ldx%ldx%ld points of %s, rows of %ld and planes of %ld elements\n", l->grid.n[0],
              l->grid.n[1], l->grid.n[2], dtype_names[spec->dtype], l->row, l->plane);
  text_printf(text, "// launch    %ldx%ldx%ld blocks of %ldx%ldx%ld threads, %ld bytes of dynamic shared memory\n", g->launch.grid[0],
              g->launch.grid[1], g->launch.grid[2], g->launch.block[0], g->launch.block[1], g->launch.block[2], g->launch.shared_bytes);
  if (g->launch.workspace_bytes > 0) text_printf(text, "// workspace %ld bytes\n", g->launch.workspace_bytes);
  text_printf(text, "// compile   nvcc -cubin -arch=sm_%d THIS_FILE\n\n", spec->limits.capability);
}

static void choose_modes(const struct variant_spec *spec, struct generated *out, struct prelude *prelude) {
  const char *min_blocks = chosen(spec, "min_blocks");
  *prelude = (struct prelude){.spec = spec, .generated = out};
  prelude->coefficients =
      (enum coefficient_mode)chosen_word(spec, "coefficients", coefficient_words, COUNT(coefficient_words));
  prelude->load_path = (enum load_path)chosen_word(spec, "load_path", load_path_words, COUNT(load_path_words));
  prelude->streaming = (enum streaming)chosen_word(spec, "streaming", streaming_words, COUNT(streaming_words));
  prelude->literal_extents = chosen_word(spec, "extents", extents_words, COUNT(extents_words)) == 1;
  prelude->threads = out->launch.block[0] * out->launch.block[1] * out->launch.block[2];
  prelude->min_blocks = min_blocks ? strtol(min_blocks, NULL, 10) : 0;
  out->launch.literal_extents = prelude->literal_extents;
  out->launch.passes_coefficients = prelude->coefficients == COEFFICIENTS_PARAMETER && spec->stencil->coefficient_count > 0;
  out->launch.passes_textures = prelude->load_path == LOAD_TEXTURE_2D ? 2 : prelude->load_path == LOAD_TEXTURE_LINEAR;
}

/* Neighbouring indices are computed up to a radius and a block beyond the fields. */
static int index_bytes_for(const struct domain *domain) {
  double elements = (double)domain_elements(domain), margin = 1024 * (double)domain->plane;
  return elements + margin < (double)INT_MAX ? 4 : 8;
}

halotune_status generate(const struct variant_spec *spec, struct generated *out) {
  struct text text = {0};
  struct prelude prelude;
  *out = (struct generated){.launch = {.index_bytes = index_bytes_for(&spec->domain)}};
  snprintf(out->launch.kernel, sizeof out->launch.kernel, "%s_%s", spec->stencil->name, spec->template->name);
  halotune_status status = find_geometry(spec, out);
  if (status == HALOTUNE_OK) status = check_numbers(spec);
  if (status != HALOTUNE_OK) return status;
  choose_modes(spec, out, &prelude);
  add_banner(&text, spec, out);
  prelude_write_parameters(&text, spec);
  if ((status = prelude_write(&text, &prelude)) == HALOTUNE_OK) {
    text_printf(&text, "// --- the template\n\n%s", spec->template->cuda);
    if (!text_ok(&text)) status = fail_memory();
  }
  if (status != HALOTUNE_OK) {
    text_free(&text);
    *out = (struct generated){0};
    return status;
  }
  out->hash = hash_bytes(text.bytes, text.length);
  out->source = text.bytes;
  return HALOTUNE_OK;
}

halotune_status generate_prelude(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 struct text *text) {
  struct domain domain = domain_dense(stencil, analysis, &stencil->grids[0]);
  struct variant_spec spec = {.stencil = stencil, .analysis = analysis, .dtype = dtype, .domain = domain};
  struct generated generated = {.launch = {.index_bytes = 4, .passes_coefficients = stencil->coefficient_count > 0}};
  struct prelude prelude = {.spec = &spec, .generated = &generated};
  snprintf(generated.launch.kernel, sizeof generated.launch.kernel, "%s_example", stencil->name);
  return prelude_write(text, &prelude);
}

void generated_free(struct generated *generated) {
  free(generated->source);
  *generated = (struct generated){0};
}
