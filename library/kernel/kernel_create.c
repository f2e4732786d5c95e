/* kernel_create.c: halotune_kernel_create, halotune_kernel_info and halotune_kernel_free. */
#include <stdlib.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "library/kernel/kernel_pack.h"
#include "library/kernel/kernel_set.h"
#include "library/lookup/choose_steps.h"
#include "library/lookup/lookup.h"
#include "stencil/analysis/iterate.h"

static void variant_free(struct loaded_variant *variant) {
  if (!variant) return;
  if (variant->kernel.cu) kernel_unload(&variant->kernel);
  built_free(&variant->built);
  free(variant);
}

/* Whether a configuration may run where an output is an input. */
static halotune_status find_in_place(const struct question *q, const struct template *template,
                                     const struct configuration *configuration, bool *out) {
  struct question in_place = *q;
  question_demand(&in_place, (struct demands){.in_place = true});
  return question_check(&in_place, template, configuration, out);
}

static halotune_status describe_kernel(halotune_kernel *kernel, const struct answer *answer,
                                       struct loaded_variant *variant) {
  const struct template *template;
  struct text text = {0};
  halotune_status status = context_template(kernel->ctx, answer->template_at, &template);
  if (status != HALOTUNE_OK) return status;
  configuration_write(template, &answer->configuration, &text);
  variant->parameters = text_ok(&text) ? context_text(kernel->ctx, text_string(&text)) : NULL;
  text_free(&text);
  variant->template_name = template->name;
  status = question_alignment(&kernel->question, template, &answer->configuration, &variant->alignment_bytes);
  if (status == HALOTUNE_OK)
    status = find_in_place(&kernel->question, template, &answer->configuration, &variant->runs_in_place);
  if (status != HALOTUNE_OK) return status;
  return variant->parameters ? HALOTUNE_OK : fail_memory();
}

halotune_status kernel_add_variant(halotune_kernel *kernel, const struct answer *answer, struct loaded_variant **out) {
  const struct question *q = &kernel->question;
  struct kernel_plan *plan = malloc(sizeof *plan);
  struct loaded_variant *variant = calloc(1, sizeof *variant);
  halotune_status status = plan && variant ? HALOTUNE_OK : fail_memory();
  *out = NULL;
  if (status == HALOTUNE_OK) status = describe_kernel(kernel, answer, variant);
  if (status == HALOTUNE_OK) status = kernel_build(q, answer, kernel->coefficients, &variant->built);
  if (status == HALOTUNE_OK) {
    kernel_plan_make(&variant->built.launch, q->parsed->stencil, (enum dtype)q->key.dtype, &q->domain,
                     kernel->coefficients, plan);
    status = kernel_load(kernel->cu, variant->built.cubin, plan, &variant->kernel);
  }
  free(plan);
  if (status != HALOTUNE_OK) {
    variant_free(variant);
    return status;
  }
  free(variant->built.cubin);
  variant->built.cubin = NULL;
  variant->next = kernel->variants;
  kernel->variants = variant;
  *out = variant;
  return HALOTUNE_OK;
}

/* The dense domain of the question, changed as the caller's layout says. */
static halotune_status read_layout(const struct question *q, const halotune_layout *layout, struct domain *out) {
  const long most = 1L << 42; /* limit for the elements of a field: no grid has more, and no product of fewer
                                 overflows */
  *out = q->domain;
  const long *n = out->grid.n;
  if (layout->row) out->row = (long)layout->row;
  const bool holds_rows = out->row >= n[0] && out->row <= most / n[1];
  out->plane = layout->plane ? (long)layout->plane : holds_rows ? out->row * n[1] : 0;
  if (!holds_rows || out->plane < out->row * n[1] || out->plane > most / n[2]) {
    return fail(HALOTUNE_ARGUMENT, "layout: rows of %ld and planes of %ld elements do not hold %ldx%ld points",
                out->row, out->plane, out->grid.n[0], out->grid.n[1]);
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    long long low = layout->low[axis] ? layout->low[axis] : q->domain.low[axis];
    long long high = layout->high[axis] ? layout->high[axis] : q->domain.high[axis];
    if (low < q->domain.low[axis] || high > q->domain.high[axis] || low >= high) {
      return fail(HALOTUNE_ARGUMENT,
                  "layout: the box goes from %lld to %lld in %c; the boundary rules allow a box from %ld to %ld", low,
                  high, axis_names[axis], q->domain.low[axis], q->domain.high[axis]);
    }
    out->low[axis] = (long)low;
    out->high[axis] = (long)high;
  }
  return HALOTUNE_OK;
}

