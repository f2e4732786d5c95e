/* trial.c: the stages of a variant that need no device: source, cubin and occupancy. */
#include "tuner/search/variants/trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/trace.h"
#include "db/store/launch_text.h"
#include "gpu/architecture/occupancy.h"

static const struct gpu_reading no_reading = {-1, -1, -1, -1, -1};

struct measurement measurement_none(void) {
  return (struct measurement){.outcome = OUTCOME_PRUNED,
                              .reason = "",
                              .timing = {.median_ms = NAN, .minimum_ms = NAN, .low_ms = NAN, .high_ms = NAN},
                              .rms_error = NAN,
                              .max_error = NAN,
                              .max_error_units = NAN,
                              .registers = -1,
                              .shared_bytes = -1,
                              .spill_bytes = -1,
                              .occupancy = NAN,
                              .blocks_per_sm = -1,
                              .threads = -1,
                              .blocks = -1,
                              .compile_ms = NAN,
                              .before = no_reading,
                              .after = no_reading,
                              .attempts = 1};
}

void trial_fail(struct trial *trial, enum outcome outcome, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(trial->reason, sizeof trial->reason, format, arguments);
  va_end(arguments);
  trial->is_over = true;
  trial->result.outcome = outcome;
  trial->result.reason = trial->reason;
}

/* The hash that names a variant without a source. */
static struct identity hash_of_spec(const struct variant_spec *spec, const char *reason) {
  struct text values = {0};
  struct identity_maker maker;
  configuration_write(spec->template, &spec->configuration, &values);
  identity_begin(&maker, "no source");
  identity_add_identity(&maker, spec->template->hash);
  identity_add_text(&maker, spec->stencil->name);
  identity_add_text(&maker, dtype_names[spec->dtype]);
  identity_add_text(&maker, reason);
  identity_add_text(&maker, text_string(&values));
  text_free(&values);
  return identity_end(&maker);
}

/* Write the span of the generation, with the variant's words, which the other spans of the variant lack. */
static void trace_generated(const struct trial *trial, double begin_ms) {
  struct text words = {0};
  if (!trace_is_on()) return;
  text_printf(&words, "%s ", trial->template->name);
  configuration_write(trial->template, &trial->spec.configuration, &words);
  trace_end(TRACE_PROGRAM, "generate", begin_ms, &trial->generated.hash, text_string(&words));
  text_free(&words);
}

halotune_status trial_begin(const struct task *task, const struct template *template, const struct proposal *proposal,
                            const struct grid *grid, struct trial **out) {
  struct trial *trial = calloc(1, sizeof *trial);
  *out = NULL;
  if (!trial) return fail_memory();
  trial->proposal = *proposal;
  trial->template = template;
  trial->spec = task_variant(task, template, &proposal->configuration, grid);
  trial->result = measurement_none();
  const double begin_ms = trace_now_ms();
  halotune_status status = generate(&trial->spec, &trial->generated);
  if (status == HALOTUNE_ARGUMENT || status == HALOTUNE_PARSE) { /* a rule excludes it, or the template is wrong */
    trial_fail(trial, status == HALOTUNE_PARSE ? OUTCOME_COMPILE_FAILED : OUTCOME_PRUNED, "%s", fail_text());
    trial->generated.hash = hash_of_spec(&trial->spec, trial->reason);
  } else if (status != HALOTUNE_OK) {
    trial_free(trial);
    return status;
  }
  trace_generated(trial, begin_ms);
  *out = trial;
  return HALOTUNE_OK;
}

halotune_status trial_begin_away(const struct template *template, const struct proposal *proposal, struct trial **out) {
  struct trial *trial = *out = calloc(1, sizeof *trial);
  if (!trial) return fail_memory();
  trial->proposal = *proposal;
  trial->template = template;
  trial->result = measurement_none();
  trial->is_away = true;
  trial->away_scale = 1;
  return HALOTUNE_OK;
}

bool trial_code(const struct trial *trial, struct identity *out) {
  struct text launch = {0};
  struct identity_maker maker;
  *out = trial->code;
  if (trial->has_code || !trial->compiled.cubin) return trial->has_code;
  launch_write(&trial->generated.launch, &launch);
  const bool ok = text_ok(&launch);
  if (ok) {
    identity_begin(&maker, "machine code");
    identity_add(&maker, text_string(&launch), launch.length);
    identity_add(&maker, trial->compiled.cubin, trial->compiled.cubin_bytes);
    *out = identity_end(&maker);
  }
  text_free(&launch);
  return ok;
}

struct compile_request trial_request(const struct trial *trial, const struct task *task) {
  return (struct compile_request){
      .source = trial->generated.source, .name = trial->generated.launch.kernel, .arch = task->arch_name};
}

static enum outcome failed_compile(enum compile_outcome outcome) {
  switch (outcome) {
  case COMPILE_CRASHED: return OUTCOME_COMPILE_CRASHED;
  case COMPILE_TIMEOUT: return OUTCOME_COMPILE_TIMEOUT;
  case COMPILE_FAILED:
  case COMPILE_OK: break;
  }
  return OUTCOME_COMPILE_FAILED;
}

static long product_of(const long sizes[MAX_DIMS]) { return sizes[0] * sizes[1] * sizes[2]; }

static void take_resources(struct trial *trial, const struct task *task, const struct kernel_resources *kernel) {
  struct measurement *result = &trial->result;
  const struct launch *launch = &trial->generated.launch;
  struct block_needs needs = {.threads = (int)product_of(launch->block),
                              .registers = kernel->registers,
                              .shared_bytes = kernel->shared_bytes + (int)launch->shared_bytes,
                              .barriers = kernel->barriers};
  struct occupancy occupancy = occupancy_of(&task->arch->limits, &needs);
  result->registers = needs.registers;
  result->shared_bytes = needs.shared_bytes;
  result->spill_bytes = kernel->spill_store_bytes + kernel->spill_load_bytes;
  result->occupancy = occupancy.fraction;
  result->blocks_per_sm = occupancy.blocks;
  result->threads = needs.threads;
  result->blocks = product_of(launch->grid);
  if (occupancy.blocks > 0) return;
  struct text text = {0};
  occupancy_explain(&task->arch->limits, &needs, &text);
  trial_fail(trial, OUTCOME_PRUNED, "no block fits on a multiprocessor: %s", text_string(&text));
  text_free(&text);
}

void trial_take(struct trial *trial, const struct task *task, struct compile_result *result) {
  trial->compiled = result->compiled; /* moved */
  result->compiled = (struct compiled){.cubin = NULL};
  trial->result.compile_ms = trial->compiled.compile_time_ms;
  if (result->outcome != COMPILE_OK) {
    int length;
    const char *line = compile_log_error(trial->compiled.log, &length);
    trial_fail(trial, failed_compile(result->outcome), "%.*s", length, line);
    return;
  }
  const struct kernel_resources *kernel = resource_report_find(&trial->compiled.report, trial->generated.launch.kernel);
  if (kernel) take_resources(trial, task, kernel);
  else
    trial_fail(trial, OUTCOME_COMPILE_FAILED, "the compiler's report has no kernel %s", trial->generated.launch.kernel);
}

void trial_free(struct trial *trial) {
  if (!trial) return;
  generated_free(&trial->generated);
  compiled_free(&trial->compiled);
  free(trial->samples);
  free(trial);
}
