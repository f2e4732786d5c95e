/* query_why.c: visits the candidates as the lookup does, and continues after the one that answers. */
#include "tuner/cli/query/query_why.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/store/launch_text.h"
#include "library/lookup/candidates.h"
#include "library/lookup/pricing.h"
#include "library/lookup/similar.h"
#include "stencil/file/grid_text.h"
#include "tuner/cli/output/variant_text.h"

/* So many candidates are printed. */
enum { MOST_PRINTED = 12 };

/* Append why a candidate cannot answer: the reason of the first rule that it breaks, or that it is known to be wrong.
 * Nothing is appended if it can.
 *   found  receives the version of its template that could compute the stencil; NULL for none
 * Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
static halotune_status find_refusal(const struct query *query, const struct candidate *candidate, struct text *why,
                                    const struct template **found) {
  const struct template *template;
  struct configuration configuration;
  struct bindings bindings;
  int template_at;
  *found = NULL;
  halotune_status status = similar_version_of_row(&query->question, candidate->row, &template_at);
  if (status == HALOTUNE_OK && template_at < 0) {
    text_printf(why, "its template is not installed, and no measurement with this stencil exists");
    return HALOTUNE_OK;
  }
  if (status == HALOTUNE_OK) status = context_template(query->ctx, template_at, &template);
  if (status == HALOTUNE_OK) status = configuration_read(template, candidate->row->parameters, &configuration);
  if (status == HALOTUNE_PARSE) {
    text_printf(why, "the installed template has other parameters");
    return HALOTUNE_OK;
  }
  if (status == HALOTUNE_OK) status = bindings_make(template, query->question.facts, &bindings);
  if (status != HALOTUNE_OK) return status;
  *found = template;
  similar_settle(&query->question, candidate->row, template, &configuration);
  bindings_configure(&bindings, &configuration);
  const struct rule *failed = bindings_failed_rule(&bindings);
  if (failed) text_printf(why, "does not fit: %s", failed->otherwise);
  else if (question_is_row_wrong(&query->question, candidate->row)) text_printf(why, "known to be wrong on this grid");
  bindings_free(&bindings);
  return HALOTUNE_OK;
}

/* Append the origin of a row: its template, its stencil and type if they differ from the question's, and its grid. */
static void write_origin(const struct query *query, const struct served *row, struct text *out) {
  const struct catalog *catalog = &query->ctx->catalog;
  const struct grid grid = {{row->n[0], row->n[1], row->n[2]}};
  text_printf(out, "%s of ", catalog->templates[row->template_at].name);
  if (row->stencil != query->question.key.stencil) text_printf(out, "%s ", catalog->stencils[row->stencil].name);
  if (row->dtype != query->question.key.dtype) text_printf(out, "%s ", dtype_names[row->dtype]);
  grid_text(&grid, query->question.parsed->stencil->dims, out);
}

/* Whether two rows are about the same variant on the same problem, from two databases or from two GPUs of a model. */
static bool is_same_variant(const struct catalog *catalog, const struct served *a, const struct served *b) {
  return a->stencil == b->stencil && a->dtype == b->dtype && a->model == b->model && a->launch == b->launch &&
         a->cache == b->cache && a->steps == b->steps && a->reproducible == b->reproducible &&
         memcmp(a->n, b->n, sizeof a->n) == 0 && a->parameters == b->parameters &&
         strcmp(catalog->templates[a->template_at].name, catalog->templates[b->template_at].name) == 0;
}

/* Whether a row only repeats the row that answers, or a row that was printed. */
static bool is_repeated(const struct query *query, const struct served *row, const struct served *const *printed,
                        int count) {
  const struct catalog *catalog = &query->ctx->catalog;
  if (row == query->answer.row) return false;
  bool repeats = query->answer.row && is_same_variant(catalog, row, query->answer.row);
  for (int i = 0; i < count && !repeats; i++) repeats = is_same_variant(catalog, row, printed[i]);
  return repeats;
}

