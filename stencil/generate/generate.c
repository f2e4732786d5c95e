/* generate.c: puts banner, prelude and template together into one CUDA source. */
#include "stencil/generate/generate.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/cuda/assemble.h"
#include "stencil/cuda/cuda_tokens.h"
#include "stencil/generate/launch_shape.h"
#include "stencil/generate/prelude.h"
#include "stencil/generate/stage_words.h"
#include "stencil/generate/wrappers.h"
#include "stencil/template/template_names.h"

/* The word or number that a parameter has in this variant; NULL if the template has no such parameter. */
static const char *chosen_value(const struct variant_spec *spec, const char *name) {
  int found = template_parameter(spec->template, name, strlen(name));
  return found < 0 ? NULL : spec->template->parameters[found].words[spec->configuration.choice[found]];
}

/* The position of a parameter's word in a list; 0 if the template has no such parameter. Files with other words are
 * refused when they are read. */
static int chosen_word(const struct variant_spec *spec, const char *name, const char *const *words, int count) {
  const char *word = chosen_value(spec, name);
  for (int i = 0; i < count && word; i++) {
    if (strcmp(word, words[i]) == 0) return i;
  }
  return 0;
}

/* Refuse a number that an f32 element cannot hold, because it would be infinite in the kernel. */
static halotune_status check_number(const struct variant_spec *spec, double number) {
  if (spec->dtype != DTYPE_F32 || fabs(number) <= (double)FLT_MAX) return HALOTUNE_OK;
  return fail(HALOTUNE_ARGUMENT, "%s has the number %g, which is beyond the range of f32", spec->stencil->name, number);
}

/* Numbers that taps beyond the grid read. */
static halotune_status check_outside(const struct variant_spec *spec) {
  const struct stencil *stencil = spec->stencil;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < stencil->input_count * stencil->dims * SIDES && status == HALOTUNE_OK; i++) {
    const int side = i % SIDES, axis = i / SIDES % stencil->dims, input = i / SIDES / stencil->dims;
    status = check_number(spec, stencil->input_boundary[input][axis][side].number);
  }
  return status;
}

static halotune_status check_numbers(const struct variant_spec *spec) {
  const struct stages stages = variant_stages(spec, 1);
  halotune_status status = HALOTUNE_OK;
  for (int stage = 0; stage < stages_count(&stages); stage++) {
    const struct stencil *stencil = stages_get(&stages, stage)->stencil;
    for (int i = stencil->update.first; i < stencil->update.end && status == HALOTUNE_OK; i++) {
      const struct expr *node = &stencil->exprs.nodes[i];
      if (node->kind == EXPR_NUMBER) status = check_number(spec, node->number);
    }
  }
  for (int i = 0; i < spec->stencil->coefficient_count && status == HALOTUNE_OK; i++) {
    status = check_number(spec, spec->coefficients[i]);
  }
  return status == HALOTUNE_OK ? check_outside(spec) : status;
}

static void add_maps(struct text *text, const char *kind, const struct tensor_maps *maps) {
  if (maps->count == 0) return;
  text_printf(text, "#define LAUNCH_%s_MAP_BOX %ld, %ld, %ld  // elements in x, y, z\n", kind, maps->box[0],
              maps->box[1], maps->box[2]);
  text_printf(text, "#define LAUNCH_%s_MAP_PROMOTION %d  // bytes\n", kind, maps->promotion_bytes);
}

#define CAPABILITY_MACRO "LAUNCH_CAPABILITY"

int source_capability(const char *source) {
  struct cuda_reader reader = cuda_reader_of(source, strlen(source));
  int words = 0; /* read of `#define LAUNCH_CAPABILITY` */
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    if (token.kind == CUDA_COMMENT) continue; /* no identity covers comments */
    if (words == 3 && token.kind == CUDA_NUMBER) return (int)strtol(token.at, NULL, 10);
    if (token.kind == CUDA_DIRECTIVE) words = 1;
    else
      words = (words == 1 && cuda_is(&token, "define")) || (words == 2 && cuda_is(&token, CAPABILITY_MACRO)) ? words + 1
                                                                                                             : 0;
  }
  return 0;
}

