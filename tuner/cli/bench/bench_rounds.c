/* bench_rounds.c: compiles and loads the players, takes the rounds, and checks the kernels once more. */
#include "tuner/cli/bench/bench_rounds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stencil/cuda/cuda_tokens.h"
#include "tuner/measure/finals/rounds.h"
#include "tuner/measure/sampling/measure.h"
#include "tuner/search/variants/problem_set.h"

enum { ROUNDS_LEAST = 8, ROUNDS_MOST = 100000, SAMPLE_MS = 1, SEED = 1 };

/* A kernel that takes part. */
struct entrant {
  struct variant_spec spec;
  struct generated generated;
  struct compiled compiled;
};

static const int slots[BENCH_PLAYERS] = {[BENCH_WINNER] = 0, [BENCH_PLAIN] = 1, [BENCH_COPY] = SLOT_MEMCPY};

static void verdict_set(struct verdict *verdict, enum outcome outcome, const char *reason) {
  *verdict = (struct verdict){.outcome = outcome};
  snprintf(verdict->reason, sizeof verdict->reason, "%s", reason);
}

static void entrant_specify(const struct bench_request *request, const struct template *template,
                            const struct configuration *configuration, struct entrant *entrant) {
  const struct query *query = request->query;
  const struct parsed_stencil *parsed = query->question.parsed;
  entrant->spec = (struct variant_spec){.stencil = parsed->stencil,
                                        .analysis = parsed->analysis,
                                        .template = template,
                                        .configuration = *configuration,
                                        .dtype = (enum dtype)query->config.dtype,
                                        .domain = query->question.domain,
                                        .coefficients = query->coefficients,
                                        .limits = request->backend->facts.device.limits,
                                        .reproducible = query->config.reproducible,
                                        .most_steps = query->config.steps};
}

/* Load a kernel, if it was made. Its verdict says what went wrong.
 *   made  the status of generating and compiling it */
static halotune_status entrant_load(const struct bench_request *request, int slot, halotune_status made,
                                    const struct entrant *entrant, struct verdict *verdict) {
  const struct candidate candidate = {&entrant->spec, &entrant->generated, &entrant->compiled, false};
  if (made == HALOTUNE_ARGUMENT || made == HALOTUNE_COMPILE) { /* ARGUMENT: a rule excludes it */
    verdict_set(verdict, made == HALOTUNE_ARGUMENT ? OUTCOME_PRUNED : OUTCOME_COMPILE_FAILED, fail_text());
    return HALOTUNE_OK;
  }
  if (made != HALOTUNE_OK) return made;
  return request->backend->table->load(request->backend->state, slot, &candidate, verdict);
}

/* Make the winner as the library makes it for a program: from the stored code where this fits, not from the
 * template. */
static halotune_status winner_make(const struct bench_request *request, struct entrant *entrant, const char **code) {
  const struct query *query = request->query;
  const struct template *template;
  struct built built;
  halotune_status status = context_template(query->ctx, query->answer.template_at, &template);
  if (status == HALOTUNE_OK) status = kernel_build(&query->question, &query->answer, query->coefficients, &built);
  if (status != HALOTUNE_OK) return status;
  entrant_specify(request, template, &query->answer.configuration, entrant);
  *code = built.code;
  entrant->generated = (struct generated){.source = built.source, .launch = built.launch};
  entrant->compiled = (struct compiled){.cubin = built.cubin, .cubin_bytes = built.cubin_bytes, .log = strdup("")};
  if (!entrant->compiled.log) return fail_memory();
  return source_hash(built.source, &entrant->generated.hash);
}

static halotune_status plain_make(const struct bench_request *request, struct entrant *entrant) {
  const struct configuration plain = configuration_default(request->plain);
  char arch[16];
  entrant_specify(request, request->plain, &plain, entrant);
  halotune_status status = generate(&entrant->spec, &entrant->generated);
  if (status != HALOTUNE_OK) return status;
  snprintf(arch, sizeof arch, "sm_%d", request->backend->facts.device.capability);
  const struct compile_request compile = {
      .source = entrant->generated.source, .name = entrant->generated.launch.kernel, .arch = arch};
  return compiler_compile(request->compiler, &compile, &entrant->compiled);
}

static halotune_status entrants_load(const struct bench_request *request, struct entrant entrants[BENCH_COPY],
                                     struct bench_result *out) {
  struct verdict *verdicts = out->verdicts;
  struct entrant *winner = &entrants[BENCH_WINNER], *plain = &entrants[BENCH_PLAIN];
  halotune_status status = winner_make(request, winner, &out->code);
  status = entrant_load(request, slots[BENCH_WINNER], status, winner, &verdicts[BENCH_WINNER]);
  if (status != HALOTUNE_OK) return status;
  if (!request->plain || request->query->config.steps > 1) {
    verdict_set(&verdicts[BENCH_PLAIN], OUTCOME_PRUNED,
                request->plain ? "it makes one time step a launch, the winner several" : "there is no template direct");
    return HALOTUNE_OK;
  }
  return entrant_load(request, slots[BENCH_PLAIN], plain_make(request, plain), plain, &verdicts[BENCH_PLAIN]);
}

