/* choose.c: takes the candidates in order, until one fits the question. */
#include "library/lookup/choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "db/store/launch_text.h"
#include "library/lookup/candidates.h"
#include "library/lookup/similar.h"
#include "stencil/template/space.h"

/* After so many refused configurations of other stencils, the lookup falls back to a default. */
enum { MOST_REFUSED = 192 };

/* The number of configurations that are changed, at most, until one fits; and the number of values that are tried for
 * one of them, which takes some milliseconds for an installed template. Facts of a GPU that make no sense, such as
 * -1 threads, keep no configuration. */
enum { MOST_ADAPTED = 8, MOST_TRIED_VALUES = 1 << 16 };

/* Refuse a configuration that was found to be wrong. A configuration that no row has is compared by its text. */
static halotune_status refuse_refuted(const struct question *q, const struct template *template, int template_at,
                                      const struct configuration *configuration, bool *fits) {
  struct text text = {0};
  if (!*fits || q->ctx->catalog.refuted.count == 0) return HALOTUNE_OK;
  configuration_write(template, configuration, &text);
  halotune_status status = text_ok(&text) ? HALOTUNE_OK : fail_memory();
  const struct texts *texts = &q->ctx->catalog.texts;
  const int known = status == HALOTUNE_OK ? texts_find(texts, text.bytes, text.length) : -1;
  if (known >= 0 && question_is_wrong(q, template_at, texts->list[known])) *fits = false;
  text_free(&text);
  return status;
}

const double choose_doubtful = 0.4;

/* Settle an answer's configuration. If it changes, the answer needs a text of its own. */
static halotune_status settle_configuration(const struct question *q, const struct template *template,
                                            struct answer *answer) {
  if (!similar_settle(q, answer->row, template, &answer->configuration)) return HALOTUNE_OK;
  struct text text = {0};
  configuration_write(template, &answer->configuration, &text);
  answer->settled = text_ok(&text) ? context_text(q->ctx, text_string(&text)) : NULL;
  answer->settled_count = template->parameter_count;
  text_free(&text);
  return answer->settled ? HALOTUNE_OK : fail_memory();
}

/* Check whether a candidate's configuration fits the question. If so, it becomes the answer. */
static halotune_status try_candidate(struct candidates *candidates, const struct candidate *candidate,
                                     struct answer *out, bool *fits) {
  const struct question *q = candidates->question;
  const struct template *template;
  int template_at;
  *fits = false;
  halotune_status status = similar_version_of_row(q, candidate->row, &template_at);
  if (status != HALOTUNE_OK || template_at < 0) return status;
  struct answer answer = {.row = candidate->row,
                          .template_at = template_at,
                          .match = candidate->match,
                          .configuration = candidate->shape->configuration};
  status = context_template(q->ctx, template_at, &template);
  if (status == HALOTUNE_OK && template_at != candidate->row->template_at) {
    struct fail_kept before;
    fail_keep(&before);
    status = configuration_read(template, candidate->row->parameters, &answer.configuration);
    if (status == HALOTUNE_PARSE) fail_put_back(&before); /* the versions have different parameters */
    if (status == HALOTUNE_PARSE) return HALOTUNE_OK;
  }
  struct rules_again *again = candidates_rules_again(candidates, candidate);
  if (status == HALOTUNE_OK) status = settle_configuration(q, template, &answer);
  if (status == HALOTUNE_OK)
    status = question_check_one(q, template, &answer.configuration, again, &candidates->verdicts, fits);
  if (status == HALOTUNE_OK && answer.settled)
    status = refuse_refuted(q, template, template_at, &answer.configuration, fits);
  if (status == HALOTUNE_OK && *fits) *out = answer;
  return status;
}

/* How many rows of other stencils were refused, at all and of each template. */
struct refusals {
  int count, template_count;
  struct {
    int same_name, count;
  } templates[MOST_REFUSED];
};

/* Count a refusal. Returns whether so many rows of this template were refused that the others would probably be refused
 * for the same reason. */