static void print_candidate(const struct query *query, const struct candidate *candidate, struct prediction prediction,
                            const struct template *template, const char *verdict) {
  const struct catalog *catalog = &query->ctx->catalog;
  const struct served *row = candidate->row;
  const double percent = 100;
  struct text text = {0};
  if (isfinite(prediction.time_ms)) {
    text_printf(&text, "  %.4g ms, +- %.0f %%, ranked as %.4g ms", prediction.time_ms, percent * prediction.error,
                exp(candidate->rank));
  } else {
    text_printf(&text, "  unknown time");
  }
  text_printf(&text, ": ");
  write_origin(query, row, &text);
  text_printf(&text, ", %.4g ms on %s: %s\n   ", row->time_ms, catalog->devices[row->model].name, verdict);
  parameters_text_brief(template, row->parameters, &text);
  text_printf(&text, "\n");
  if (text_ok(&text)) fputs(text_string(&text), stdout);
  text_free(&text);
}

/* Tell where the coefficients of the prediction come from. */
static void print_model(const struct query *query) {
  const struct catalog *catalog = &query->ctx->catalog;
  const struct known_device *device = query->device->model >= 0 ? &catalog->devices[query->device->model] : NULL;
  if (!device || device->fitted_by < 0) {
    printf("prediction  by the default coefficients\n");
  } else if (pricing_is_fitted(device)) {
    printf("prediction  by the coefficients of %s\n", catalog->databases[device->fitted_by].path);
  } else {
    printf("prediction  by the default coefficients, because those of %s make no sense: run 'halotune db fit'\n",
           catalog->databases[device->fitted_by].path);
  }
}

/* Whether a row is of the stencil itself, on a GPU of the architecture. */
static bool is_own(const struct query *query, const struct served *row) {
  return candidates_is_own(&query->question, row->stencil, row->model);
}

/* Whether the lookup compared rows of other stencils and architectures. */
static bool compared_all(const struct query *query) {
  const halotune_config *config = &query->config;
  if (config->expected_error > choose_doubtful) return true;
  return config->match == HALOTUNE_MATCH_SIMILAR && !is_own(query, query->answer.row);
}

/* Why a candidate that fits does not answer.
 *   is_better  its rank is lower than that of the answer */
static const char *verdict_on_candidate(const struct query *query, const struct candidate *candidate, bool is_better) {
  if (candidate->row == query->answer.row) return "answers";
  if (query->config.match <= HALOTUNE_MATCH_STALE) return "not compared";
  if (query->config.match == HALOTUNE_MATCH_DEFAULT) return "not compared: a changed row of the stencil itself fits";
  if (!is_own(query, candidate->row) && !compared_all(query))
    return "not compared: a row of the stencil itself answers without much doubt";
  if (!is_own(query, candidate->row) && is_better) return "not compared: it is not surer than the answer";
  return "ranked behind the answer";
}

halotune_status query_print_why(const struct query *query) {
  const halotune_config *config = &query->config;
  const struct served *printed[MOST_PRINTED];
  struct candidates candidates;
  struct candidate candidate;
  int count = 0, repeated = 0;
  bool has_answer = false; /* the candidate that answers was printed */
  if (config->match <= HALOTUNE_MATCH_STALE)
    printf("why         this very problem was measured; what follows is for comparison\n");
  print_model(query);
  candidates_begin(&query->question, false, &candidates);
  halotune_status status = candidates_add_all(&candidates);
  const int all = status == HALOTUNE_OK ? candidates_count(&candidates) : 0;
  if (all > MOST_PRINTED)
    printf("candidates  the best %d of %d rows, ranked by a time that each hardly exceeds\n", MOST_PRINTED, all);
  else if (status == HALOTUNE_OK)
    printf("candidates  %d row%s, ranked by a time that each hardly exceeds\n", all, PLURAL(all));
  while (count < MOST_PRINTED && status == HALOTUNE_OK && candidates_take(&candidates, &candidate)) {
    struct text why = {0};
    const struct template *template;
    if (is_repeated(query, candidate.row, printed, count)) {
      repeated++;
      continue;
    }
    printed[count++] = candidate.row;
    status = find_refusal(query, &candidate, &why, &template);
    if (status == HALOTUNE_OK && why.length == 0)
      text_printf(&why, "%s", verdict_on_candidate(query, &candidate, !has_answer));
    has_answer = has_answer || candidate.row == query->answer.row;
    if (status == HALOTUNE_OK)
      print_candidate(query, &candidate, candidates_predict(&candidates, &candidate), template, text_string(&why));
    text_free(&why);
  }
  if (repeated > 0)
    printf("  %d row%s of another database or GPU repeat%s one of these\n", repeated, PLURAL(repeated),
           repeated > 1 ? "" : "s");
  candidates_free(&candidates);
  return status;
}
