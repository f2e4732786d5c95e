/* predicted.c: opens the databases as a program does, looks the target up, and goes on along the ranking. */
#include "tuner/search/hints/predicted.h"

#include <stdlib.h>

#include "db/store/launch_text.h"
#include "db/store/store_copy.h"
#include "library/lookup/candidates.h"
#include "library/lookup/lookup.h"

/* Open the databases in the order in which hints count, without those in memory. If they cannot be read, the others are
 * left out one by one, that of --hints first. Returns HALOTUNE_NOT_FOUND if none is left.
 *   is_all  also that of --hints, which no lookup reads */
static halotune_status open_all(const struct hint_sources *sources, bool is_all, halotune_ctx **out) {
  struct store **stores = calloc((size_t)sources->other_count + 1, sizeof *stores);
  halotune_status status = HALOTUNE_DB;
  *out = NULL;
  if (!stores) return fail_memory();
  for (int first = 0; first <= sources->other_count && status == HALOTUNE_DB; first++) {
    int count = 0;
    for (int i = first - 1; i < sources->other_count; i++) {
      struct store *store = i < first ? sources->own : sources->others[i];
      if (!store_is_in_memory(store) && (is_all || !store_is_copy(store))) stores[count++] = store;
    }
    status = count > 0 ? context_open_stores(stores, count, false, out) : HALOTUNE_NOT_FOUND;
  }
  if (status == HALOTUNE_OK) context_limit(*out, sources->end.is_over, sources->end.context);
  free(stores);
  return status;
}

static halotune_problem problem_of(const struct hint_target *target) {
  const struct task *task = target->task;
  const long *n = task->grid.n;
  return (halotune_problem){.stencil = task->stencil->name,
                            .device = target->device->name,
                            .grid = {n[0], n[1], n[2]},
                            .dtype = (halotune_dtype)task->dtype,
                            .launch = (halotune_launch_mode)(target->launch + 1),
                            .cache = (halotune_cache_mode)(target->cache + 1),
                            .reproducible = task->reproducible,
                            .steps = task->launch_steps};
}

/* Whether a recording has the variant. Other spaces have all variants. */
static bool is_in_space(const struct search_space *space, const struct proposal *proposal) {
  for (long i = 0; i < space->only_count; i++) {
    if (proposal_equals(space, &space->only[i], proposal)) return true;
  }
  return !space->only;
}

/* Add the variant of today's space that a configuration stands for, unless it is listed. */
static halotune_status add_variant(const struct search_space *space, const char *template_name, const char *parameters,
                                   struct predicted *out) {
  const struct hint_row row = {.template_name = template_name, .parameters = parameters};
  struct proposal proposal;
  if (!hints_variant(space, &row, &proposal) || !is_in_space(space, &proposal)) return HALOTUNE_OK;
  if (proposals_have(&out->list, space, &proposal)) return HALOTUNE_OK;
  return proposals_add(&out->list, &proposal);
}

/* Whether a variant has just these parameters. Fixed values, rules and other versions of the template may have changed
 * some. */
static bool has_parameters(const struct search_space *space, const struct proposal *proposal, const char *parameters) {
  struct proposal same = {.template_index = proposal->template_index};
  const struct template *template = space->templates[proposal->template_index];
  return configuration_read(template, parameters, &same.configuration) == HALOTUNE_OK &&
         proposal_equals(space, proposal, &same);
}

/* So many configurations of the ranking are looked at, at most. Many can stand for one variant. */
enum { MOST_LOOKED = 256 };

/* Add the next configurations of the ranking, until there are `most`. */
static halotune_status add_ranked(halotune_ctx *ctx, const halotune_config *config, const struct known_device *device,
                                  const struct search_space *space, int most, struct predicted *out) {
  struct lookup_key key;
  struct answer answer;
  struct question question;
  struct candidates candidates = {.question = NULL};
  struct candidate candidate;
  halotune_status status = config_read(ctx, config, &key, &answer);
  key.model = device->model;
  if (status == HALOTUNE_OK) status = question_begin(ctx, &key, device, &question);
  if (status == HALOTUNE_OK) {
    candidates_begin(&question, false, &candidates);
    status = candidates_add_all(&candidates);
  }
  for (int looked = 0; looked < MOST_LOOKED && status == HALOTUNE_OK && out->list.count < most; looked++) {
    if (context_is_over(ctx) || !candidates_take(&candidates, &candidate)) break;
    const char *name = ctx->catalog.templates[candidate.row->template_at].name;
    if (!question_is_row_wrong(&question, candidate.row))
      status = add_variant(space, name, candidate.row->parameters, out);
    if (status == HALOTUNE_OK) /* other rows of this candidate stand for the same variant */
      status = candidates_drop(&candidates, &candidate, false);
  }
  candidates_free(&candidates);
  return status;
}

