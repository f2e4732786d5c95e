/* question.c: the facts of a question, and the rules that a configuration must keep to answer it. */
#include "library/lookup/question.h"

#include <string.h>

/* A template that gives no sensible alignment may use the widest access. No kernel needs more than textures do. */
enum { WIDEST_ACCESS_BYTES = 16, MOST_ALIGNMENT_BYTES = 512 };

void question_demand(struct question *q, struct demands demands) {
  q->demands = demands;
  q->facts[FACT_pointer_bytes] = demands.alignment_bytes;
  q->facts[FACT_in_place] = demands.in_place || q->parsed->stencil->in_place_count > 0;
  q->facts[FACT_no_textures] = demands.no_textures;
}

void question_set_steps(struct question *q, int steps) {
  q->key.steps = (unsigned short)steps;
  facts_set_steps(q->parsed->stencil, steps, steps, q->facts);
}

void question_set_domain(struct question *q, const struct domain *domain) {
  q->domain = *domain;
  memcpy(q->facts, q->parsed->facts, sizeof q->facts);
  facts_fill_problem((enum dtype)q->key.dtype, domain, &q->device->limits, q->key.reproducible, q->facts);
  question_demand(q, q->demands);
  question_set_steps(q, q->key.steps);
}

halotune_status question_begin(struct halotune_ctx *ctx, const struct lookup_key *key,
                               const struct known_device *device, struct question *out) {
  *out = (struct question){.ctx = ctx, .device = device, .key = *key};
  struct grid grid = {{(long)key->n[0], (long)key->n[1], (long)key->n[2]}};
  halotune_status status = context_stencil(ctx, key->text_of, &out->parsed);
  if (status != HALOTUNE_OK) return status;
  const struct stencil *stencil = out->parsed->stencil;
  if (!stencil->dtypes[key->dtype]) {
    return fail(HALOTUNE_ARGUMENT, "%s is not an element type of %s", dtype_names[key->dtype], stencil->name);
  }
  for (int axis = 0; axis < stencil->dims; axis++) {
    if (key->unsaid & (1 << axis))
      return fail(HALOTUNE_ARGUMENT, "%s has %d dimension%s, but the grid has no number of points in %c", stencil->name,
                  stencil->dims, PLURAL(stencil->dims), axis_names[axis]);
  }
  for (int axis = stencil->dims; axis < MAX_DIMS; axis++) {
    if (grid.n[axis] == 1) continue;
    return fail(HALOTUNE_ARGUMENT, "%s has %d dimension%s, so that its grids have 1 point in %c, not %ld",
                stencil->name, stencil->dims, PLURAL(stencil->dims), axis_names[axis], grid.n[axis]);
  }
  if ((status = stencil_check_grid(stencil, &grid, NULL)) != HALOTUNE_OK) return status;
  struct domain domain = domain_dense(stencil, out->parsed->analysis, &grid);
  question_set_domain(out, &domain);
  return HALOTUNE_OK;
}

struct rules_problem question_rules_problem(const struct question *q) {
  return (struct rules_problem){q->device->limits, q->parsed, q->key.dtype};
}

bool question_is_hopeless(const struct rules_problem *problem, const struct rules_again *again,
                          struct rule_verdicts *verdicts) {
  const struct settled_rules *settled = rules_kept_again(again, problem);
  return settled && settled_rules_break_again(settled, verdicts);
}

struct rule_verdicts question_verdicts(const struct question *q) {
  return (struct rule_verdicts){.shared = &q->ctx->rules_kept.shared, .facts = q->facts};
}

halotune_status question_check(const struct question *q, const struct template *template,
                               const struct configuration *configuration, bool *fits) {
  struct rule_verdicts verdicts = question_verdicts(q);
  return question_check_one(q, template, configuration, NULL, &verdicts, fits);
}

halotune_status question_check_one(const struct question *q, const struct template *template,
                                   const struct configuration *configuration, struct rules_again *again,
                                   struct rule_verdicts *verdicts, bool *fits) {
  const struct rules_key key = {question_rules_problem(q), template->hash, *configuration};
  struct settled_rules *settled = again ? rules_kept_again(again, &key.problem) : NULL;
  if (!settled) settled = rules_kept_find(&q->ctx->rules_kept, &key, again);
  struct bindings bindings;
  if (settled) *fits = settled_rules_keep(settled, verdicts);
  if (settled) return HALOTUNE_OK;
  halotune_status status = bindings_make(template, q->facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, configuration);
  *fits = bindings_failed_rule(&bindings) == NULL;
  pthread_mutex_lock(&q->ctx->lock);
  rules_kept_add(&q->ctx->rules_kept, &key, &bindings);
  pthread_mutex_unlock(&q->ctx->lock);
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

halotune_status question_alignment(const struct question *q, const struct template *template,
                                   const struct configuration *configuration, int *out) {
  struct bindings bindings;
  halotune_status status = bindings_make(template, q->facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, configuration);
  const double bytes = bindings_value(&bindings, template->pointer_alignment);
  *out = bytes >= 1 && bytes <= MOST_ALIGNMENT_BYTES ? (int)bytes : WIDEST_ACCESS_BYTES;
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

/* A question about this problem for the list of refuted configurations, about one that no row of the stencil has. It is
 * as good as a row of the name that was asked for. `parameters` is a text of the catalog, or NULL. */
static struct refuted verdict_on(const struct question *q, int template_at, const char *parameters) {
  const uint32_t *n = q->key.n;
  const struct known_stencil *asked = &q->ctx->catalog.stencils[q->key.text_of];
  return (struct refuted){.n = {n[0], n[1], n[2]},
                          .stencil = asked->meaning,
                          .named = asked->of_name,
                          .asked = asked->of_name,
                          .is_own = asked->of_name >= 0 && q->ctx->catalog.stencils[asked->of_name].is_measured,
                          .model = q->device->model,
                          .template_at = template_at,
                          .dtype = q->key.dtype,
                          .parameters = parameters};
}

bool question_is_wrong(const struct question *q, int template_at, const char *parameters) {
  const struct refuted verdict = verdict_on(q, template_at, parameters);
  return refuted_has(&q->ctx->catalog.refuted, &verdict);
}

/* A winner of this very problem is in the catalog only if it is newer than a verdict against it. */
bool question_is_row_wrong(const struct question *q, const struct served *row) {
  const bool is_here = !row->is_finalist && row->stencil == q->key.stencil && row->dtype == q->key.dtype &&
                       row->model == q->device->model && memcmp(row->n, q->key.n, sizeof row->n) == 0;
  struct refuted verdict = verdict_on(q, row->template_at, row->parameters);
  if (row->is_imported) {
    verdict.is_own = false;
  } else if (row->stencil == q->key.stencil) {
    verdict.named = row->named;
    verdict.is_own = !row->is_foreign;
    verdict.is_shipped = row->is_foreign;
  }
  return !is_here && refuted_has(&q->ctx->catalog.refuted, &verdict);
}

long question_wrong_count(const struct question *q) {
  const struct refuted verdict = verdict_on(q, 0, NULL);
  return refuted_count(&q->ctx->catalog.refuted, &verdict);
}