/* Find how many applications a sample of each player has. */
static halotune_status batches_find(struct backend_handle *backend, struct rounds *rounds, struct bench_result *out) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < BENCH_PLAYERS && status == HALOTUNE_OK; i++) {
    double time_ms;
    struct player *player = &rounds->players[i];
    *player = (struct player){.slot = slots[i], .batch = 1, .verdict = out->verdicts[i]};
    if (player->verdict.outcome != OUTCOME_MEASURED) player->skips = ROUNDS_NONE;
    else status = measure_batch(backend, slots[i], SAMPLE_MS, &player->batch, &time_ms, &player->verdict);
  }
  return status;
}

static halotune_status rounds_take(const struct bench_request *request, struct bench_result *out) {
  const struct time_source time = {NULL, NULL};
  struct rounds rounds = {.count = 0};
  /* A round has more than one sample, so that the time ends the rounds, and not this number. */
  const int most = (int)fmin(fmax(request->limit_ms / SAMPLE_MS, ROUNDS_LEAST), ROUNDS_MOST);
  halotune_status status = rounds_make(request->backend, &time, SEED, BENCH_PLAYERS, most, &rounds);
  if (status == HALOTUNE_OK) status = batches_find(request->backend, &rounds, out);
  const struct rounds_end end = {.at_ms = time_now_ms(&time) + request->limit_ms, .least = ROUNDS_LEAST};
  if (status == HALOTUNE_OK) status = rounds_run(&rounds, most, &end);
  if (status == HALOTUNE_OK) out->is_throttled = rounds_drop_throttled(&rounds, ROUNDS_LEAST);
  for (int i = 0; i < BENCH_PLAYERS && status == HALOTUNE_OK; i++) {
    struct verdict *verdict = &out->verdicts[i];
    if (verdict->outcome == OUTCOME_MEASURED) *verdict = rounds.players[i].verdict;
    if (verdict->outcome == OUTCOME_MEASURED && i != BENCH_COPY)
      status = request->backend->table->recheck(request->backend->state, slots[i], verdict);
    if (status != HALOTUNE_OK || verdict->outcome != OUTCOME_MEASURED) continue;
    out->times_ms[i] = rounds_times(&rounds, i);
    if (out->verdicts[BENCH_WINNER].outcome == OUTCOME_MEASURED)
      out->ratios[i] = rounds_ratio(&rounds, i, BENCH_WINNER);
  }
  out->rounds = rounds.count;
  rounds_free(&rounds);
  return status;
}

halotune_status bench_rounds(const struct bench_request *request, struct text *warnings, struct bench_result *out) {
  const struct query *query = request->query;
  const struct parsed_stencil *parsed = query->question.parsed;
  const enum dtype dtype = (enum dtype)query->config.dtype;
  const struct served *row = query->answer.row;
  struct entrant entrants[BENCH_COPY] = {{.compiled = {.log = NULL}}};
  struct scene scene = {.allowed_units = 0};
  const struct scene_request scene_request = {.stencil = parsed->stencil,
                                              .analysis = parsed->analysis,
                                              .dtype = dtype,
                                              .domain = query->question.domain,
                                              .coefficients = query->coefficients,
                                              .input = INPUT_RANDOM,
                                              .seed = SEED,
                                              .steps = query->config.steps,
                                              .launch_steps = query->config.steps};
  const struct backend_problem problem = {.scene = &scene,
                                          .launch = (enum launch_mode)row->launch,
                                          .cache = (enum cache_mode)row->cache,
                                          .reproducible = query->config.reproducible,
                                          .roof_elements = row->bytes / 2 / (long long)dtype_bytes(dtype)};
  for (int i = 0; i < BENCH_PLAYERS; i++) {
    out->verdicts[i] = (struct verdict){.outcome = OUTCOME_MEASURED};
    out->times_ms[i] = out->ratios[i] = summary_of(NULL, 0);
  }
  halotune_status status = problem_make(request->backend, &scene_request, &scene, &problem, warnings, NULL);
  if (status == HALOTUNE_OK) problem_warn_of_drawing(request->backend, &scene, warnings);
  if (status == HALOTUNE_OK) status = entrants_load(request, entrants, out);
  if (status == HALOTUNE_OK && out->verdicts[BENCH_WINNER].outcome == OUTCOME_MEASURED)
    status = rounds_take(request, out);
  for (int i = 0; i < BENCH_COPY; i++) {
    request->backend->table->unload(request->backend->state, slots[i]);
    generated_free(&entrants[i].generated);
    compiled_free(&entrants[i].compiled);
  }
  scene_free(&scene);
  return status;
}