/* Look the target up, by the GPU's name, else by its architecture. A GPU's rows say nothing about an emulation. */
static halotune_status look_up(halotune_ctx *ctx, const struct hint_target *target, halotune_problem problem,
                               struct known_device *room, const struct known_device **device, halotune_config *config) {
  halotune_status status = halotune_stencil_add(ctx, target->task->stencil_text);
  if (status == HALOTUNE_OK) status = context_device(ctx, problem.device, room, device);
  if (status == HALOTUNE_NOT_FOUND && !target->is_emulation) {
    problem.device = target->task->arch_name;
    status = context_device(ctx, problem.device, room, device);
  }
  return status == HALOTUNE_OK ? halotune_lookup(ctx, &problem, config) : status;
}

static bool has_copy(const struct hint_sources *sources) {
  bool has = false;
  for (int i = 0; i < sources->other_count; i++) has = has || store_is_copy(sources->others[i]);
  return has;
}

/* Look the target up in the databases. Add what is served and what follows it in the ranking, until there are `most`.
 *   is_all  also in that of --hints */
static halotune_status find_in(const struct hint_sources *sources, bool is_all, const struct hint_target *target,
                               const struct search_space *space, int most, struct predicted *out) {
  const int steps = target->task->launch_steps > 1 ? target->task->launch_steps : 1;
  const bool is_first = out->list.count == 0;
  const struct known_device *device = NULL;
  struct known_device room;
  halotune_ctx *ctx = NULL;
  halotune_config config;
  struct fail_kept before;
  fail_keep(&before);
  halotune_status status = open_all(sources, is_all, &ctx);
  if (status == HALOTUNE_OK) status = look_up(ctx, target, problem_of(target), &room, &device, &config);
  if (status == HALOTUNE_OK && config.steps == steps) {
    status = add_variant(space, config.template_name, config.parameters, out);
    if (is_first && out->list.count == 1 && (!is_all || !has_copy(sources)))
      out->has_served = has_parameters(space, out->list.list, config.parameters);
    if (status == HALOTUNE_OK) status = add_ranked(ctx, &config, device, space, most, out);
  }
  halotune_close(ctx);
  if (status == HALOTUNE_MEMORY) return status;
  fail_put_back(&before); /* the search begins without these hints */
  return HALOTUNE_OK;
}

halotune_status predicted_find(const struct hint_sources *sources, const struct hint_target *target,
                               const struct search_space *space, struct predicted *out) {
  halotune_status status = HALOTUNE_OK;
  *out = (struct predicted){.has_served = false};
  /* What lookups read comes first: a file of others must not take its place. */
  if (has_copy(sources)) status = find_in(sources, false, target, space, MOST_PREDICTED / 2, out);
  return status == HALOTUNE_OK ? find_in(sources, true, target, space, MOST_PREDICTED, out) : status;
}

static halotune_status find_steps(const struct hint_sources *sources, bool is_all, const struct hint_target *target,
                                  int most, int *out) {
  const struct known_device *device = NULL;
  struct known_device room;
  halotune_ctx *ctx = NULL;
  halotune_config config = {0};
  struct fail_kept before;
  halotune_problem problem = problem_of(target);
  problem.launch = HALOTUNE_LAUNCH_ANY;
  problem.cache = HALOTUNE_CACHE_ANY;
  problem.steps = most;
  *out = 0;
  fail_keep(&before);
  halotune_status status = open_all(sources, is_all, &ctx);
  if (status == HALOTUNE_OK) status = look_up(ctx, target, problem, &room, &device, &config);
  if (status == HALOTUNE_OK && config.match <= HALOTUNE_MATCH_SAME_ARCH) *out = config.steps;
  halotune_close(ctx);
  if (status == HALOTUNE_MEMORY) return status;
  fail_put_back(&before);
  return HALOTUNE_OK;
}

halotune_status predicted_steps(const struct hint_sources *sources, const struct hint_target *target, int most,
                                int *out) {
  *out = 0;
  const halotune_status status = has_copy(sources) ? find_steps(sources, false, target, most, out) : HALOTUNE_OK;
  return status == HALOTUNE_OK && *out == 0 ? find_steps(sources, true, target, most, out) : status;
}

void predicted_free(struct predicted *predicted) { proposals_free(&predicted->list); }