/* Append the facts that a launch needs besides the code. These are macros instead of comments, so that they are part
 * of the source's identity. The number of blocks is a comment: variants that differ only in it are one source. */
static void add_launch(struct text *text, const struct launch *launch, int capability) {
  if (capability > 0)
    text_printf(text, "#define " CAPABILITY_MACRO " %d  // least compute capability, times ten\n", capability);
  text_printf(text, "#define LAUNCH_BLOCK %ld, %ld, %ld  // threads in x, y, z\n", launch->block[0], launch->block[1],
              launch->block[2]);
  if (launch->shared_bytes > 0) text_printf(text, "#define LAUNCH_SHARED_BYTES %ld\n", launch->shared_bytes);
  if (launch_cluster_blocks(launch) > 1) {
    text_printf(text, "#define LAUNCH_CLUSTER %ld, %ld, %ld  // blocks in x, y, z\n", launch->cluster[0],
                launch->cluster[1], launch->cluster[2]);
  }
  if (launch->steps > 1) text_printf(text, "#define LAUNCH_STEPS %d  // time steps\n", launch->steps);
  if (launch->overlaps) text_printf(text, "#define LAUNCH_OVERLAP 1  // programmatic dependent launch\n");
  if (launch->cooperative) text_printf(text, "#define LAUNCH_COOPERATIVE 1  // all blocks run at the same time\n");
  add_maps(text, "INPUT", &launch->input_maps);
  add_maps(text, "OUTPUT", &launch->output_maps);
  text_printf(text, "\n");
}

static void add_banner(struct text *text, const struct variant_spec *spec, const struct generated *g) {
  char hex[IDENTITY_HEX_BYTES];
  const struct domain *l = &spec->domain;
  identity_hex(spec->analysis->hash, hex);
  text_printf(text, "// %s\n//\n// Generated by Halotune %s; do not edit.\n// stencil   %s %s\n", g->launch.kernel,
              HALOTUNE_VERSION, spec->stencil->name, hex);
  identity_hex(spec->template->hash, hex);
  text_printf(text, "// template  %s %s\n// values   ", spec->template->name, hex);
  for (int i = 0; i < spec->template->parameter_count; i++) {
    const struct parameter *parameter = &spec->template->parameters[i];
    text_printf(text, " %s=%s", parameter->name, parameter->words[spec->configuration.choice[i]]);
  }
  text_printf(text, "\n// grid      %ldx%ldx%ld points of %s, rows of %ld and planes of %ld elements\n", l->grid.n[0],
              l->grid.n[1], l->grid.n[2], dtype_names[spec->dtype], l->row, l->plane);
  text_printf(text, "// launch    %ldx%ldx%ld blocks\n", g->launch.grid[0], g->launch.grid[1], g->launch.grid[2]);
  if (g->launch.workspace_bytes > 0) text_printf(text, "// workspace %ld bytes\n", g->launch.workspace_bytes);
  text_printf(text, "// compile   nvcc -cubin -arch=sm_%d THIS_FILE\n\n", spec->limits.capability);
}