static halotune_status check_box(const struct domain *domain) {
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (domain->low[axis] >= domain->high[axis]) {
      return fail(HALOTUNE_ARGUMENT,
                  "the grid has no point to compute: in %c it is not longer than the reach of the taps",
                  axis_names[axis]);
    }
  }
  return HALOTUNE_OK;
}

static halotune_kernel *kernel_new(halotune_ctx *ctx) {
  halotune_kernel *kernel = calloc(1, sizeof *kernel);
  if (!kernel) return NULL;
  pthread_mutex_init(&kernel->lock, NULL);
  context_hold(ctx);
  kernel->ctx = ctx;
  return kernel;
}

/* Whether launches of a run are gathered in graphs. A launch that is long enough to hide the next one's start needs no
 * graph. */
static bool gathers_launches(const halotune_kernel *kernel) {
  return kernel->answer.row && kernel->question.parsed->analysis->can_iterate &&
         kernel->answer.prediction.time_ms < kernel_graph_below_ms;
}

/* Load the variant of the answer. */
static halotune_status load_main(halotune_kernel *kernel) {
  const struct stencil *stencil = kernel->question.parsed->stencil;
  struct carried carried[MAX_FIELDS];
  kernel->input_count = stencil->input_count;
  kernel->output_count = stencil->output_count + iterate_carried(stencil, kernel->question.key.steps, carried);
  kernel->pointer_count = kernel->input_count + kernel->output_count;
  kernel->gathers = gathers_launches(kernel);
  return kernel_add_variant(kernel, &kernel->answer, &kernel->main);
}

/* Make kernels for the steps that are left over. A launch of each makes at most half as many steps as the one before,
 * so that a few launches advance any rest. The last kernel makes single steps. */
static halotune_status add_fewer(halotune_kernel *kernel) {
  halotune_status status = HALOTUNE_OK;
  while (status == HALOTUNE_OK && kernel->question.key.steps > 1) {
    halotune_kernel *fewer = kernel->fewer = kernel_new(kernel->ctx);
    if (!fewer) return fail_memory();
    fewer->cu = kernel->cu;
    fewer->context = kernel->context;
    fewer->question = kernel->question;
    status = kernel_coefficients(&fewer->question, kernel->coefficients, &fewer->coefficients);
    if (status == HALOTUNE_OK) status = choose_steps(&fewer->question, kernel->question.key.steps / 2, &fewer->answer);
    if (status == HALOTUNE_OK) status = load_main(fewer);
    kernel = fewer;
  }
  return status;
}

/* Begin a kernel of a configuration, without choosing a variant yet. */
static halotune_status kernel_begin(halotune_kernel *kernel, const halotune_config *config, const double *coefficients,
                                    const halotune_layout *layout) {
  const struct own_device *device;
  struct lookup_key key;
  struct domain domain;
  halotune_status status = config_read(kernel->ctx, config, &key, &kernel->answer);
  if (status == HALOTUNE_OK) status = context_cu(kernel->ctx, &kernel->cu);
  if (status == HALOTUNE_OK) status = context_current_device(kernel->ctx, &device);
  if (status == HALOTUNE_OK) status = cu_check(kernel->cu, kernel->cu->ctx_get(&kernel->context), "cuCtxGetCurrent");
  if (status != HALOTUNE_OK) return status;
  key.model = device->known.model;
  status = question_begin(kernel->ctx, &key, &device->known, &kernel->question);
  if (status == HALOTUNE_OK) status = check_box(&kernel->question.domain);
  if (status == HALOTUNE_OK && layout && (status = read_layout(&kernel->question, layout, &domain)) == HALOTUNE_OK) {
    question_set_domain(&kernel->question, &domain);
  }
  return status == HALOTUNE_OK ? kernel_coefficients(&kernel->question, coefficients, &kernel->coefficients) : status;
}