static bool count_refusal(struct refusals *refusals, int same_name) {
  enum { OFTEN = 48 };
  int at = 0;
  while (at < refusals->template_count && refusals->templates[at].same_name != same_name) at++;
  if (at == refusals->template_count) {
    refusals->templates[at].same_name = same_name;
    refusals->templates[at].count = 0;
    refusals->template_count++;
  }
  refusals->count++;
  return ++refusals->templates[at].count >= OFTEN;
}

double choose_overrated(double error) {
  static const double share = 0.8, most_error = 0.15;
  return isnan(error) ? 1 : exp(share * fmin(error, most_error));
}

/* Find the best candidate that fits. It becomes the answer. After too many refused ones, the answer so far stays.
 *   rank  receives the rank of the candidate */
static halotune_status choose_measured(struct candidates *candidates, float *rank, struct answer *out) {
  const struct question *q = candidates->question;
  struct candidate candidate;
  halotune_status status = HALOTUNE_OK;
  struct refusals refusals;
  refusals.count = refusals.template_count = 0;
  while (status == HALOTUNE_OK && refusals.count < MOST_REFUSED && !context_is_over(q->ctx) &&
         candidates_take(candidates, &candidate)) {
    bool fits = false;
    if (question_is_row_wrong(q, candidate.row) || (q->leaves_out_imported && candidate.row->is_imported)) continue;
    status = try_candidate(candidates, &candidate, out, &fits);
    if (fits) {
      out->prediction = candidates_predict(candidates, &candidate);
      out->prediction.time_ms *= choose_overrated(out->prediction.error);
      *rank = candidate.rank;
      break;
    }
    const int same_name = q->ctx->catalog.templates[candidate.row->template_at].same_name;
    const bool is_often = candidate.row->stencil != q->key.stencil && count_refusal(&refusals, same_name);
    if (status == HALOTUNE_OK) /* drop all its rows: many grids have the same winner */
      status = candidates_drop(candidates, &candidate, is_often);
  }
  return status;
}

/* The number of values that are tried for a template: fewer if its rules are long, unless it is installed; 0 if the
 * configuration is tried only as it is.
 *   others  templates that are not installed, for which values were tried before */
static long tried_values(const struct question *q, int template_at, const struct template *template, int *others) {
  const long most_nodes = 1 << 14, most_steps = 1 << 22; /* of formulas */
  const long nodes = template->exprs.count + 1;
  if (similar_is_installed(&q->ctx->catalog.templates[template_at])) return MOST_TRIED_VALUES;
  if (nodes > most_nodes || ++*others > MOST_ADAPTED) return 0;
  return most_steps / nodes < MOST_TRIED_VALUES ? most_steps / nodes : MOST_TRIED_VALUES;
}

/* Change an answer's configuration in as few parameters as possible, so that it fits.
 *   others  see tried_values */