static void choose_modes(const struct variant_spec *spec, struct generated *out, struct prelude *prelude) {
  const char *min_blocks = chosen_value(spec, "min_blocks");
  *prelude = (struct prelude){.spec = spec, .launch = &out->launch, .stages = variant_stages(spec, out->launch.steps)};
  prelude->coefficients =
      (enum coefficient_mode)chosen_word(spec, "coefficients", coefficient_words, COUNT(coefficient_words));
  prelude->load_path = (enum load_path)chosen_word(spec, "load_path", load_path_words, COUNT(load_path_words));
  prelude->streaming = (enum streaming)chosen_word(spec, "streaming", streaming_words, COUNT(streaming_words));
  prelude->groups_weights = chosen_word(spec, "weights", weights_words, COUNT(weights_words)) == 1;
  prelude->literal_extents = chosen_word(spec, "extents", extents_words, COUNT(extents_words)) == 1;
  prelude->threads = out->launch.block[0] * out->launch.block[1] * out->launch.block[2];
  prelude->min_blocks = min_blocks ? strtol(min_blocks, NULL, 10) : 0;
  out->launch.literal_extents = prelude->literal_extents;
  out->launch.passes_coefficients =
      prelude->coefficients == COEFFICIENTS_PARAMETER && spec->stencil->coefficient_count > 0;
  out->launch.passes_textures = prelude->load_path == LOAD_TEXTURE_2D ? 2 : prelude->load_path == LOAD_TEXTURE_LINEAR;
}

/* Kernels compute indices of neighbours, which may be a radius and a block beyond the fields. */
static int index_bytes_for(const struct domain *domain) {
  double elements = (double)domain_elements(domain), margin = 1024 * (double)domain->plane;
  return elements + margin < (double)INT_MAX ? 4 : 8;
}

/* Append macros of the configuration that decide conditions in the texts, but are not written into the source. */
static void add_given(struct text *text, const struct variant_spec *spec) {
  text_printf(text, "#define HALOTUNE_PRELUDE\n#define __CUDA_ARCH__ %ld\n", 10L * spec->limits.capability);
}

/* The macros of the prelude with which templates begin a kernel. The source is easier to read with their text in the
 * kernel. */
static const char *const inlined_macros[] = {"KERNEL", "KERNEL_PARAMETERS",  "LAUNCH_BOUNDS",
                                             "FIELDS", "COEFFICIENT_VALUES", NULL};

/* Append the definitions. `needs_arch` receives whether they were chosen for the compute capability. */
static halotune_status add_definitions(struct text *text, const struct variant_spec *spec,
                                       const struct prelude *prelude, bool *needs_arch) {
  struct text given = {0}, parameters = {0}, written = {0}, file = {0}, cuda = {0};
  add_given(&given, spec);
  prelude_write_parameters(&parameters, spec);
  text_printf(&file, "%s.cu", spec->template->name);
  halotune_status status = prelude_write(&written, prelude);
  if (status == HALOTUNE_OK) status = stage_words_inline(prelude, spec->template->cuda, &cuda);
  if (!text_ok(&given) || !text_ok(&parameters) || !text_ok(&file)) status = fail_memory();
  if (status == HALOTUNE_OK) {
    const struct assembly_text texts[] = {
        {NULL, text_string(&given), NULL},
        {"parameters", text_string(&parameters), NULL},
        {"wrappers.cuh", wrappers_cuda, "HALOTUNE_WRAPPERS"},
        {"wrappers_sm_90.cuh", wrappers_sm_90_cuda, "HALOTUNE_WRAPPERS"},
        {"prelude", text_string(&written), NULL},
        {"common.cuh", template_common_cuda(spec->template->cuda), NULL},
        {text_string(&file), text_string(&cuda), NULL},
    };
    status =
        assemble(texts, COUNT(texts), (int)dtype_bytes(spec->dtype), inlined_macros, "__CUDA_ARCH__", needs_arch, text);
  }
  text_free(&given);
  text_free(&parameters);
  text_free(&written);
  text_free(&file);
  text_free(&cuda);
  return status;
}

/* Compute the name under which a source is stored, which is that of the source without #line. Where a compiler may read
 * the source in another way because of #line, as between a macro and its arguments, it loses them: what is measured is
 * what is stored. */
