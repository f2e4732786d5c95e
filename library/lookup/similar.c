/* similar.c: distances between stencils, and the version of a template that may compute a stencil. */
#include "library/lookup/similar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The distance that each difference adds. A factor of two in traffic adds as much as another shape. */
static const float other_shape = 1, other_boundary = 0.5f, other_field = 0.5f, factor_of_reach = 1, factor_of_bytes = 1,
                   other_linearity = 0.5f, factor_of_taps = 0.5f;

/* Errors that another stencil adds: a fixed one, and one for each unit of distance. */
static const float error_of_any = 0.15f, error_of_distance = 0.15f;

/* Weights are grouped if fewer than one of so many operations of the sums remain. */
static const double worth_grouping = 2;

static float doublings_between(double a, double b) { return fabsf(log2f((float)(a / b))); }

static int staged_count(const struct parsed_stencil *parsed) {
  int count = 0;
  for (int i = 0; i < parsed->stencil->input_count; i++) count += is_staged(parsed->analysis, i);
  return count;
}

float similar_distance(const struct parsed_stencil *a, const struct parsed_stencil *b) {
  const struct stencil *s = a->stencil, *t = b->stencil;
  const struct analysis *x = a->analysis, *y = b->analysis;
  if (s->dims != t->dims || s->kind != t->kind) return INFINITY;
  float distance = 0;
  if (x->shape != y->shape) distance += other_shape;
  if (x->is_linear != y->is_linear) distance += other_linearity;
  for (int axis = 0; axis < s->dims; axis++) {
    distance += factor_of_reach / (float)s->dims * doublings_between(1.0 + x->radius[axis], 1.0 + y->radius[axis]);
    if (s->boundary[axis][SIDE_LOW].rule != t->boundary[axis][SIDE_LOW].rule)
      distance += other_boundary / (float)s->dims;
  }
  distance += other_field * (float)abs(staged_count(a) - staged_count(b));
  distance += factor_of_bytes * doublings_between(x->bytes_per_point[DTYPE_F32], y->bytes_per_point[DTYPE_F32]);
  distance += factor_of_taps * doublings_between(1.0 + x->tap_count, 1.0 + y->tap_count);
  return distance;
}

bool similar_has_images(const struct parsed_stencil *parsed) {
  const struct stencil *stencil = parsed->stencil;
  for (int i = 0; i < stencil->input_count; i++) {
    for (int axis = 0; axis < stencil->dims; axis++) {
      const struct edge *edges = stencil->input_boundary[i][axis];
      if (parsed->analysis->radius_low[axis] > 0 && !edge_leaves_out(&edges[SIDE_LOW])) return true;
      if (parsed->analysis->radius_high[axis] > 0 && !edge_leaves_out(&edges[SIDE_HIGH])) return true;
    }
  }
  return false;
}

float similar_error(float distance) { return error_of_any + error_of_distance * distance; }

bool similar_is_installed(const struct known_template *known) {
  return known->installed_yaml && known->installed_yaml == known->yaml && known->installed_cuda == known->cuda;
}

halotune_status similar_version(const struct question *q, int template_at, int *version_at) {
  const struct catalog *catalog = &q->ctx->catalog;
  const int same_name = catalog->templates[template_at].same_name;
  const bool is_allowed = catalog->templates[template_at].installed_yaml || q->parsed->is_basic;
  *version_at = -1;
  for (int i = same_name; i < catalog->template_count && is_allowed && *version_at < 0; i++) {
    const struct known_template *known = &catalog->templates[i];
    bool is_superseded = false;
    if (known->same_name != same_name) continue;
    halotune_status status = HALOTUNE_OK;
    if (!similar_is_installed(known)) status = context_is_superseded(q->ctx, i, &is_superseded);
    if (status != HALOTUNE_OK) return status;
    if (!is_superseded) *version_at = i;
  }
  return HALOTUNE_OK;
}

halotune_status similar_version_of_row(const struct question *q, const struct served *row, int *version_at) {
  *version_at = row->template_at;
  return row->stencil == q->key.stencil ? HALOTUNE_OK : similar_version(q, row->template_at, version_at);
}

bool similar_can_group(const struct template *template) {
  const int at = template_parameter(template, "weights", strlen("weights"));
  return at >= 0 && parameter_value_at(&template->parameters[at], "grouped") >= 0;
}

void similar_group(const struct template *template, const double facts[FACT_COUNT],
                   struct configuration *configuration) {
  const int at = template_parameter(template, "weights", strlen("weights"));
  const int grouped = at < 0 ? -1 : parameter_value_at(&template->parameters[at], "grouped");
  if (grouped < 0) return;
  if (worth_grouping * facts[FACT_grouped_operations] < facts[FACT_sum_operations])
    configuration->choice[at] = (unsigned char)grouped;
  else if (facts[FACT_grouped_operations] >= facts[FACT_sum_operations]) /* the rules refuse to group them */
    configuration->choice[at] = (unsigned char)template->parameters[at].default_value;
}

bool similar_settle(const struct question *q, const struct served *row, const struct template *template,
                    struct configuration *configuration) {
  if (row->stencil == q->key.stencil) return false;
  const struct configuration before = *configuration;
  configuration_settle(template, q->facts, configuration);
  similar_group(template, q->facts, configuration);
  return memcmp(&before, configuration, sizeof before) != 0;
}