/* Whether the configuration keeps its rules on this GPU and in this layout. */
static halotune_status check_fit(const halotune_kernel *kernel, bool *fits) {
  const struct template *template;
  const halotune_status status = context_template(kernel->ctx, kernel->answer.template_at, &template);
  return status == HALOTUNE_OK ? question_check(&kernel->question, template, &kernel->answer.configuration, fits)
                               : status;
}

/* Keep the configuration if it fits. Otherwise choose the best one that does, of as many or fewer steps. */
static halotune_status settle_best(halotune_kernel *kernel) {
  struct question *q = &kernel->question;
  bool fits = false;
  const halotune_status status = check_fit(kernel, &fits);
  if (status != HALOTUNE_OK || fits) return status;
  return q->key.steps > 1 ? choose_steps(q, q->key.steps, &kernel->answer) : choose(q, &kernel->answer);
}

/* Let a kernel make launches of exactly so many steps. Its own configuration is kept if it makes so many and fits.
 * Otherwise the best one is taken. */
static halotune_status settle_steps(halotune_kernel *kernel, const halotune_config *config, int steps) {
  bool fits = false;
  if (steps == config->steps) {
    question_set_steps(&kernel->question, steps);
    const halotune_status status = check_fit(kernel, &fits);
    if (status != HALOTUNE_OK || fits) return status;
  }
  return choose_of_steps(&kernel->question, steps, &kernel->answer);
}

/* Let all kernels make launches of equally many steps: the largest number for which each box has a configuration. */
static halotune_status settle_alike(halotune_kernel *const kernels[], int count, const halotune_config *config) {
  halotune_status status = HALOTUNE_NOT_FOUND;
  struct fail_kept before;
  fail_keep(&before);
  for (int steps = config->steps; steps >= 1 && status == HALOTUNE_NOT_FOUND; steps--) {
    status = HALOTUNE_OK;
    for (int i = 0; i < count && status == HALOTUNE_OK; i++) status = settle_steps(kernels[i], config, steps);
  }
  if (status == HALOTUNE_OK) fail_put_back(&before); /* of larger numbers */
  return status;
}

static void free_all(halotune_kernel *kernels[], int count) {
  for (int i = 0; i < count; i++) {
    halotune_kernel_free(kernels[i]);
    kernels[i] = NULL;
  }
}

/* Make a kernel for each layout.
 *   layouts   may be NULL for one kernel of a dense grid
 *   is_boxes  whether halotune_kernel_create_boxes asks: it has another rule for the number of steps than
 *             halotune_kernel_create, also for one box */
static halotune_status create_kernels(halotune_ctx *ctx, const halotune_config *config, const double *coefficients,
                                      const halotune_layout *layouts, int count, bool is_boxes,
                                      halotune_kernel *out[]) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    out[i] = kernel_new(ctx);
    status = out[i] ? kernel_begin(out[i], config, coefficients, layouts ? &layouts[i] : NULL) : fail_memory();
  }
  if (status == HALOTUNE_OK) status = is_boxes ? settle_alike(out, count, config) : settle_best(out[0]);
  for (int i = 0; i < count && status == HALOTUNE_OK; i++) {
    status = load_main(out[i]);
    if (status == HALOTUNE_OK) status = add_fewer(out[i]);
  }
  if (status != HALOTUNE_OK) free_all(out, count);
  return status;
}

/* Check the ctx and the configuration of a call, and find the ctx that made the configuration. */
static halotune_status check_create(halotune_ctx *ctx, const halotune_config *config, const char *call,
                                    struct halotune_ctx **made_by) {
  if (!ctx || !config) return fail(HALOTUNE_ARGUMENT, "%s: an argument is NULL", call);
  halotune_status status = forked_check(ctx->generation);
  if (status == HALOTUNE_OK) status = config_check(config, call);
  if (status != HALOTUNE_OK) return status;
  *made_by = context_of_config(ctx, config);
  return *made_by ? HALOTUNE_OK : fail(HALOTUNE_ARGUMENT, "the configuration comes from another ctx");
}