static halotune_status adapt_configuration(const struct question *q, struct answer *answer, int *others, bool *fits) {
  const struct template *template;
  struct bindings bindings;
  halotune_status status = context_template(q->ctx, answer->template_at, &template);
  if (status == HALOTUNE_OK) status = bindings_make(template, q->facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  bindings_configure(&bindings, &answer->configuration);
  *fits = !bindings_failed_rule(&bindings);
  const long values = *fits ? 0 : tried_values(q, answer->template_at, template, others);
  bindings.limit = (struct walk_limit){q->ctx->is_over, q->ctx->is_over_context, values, 0, WALK_WHOLE};
  if (values > 0) *fits = !space_nearest(&bindings, NULL, &answer->configuration);
  bindings_free(&bindings);
  return refuse_refuted(q, template, answer->template_at, &answer->configuration, fits);
}

/* No measured configuration fits. Take the best candidate whose configuration fits after a change of few parameters.
 */
static halotune_status choose_adapted(struct candidates *candidates, struct answer *out, bool *found) {
  struct candidate candidate;
  halotune_status status = HALOTUNE_OK;
  int others = 0;
  *found = false;
  candidates_restart(candidates);
  for (int i = 0; i < MOST_ADAPTED && !*found && status == HALOTUNE_OK; i++) {
    if (context_is_over(candidates->question->ctx) || !candidates_take(candidates, &candidate)) break;
    *out = (struct answer){.match = HALOTUNE_MATCH_DEFAULT,
                           .template_at = candidate.row->template_at,
                           .prediction = {NAN, NAN},
                           .configuration = candidate.shape->configuration};
    status = candidates_drop(candidates, &candidate, false);
    if (status == HALOTUNE_OK) status = adapt_configuration(candidates->question, out, &others, found);
  }
  return status;
}

/* Added to a weight if a row of this version shows that its code is correct for the stencil. */
static const long proven = 1L << 62;

/* Give weights for the order in which templates are tried: most wins for this stencil first, then most wins at all.
 * Wins of all versions of a template count. Wins with another number of steps do not count. */
static void weigh_templates(const struct question *q, long *weights) {
  static const long own = 1L << 32;
  const struct catalog *catalog = &q->ctx->catalog;
  for (int i = 0; i < catalog->template_count; i++) weights[i] = 0;
  for (int i = 0; i < catalog->row_count; i++) {
    const struct served *row = &catalog->rows[i];
    const bool is_own = row->stencil == q->key.stencil;
    if (row->is_finalist) continue;
    if (is_own) weights[row->template_at] |= proven;
    if (row->steps == q->key.steps) weights[catalog->templates[row->template_at].same_name] += is_own ? own : 1;
  }
  for (int i = catalog->template_count - 1; i >= 0; i--) { /* the first version has the sum, and comes last */
    const int same_name = catalog->templates[i].same_name;
    weights[i] = (weights[i] & proven) | (weights[same_name] & ~proven);
  }
}

/* Check whether a version of a template may give the default. */
static halotune_status may_run(const struct question *q, int template_at, bool is_proven, bool *out) {
  const struct known_template *known = &q->ctx->catalog.templates[template_at];
  int version_at;
  *out = false;
  if (known->wins == 0 && !known->installed_yaml) return HALOTUNE_OK; /* nothing shows that its code is correct */
  halotune_status status = similar_version(q, template_at, &version_at);
  if (status != HALOTUNE_OK || version_at == template_at || !is_proven) {
    *out = version_at == template_at;
    return status;
  }
  status = context_is_superseded(q->ctx, template_at, out);
  *out = !*out;
  return status;
}

/* Fail with the reason why there is no answer, and with what to do. */
static halotune_status fail_without_answer(const struct question *q) {
  const char *name = q->parsed->stencil->name, *dtype = dtype_names[q->key.dtype];
  const char *to_tune = q->ctx->tune_argument ? q->ctx->tune_argument : name;
  const uint32_t *n = q->key.n;
  const long wrong = question_wrong_count(q);
  if (wrong == 0) {
    return fail(HALOTUNE_NOT_FOUND,
                "no trusted template in the databases can compute %s on %ux%ux%u %s: run 'halotune tune %s' for it",
                name, n[0], n[1], n[2], dtype, to_tune);
  }
  return fail(HALOTUNE_NOT_FOUND,
              "%ld variant%s of %s on %ux%ux%u %s %s known to be wrong, and no trusted template in the databases "
              "can compute it otherwise: run 'halotune tune %s', which finds a correct variant or says what is wrong",
              wrong, PLURAL(wrong), name, n[0], n[1], n[2], dtype, wrong == 1 ? "is" : "are", to_tune);
}

/* Whether a template gives the default before another one. Names decide between equals: the order in which rows came
 * into a database says nothing. */
static bool is_before(const struct catalog *catalog, const long *weights, int a, int b) {
  const long of_a = weights[a] & ~proven, of_b = weights[b] & ~proven;
  return of_a != of_b ? of_a > of_b : strcmp(catalog->templates[a].name, catalog->templates[b].name) < 0;
}

static halotune_status choose_default(const struct question *q, struct answer *out) {
  const struct catalog *catalog = &q->ctx->catalog;
  halotune_status status = HALOTUNE_OK;
  int others = 0;
  bool found = false;
  long *weights = calloc((size_t)catalog->template_count + 1, sizeof *weights);
  if (!weights) return fail_memory();
  weigh_templates(q, weights);
  while (!found && status == HALOTUNE_OK && !context_is_over(q->ctx)) {
    const struct template *template;
    bool may;
    int heaviest = -1;
    for (int i = 0; i < catalog->template_count; i++) {
      if (weights[i] >= 0 && (heaviest < 0 || is_before(catalog, weights, i, heaviest))) heaviest = i;
    }
    if (heaviest < 0) break;
    const bool is_proven = weights[heaviest] & proven;
    weights[heaviest] = -1;
    status = may_run(q, heaviest, is_proven, &may);
    if (status != HALOTUNE_OK) break;
    if (!may) continue;
    *out = (struct answer){.match = HALOTUNE_MATCH_DEFAULT, .template_at = heaviest, .prediction = {NAN, NAN}};
    status = context_template(q->ctx, heaviest, &template);
    if (status != HALOTUNE_OK) break;
    out->configuration = configuration_default(template);
    similar_group(template, q->facts, &out->configuration);
    status = adapt_configuration(q, out, &others, &found);
  }
  free(weights);
  return status != HALOTUNE_OK || found ? status : fail_without_answer(q);
}

/* Whether a row is of the question's problem on its model of GPU, in any mode. */
static bool is_of_problem(const struct question *q, const struct served *row) {
  return row->stencil == q->key.stencil && row->dtype == q->key.dtype && row->model == q->device->model &&
         row->steps == q->key.steps && memcmp(row->n, q->key.n, sizeof row->n) == 0;
}

halotune_status choose_instead(const struct question *question, const struct served *partial, struct answer *out,
                               bool *found) {
  struct answer answer;
  struct fail_kept kept;
  struct question fair = *question;
  *found = false;
  if (!partial->is_partial) return HALOTUNE_OK;
  fair.leaves_out_imported = !partial->is_foreign; /* this user measured, and others claim */
  fail_keep(&kept);
  const halotune_status status = choose(&fair, &answer);
  if (status == HALOTUNE_MEMORY) return status;
  if (status != HALOTUNE_OK) { /* a failure of other rows or templates must not hide this row */
    fail_put_back(&kept);
    return HALOTUNE_OK;
  }
  if (!answer.row || is_of_problem(question, answer.row)) return HALOTUNE_OK;
  /* The other row has a better rank, penalty for its error included, than the partial row, which is a candidate as
   * well. */
  *found = answer.prediction.time_ms * (1 + answer.prediction.error) < partial->time_ms;
  if (*found) *out = answer;
  return HALOTUNE_OK;
}

halotune_status choose(const struct question *question, struct answer *out) {
  struct candidates candidates;
  float rank = INFINITY;
  out->row = NULL;
  candidates_begin(question, true, &candidates);
  halotune_status status = candidates_add_own(&candidates);
  if (status == HALOTUNE_OK) status = choose_measured(&candidates, &rank, out);
  bool is_done = out->row && out->prediction.error <= choose_doubtful;
  if (status == HALOTUNE_OK && !out->row) {
    status = choose_adapted(&candidates, out, &is_done);
    candidates_free(&candidates); /* none of the own rows fits */
    candidates_begin(question, true, &candidates);
  }
  const float most_error = out->row ? (float)out->prediction.error : INFINITY;
  if (status == HALOTUNE_OK && !is_done) status = candidates_add_others(&candidates, rank, most_error);
  if (status == HALOTUNE_OK && !is_done) status = choose_measured(&candidates, &rank, out);
  candidates_free(&candidates);
  return status == HALOTUNE_OK && !is_done && !out->row ? choose_default(question, out) : status;
}