static halotune_status name_source(char *source, struct identity *out) {
  struct identity with_lines;
  char *stored = strdup(source);
  if (!stored) return fail_memory();
  source_strip_lines(stored);
  halotune_status status = source_hash(stored, out);
  if (status == HALOTUNE_OK) status = source_hash(source, &with_lines);
  if (status == HALOTUNE_OK && identity_compare(*out, with_lines) != 0) memcpy(source, stored, strlen(stored) + 1);
  free(stored);
  return status;
}

halotune_status generate(const struct variant_spec *spec, struct generated *out) {
  struct text text = {0}, definitions = {0};
  struct prelude prelude;
  bool needs_arch = false;
  *out = (struct generated){.launch = {.index_bytes = index_bytes_for(&spec->domain)}};
  snprintf(out->launch.kernel, sizeof out->launch.kernel, "%s_%s", spec->stencil->name, spec->template->name);
  halotune_status status = launch_find(spec, &out->launch);
  if (status == HALOTUNE_OK) status = check_numbers(spec);
  if (status == HALOTUNE_OK && spec->chain) status = stages_check(spec->chain);
  if (status != HALOTUNE_OK) {
    *out = (struct generated){0};
    return status;
  }
  choose_modes(spec, out, &prelude);
  status = add_definitions(&definitions, spec, &prelude, &needs_arch);
  add_banner(&text, spec, out);
  add_launch(&text, &out->launch, needs_arch ? spec->limits.capability : 0);
  text_add(&text, definitions.bytes, definitions.length);
  text_free(&definitions);
  if (status == HALOTUNE_OK) status = text_ok(&text) ? name_source(text.bytes, &out->hash) : fail_memory();
  if (status != HALOTUNE_OK) {
    text_free(&text);
    *out = (struct generated){0};
    return status;
  }
  out->source = text.bytes;
  return HALOTUNE_OK;
}

halotune_status generate_prelude(const struct stencil *stencil, const struct analysis *analysis, enum dtype dtype,
                                 struct text *text) {
  struct domain domain = domain_dense(stencil, analysis, &stencil->grids[0]);
  struct variant_spec spec = {.stencil = stencil, .analysis = analysis, .dtype = dtype, .domain = domain};
  struct launch launch = {.steps = 1, .index_bytes = 4, .passes_coefficients = stencil->coefficient_count > 0};
  struct prelude prelude = {.spec = &spec, .launch = &launch, .stages = variant_stages(&spec, 1)};
  /* All possible tensor maps, so that a template that takes them compiles as it is. */
  if (stencil->kind == STENCIL_STENCIL) tensor_fields_find(&spec, &launch);
  snprintf(launch.kernel, sizeof launch.kernel, "%s_example", stencil->name);
  text_printf(text, "// Generated by: halotune generate %s --prelude\n#define HALOTUNE_PRELUDE\n\n%s\n%s\n",
              stencil->name, wrappers_cuda, wrappers_sm_90_cuda);
  return prelude_write(text, &prelude);
}

/* A line that begins like a directive may stand in a comment, and a directive may go on in a comment on the next
 * line. */
void source_strip_lines(char *source) {
  static const char directive[] = "#line ";
  struct cuda_reader reader = cuda_reader_of(source, strlen(source));
  char *to = source;
  const char *kept = source; /* where the text begins that follows the last directive */
  for (struct cuda_token token; (token = cuda_next(&reader)).kind != CUDA_END;) {
    const bool begins_line = token.at == source || token.at[-1] == '\n';
    if (token.kind != CUDA_DIRECTIVE || !begins_line || strncmp(token.at, directive, strlen(directive)) != 0 ||
        !cuda_skip_line_directive(&reader))
      continue;
    memmove(to, kept, (size_t)(token.at - kept));
    to += token.at - kept;
    kept = reader.at + (*reader.at == '\n');
  }
  memmove(to, kept, strlen(kept) + 1);
}

void generated_free(struct generated *generated) {
  free(generated->source);
  *generated = (struct generated){0};
}