halotune_status halotune_kernel_create(halotune_ctx *ctx, const halotune_config *config, const double *coefficients,
                                       const halotune_layout *layout, halotune_kernel **out) {
  struct halotune_ctx *made_by = NULL;
  if (!out) return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create: out is NULL");
  *out = NULL;
  const halotune_status status = check_create(ctx, config, "halotune_kernel_create", &made_by);
  return status == HALOTUNE_OK ? create_kernels(made_by, config, coefficients, layout, 1, false, out) : status;
}

halotune_status halotune_kernel_create_boxes(halotune_ctx *ctx, const halotune_config *config,
                                             const double *coefficients, const halotune_layout *layouts, int count,
                                             halotune_kernel **out) {
  struct halotune_ctx *made_by = NULL;
  if (!out) return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create_boxes: out is NULL");
  if (count < 1)
    return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create_boxes: count is %d; it must be 1 or more", count);
  for (int i = 0; i < count; i++) out[i] = NULL;
  if (!layouts) return fail(HALOTUNE_ARGUMENT, "halotune_kernel_create_boxes: an argument is NULL");
  const halotune_status status = check_create(ctx, config, "halotune_kernel_create_boxes", &made_by);
  return status == HALOTUNE_OK ? create_kernels(made_by, config, coefficients, layouts, count, true, out) : status;
}

void halotune_kernel_info(const halotune_kernel *kernel, halotune_kernel_facts *out) {
  *out = (halotune_kernel_facts){.steps = 0};
  if (!kernel) return;
  const struct loaded_variant *variant = kernel->main;
  const struct kernel_plan *plan = &variant->kernel.plan;
  *out = (halotune_kernel_facts){.name = plan->name,
                                 .source = variant->built.source,
                                 .template_name = variant->template_name,
                                 .parameters = variant->parameters,
                                 .code = variant->built.code,
                                 .input_count = kernel->input_count,
                                 .output_count = kernel->output_count,
                                 .coefficient_count = kernel->question.parsed->stencil->coefficient_count,
                                 .coefficients = kernel->coefficients,
                                 .dynamic_shared_bytes = plan->shared_bytes,
                                 .alignment_bytes = variant->alignment_bytes,
                                 .steps = variant->built.steps,
                                 .elements = domain_elements(&kernel->question.domain)};
  memcpy(out->grid, plan->grid, sizeof out->grid);
  memcpy(out->block, plan->block, sizeof out->block);
}

/* End one kernel, without those for fewer steps. */
static void kernel_free(halotune_kernel *kernel) {
  CUcontext before = NULL;
  /* Modules and textures belong to the kernel's context, which may not be the current one. */
  bool switched = kernel->context && kernel->cu->ctx_get(&before) == CUDA_SUCCESS && before != kernel->context &&
                  kernel->cu->ctx_set(kernel->context) == CUDA_SUCCESS;
  for (int i = 0; i < kernel->graph_count; i++) kernel->cu->graph_exec_destroy(kernel->graphs[i].exec);
  kernel_pack_free(kernel);
  for (int i = 0; i < MOST_BOUND_SETS; i++) {
    struct bound_set *set = atomic_load(&kernel->sets[i]);
    if (set) kernel_fields_free(&set->variant->kernel, &set->fields);
    free(set);
  }
  while (kernel->variants) {
    struct loaded_variant *next = kernel->variants->next;
    variant_free(kernel->variants);
    kernel->variants = next;
  }
  if (switched) kernel->cu->ctx_set(before);
  free(kernel->coefficients);
  pthread_mutex_destroy(&kernel->lock);
  context_release(kernel->ctx);
  free(kernel);
}

void halotune_kernel_free(halotune_kernel *kernel) {
  if (kernel && kernel->ctx->generation != forked_generation()) return; /* it is the parent's: see halotune_close */
  while (kernel) {
    halotune_kernel *fewer = kernel->fewer;
    kernel_free(kernel);
    kernel = fewer;
  }
}
