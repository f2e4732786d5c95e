/* groups.c: finds where the weights of a form repeat, so that a march needs fewer operations.
 *
 * A plane that comes in adds its points to the sums of several planes. Points with equal weights in all of these
 * planes are a group, and so are points whose weights are multiples of each other. Planes with equal weights at all
 * points receive the same sum. Only the text of the stencil counts, so a user may give the coefficients any values:
 * weights are equal if they read alike, and multiples only if they are numbers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencil/analysis/analysis_parts.h"

struct weight_text {
  struct text text;
  int weight;
};

/* Sort equal texts together, the first weight in front. */
static int compare_texts(const void *left, const void *right) {
  const struct weight_text *a = left, *b = right;
  const int order = strcmp(text_string(&a->text), text_string(&b->text));
  return order != 0 ? order : a->weight - b->weight;
}

/* Number the weights in the order in which they first occur. Where their texts together are too long to be compared, as
 * with long names and very many taps, there are no forms, and the update stays whole. */
static halotune_status number_weights(const struct stencil *stencil, struct split *split, struct arena *arena) {
  const struct spelling spelling = {.leaf = add_weight_leaf, .context = stencil};
  const size_t count = (size_t)split->weight_count, most_bytes = 8 << 20;
  size_t bytes = 0;
  struct weight_text *texts = calloc(count + 1, sizeof *texts);
  split->weight_values = arena_alloc(arena, (count + 1) * sizeof *split->weight_values);
  halotune_status status = texts && split->weight_values ? HALOTUNE_OK : fail_memory();
  for (int i = 0; i < split->weight_count && status == HALOTUNE_OK && bytes <= most_bytes; i++) {
    texts[i].weight = i;
    status = expr_print(&texts[i].text, &split->exprs, split->weights[i].factor, &spelling);
    bytes += texts[i].text.length;
  }
  if (bytes > most_bytes) {
    split->form_count = 0;
  } else if (status == HALOTUNE_OK) {
    qsort(texts, count, sizeof *texts, compare_texts);
    for (size_t i = 0, first = 0; i < count; i++) {
      if (strcmp(text_string(&texts[i].text), text_string(&texts[first].text)) != 0) first = i;
      split->weights[texts[i].weight].number = texts[first].weight; /* for now the first weight that reads so */
    }
    for (int i = 0; i < split->weight_count; i++) {
      struct form_weight *weight = &split->weights[i];
      const struct expr *factor = &split->exprs.nodes[weight->factor];
      weight->number = weight->number == i ? split->weight_numbers++ : split->weights[weight->number].number;
      split->weight_values[weight->number] = factor->is_constant ? factor->number : NAN;
    }
  }
  for (size_t i = 0; i < count && texts; i++) text_free(&texts[i].text);
  free(texts);
  return status;
}

static int compare_points(const void *left, const void *right) {
  const struct plane_point *a = left, *b = right;
  if (a->input != b->input) return a->input - b->input;
  return a->x != b->x ? a->x - b->x : a->y - b->y;
}

static bool same_column(const struct plane_point *a, const struct plane_point *b) {
  return a->input == b->input && a->x == b->x;
}

int group_column(const struct point_group *group, int first) {
  int length = 1;
  while (first + length < group->point_count && same_column(&group->points[first], &group->points[first + length]))
    length++;
  return length;
}

/* Whether two quotients of numbers in a file are equal but for rounding. */
static bool same_number(double a, double b) { return fabs(a - b) <= 0x1p-50 * fabs(a); }

static bool same_columns(const struct point_group *group, int a, int b) {
  const int length = group_column(group, a);
  if (group->points[a].input != group->points[b].input || length != group_column(group, b)) return false;
  for (int i = 0; i < length; i++) {
    if (group->points[a + i].y != group->points[b + i].y) return false;
    if (!same_number(group->scales[a + i] / group->scales[a], group->scales[b + i] / group->scales[b])) return false;
  }
  return true;
}

int group_column_like(const struct point_group *group, int first) {
  int other = 0;
  while (other < first && !same_columns(group, first, other)) other += group_column(group, other);
  return other;
}

/* The additions, or multiply-adds, that make the sum of a group. */
static int group_additions(const struct point_group *group) {
  int additions = -1;
  for (int first = 0, length; first < group->point_count; first += length) {
    length = group_column(group, first);
    additions += 1 + (group_column_like(group, first) < first ? 0 : length - 1);
  }
  return additions;
}

static int plane_count(const struct form *form) { return form->last_plane - form->first_plane + 1; }

/* Whether two planes have the same weight in each group. */
static bool same_weights(const struct form *form, int plane, int other) {
  for (int i = 0; i < form->group_count; i++) {
    if (form->groups[i].weights[plane] != form->groups[i].weights[other]) return false;
  }
  return true;
}

/* For each plane, find the first one with the same weights. */
static void find_alike(struct form *form) {
  for (int plane = 0; plane < plane_count(form); plane++) {
    int first = 0;
    while (!same_weights(form, plane, first)) first++;
    form->shared_with[plane] = first;
  }
}

/* The groups that a plane weighs. */
static int plane_terms(const struct form *form, int plane) {
  int count = 0;
  for (int i = 0; i < form->group_count; i++) count += form->groups[i].weights[plane] >= 0;
  return count;
}

/* Keep in shared_with what saves operations: planes with the same weights, and with several terms. */
static void share_planes(struct form *form) {
  for (int plane = 0; plane < plane_count(form); plane++) {
    if (form->shared_with[plane] != plane) continue;
    int alike = 0;
    for (int i = plane; i < plane_count(form); i++) alike += form->shared_with[i] == plane;
    const bool saves = alike > 1 && plane_terms(form, plane) > 1;
    for (int i = plane_count(form) - 1; i >= plane && !saves; i--) {
      if (form->shared_with[i] == plane) form->shared_with[i] = -1;
    }
  }
}

/* The point of the plane that a weight belongs to. */
static struct plane_point point_of(const struct analysis *analysis, const struct form_weight *weight) {
  const struct tap *tap = &analysis->taps[weight->tap];
  return (struct plane_point){tap->input, tap->offset[0], analysis->split.axis == 1 ? 0 : tap->offset[1]};
}

/* The group of a single point, among those that collect_points has made. */
static struct point_group *group_of(const struct form *form, const struct plane_point *point) {
  int low = 0, high = form->group_count - 1;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (compare_points(form->groups[middle].points, point) < 0) low = middle + 1;
    else high = middle;
  }
  return &form->groups[low];
}

/* Collect the points of a form, each as a group of its own.
 *   points   room for one of each weight
 *   weights  room for plane_count numbers of each weight */
static void collect_points(const struct analysis *analysis, struct form *form, struct plane_point *points,
                           int *weights) {
  const struct split *split = &analysis->split;
  const struct form_weight *first = &split->weights[form->first_weight];
  const int planes = plane_count(form);
  for (int i = 0; i < form->weight_count; i++) points[i] = point_of(analysis, &first[i]);
  qsort(points, (size_t)form->weight_count, sizeof *points, compare_points);
  for (int i = 0; i < form->weight_count; i++) {
    if (i > 0 && compare_points(&points[i - 1], &points[i]) == 0) continue;
    form->groups[form->group_count++] =
        (struct point_group){.points = &points[i], .point_count = 1, .weights = weights};
    for (int k = 0; k < planes; k++) *weights++ = -1;
  }
  for (int i = 0; i < form->weight_count; i++) {
    const struct plane_point point = point_of(analysis, &first[i]);
    const int plane = analysis->taps[first[i].tap].offset[split->axis] - form->first_plane;
    group_of(form, &point)->weights[plane] = first[i].number;
  }
}

/* The multiply-adds of each point of a group: one for each sum of planes that weighs it. */
static int group_uses(const struct form *form, const struct point_group *group) {
  int uses = 0;
  for (int plane = 0; plane < plane_count(form); plane++)
    uses += group->weights[plane] >= 0 && form->shared_with[plane] == plane;
  return uses;
}

/* The number by which the weights of one point have to be multiplied to give those of another; 0 if there is none. Very
 * large and very small numbers count as none: sums of values times such a number could leave the range of f32. */
static double scale_of(const struct split *split, const struct form *form, const int *weights, const int *of) {
  double scale = 0;
  if (memcmp(weights, of, (size_t)plane_count(form) * sizeof *of) == 0) return 1;
  for (int plane = 0; plane < plane_count(form); plane++) {
    if ((weights[plane] < 0) != (of[plane] < 0)) return 0;
    if (of[plane] < 0) continue;
    const double ratio = split->weight_values[weights[plane]] / split->weight_values[of[plane]];
    if (!(fabs(ratio) >= 0x1p-20 && fabs(ratio) <= 0x1p20) || (scale != 0 && !same_number(scale, ratio))) return 0;
    if (scale == 0) scale = ratio;
  }
  return scale;
}

/* A form with more points is not grouped: all its points would be compared with each other. So many points has a box of
 * the largest radius in a plane. */
enum { MOST_JOINED_POINTS = (2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1) };

/* Begin a group at a point, with all later points whose weights are multiples of its weights, or only with those whose
 * weights are equal. Points that are done are left out. `group` has room for all points. */
static void begin_group(const struct split *split, const struct form *form, int first, bool takes_multiples,
                        const bool *done, struct point_group *group) {
  const int end = form->group_count <= MOST_JOINED_POINTS ? form->group_count : first + 1;
  group->weights = form->groups[first].weights;
  group->point_count = 0;
  for (int i = first; i < end; i++) {
    const double scale = done[i] ? 0 : scale_of(split, form, form->groups[i].weights, group->weights);
    if (scale == 0 || (scale != 1 && !takes_multiples)) continue;
    group->points[group->point_count] = form->groups[i].points[0];
    group->scales[group->point_count++] = scale;
  }
}

/* Join points if this saves operations. */
static halotune_status join_points(const struct split *split, struct form *form, struct arena *arena) {
  const size_t all = (size_t)form->group_count;
  struct point_group *groups = arena_alloc(arena, all * sizeof *groups);
  struct point_group next = {.points = arena_alloc(arena, all * sizeof *next.points),
                             .scales = arena_alloc(arena, all * sizeof *next.scales)};
  bool *done = calloc(all, sizeof *done);
  halotune_status status = groups && next.points && next.scales && done ? HALOTUNE_OK : fail_memory();
  int count = 0;
  for (int i = 0; i < form->group_count && status == HALOTUNE_OK; i++) {
    if (done[i]) continue;
    const int uses = group_uses(form, &form->groups[i]);
    bool saves = false;
    for (int multiples = 1; multiples >= 0 && !saves; multiples--) {
      begin_group(split, form, i, multiples == 1, done, &next);
      saves = group_additions(&next) + uses < next.point_count * uses;
    }
    if (!saves) next.point_count = 1;
    for (int p = 0; p < next.point_count; p++) done[group_of(form, &next.points[p]) - form->groups] = true;
    groups[count++] = next;
    next.points += next.point_count;
    next.scales += next.point_count;
  }
  if (status == HALOTUNE_OK) {
    form->groups = groups;
    form->group_count = count;
  }
  free(done);
  return status;
}

/* The operations of add_plane for one form. */
static int form_operations(const struct form *form) {
  int count = 0;
  for (int i = 0; i < form->group_count; i++) count += group_additions(&form->groups[i]);
  for (int plane = 0; plane < plane_count(form); plane++) {
    const bool is_computed = form->shared_with[plane] < 0 || form->shared_with[plane] == plane;
    count += is_computed ? plane_terms(form, plane) : 0;
    count += form->shared_with[plane] >= 0 && plane > 0; /* the first plane's sum begins with it */
  }
  return count;
}

static halotune_status group_form(struct analysis *analysis, struct form *form) {
  struct arena *arena = &analysis->arena;
  const size_t points = (size_t)form->weight_count, planes = (size_t)plane_count(form);
  struct plane_point *list = arena_alloc(arena, points * sizeof *list);
  int *weights = arena_alloc(arena, points * planes * sizeof *weights);
  form->groups = arena_alloc(arena, points * sizeof *form->groups);
  form->shared_with = arena_alloc(arena, planes * sizeof *form->shared_with);
  if (!list || !weights || !form->groups || !form->shared_with) return fail_memory();
  collect_points(analysis, form, list, weights);
  find_alike(form);
  halotune_status status = join_points(&analysis->split, form, arena);
  if (status != HALOTUNE_OK) return status;
  share_planes(form);
  analysis->split.grouped_operations += form_operations(form);
  return HALOTUNE_OK;
}

halotune_status find_groups(const struct stencil *stencil, struct analysis *analysis) {
  struct split *split = &analysis->split;
  halotune_status status = number_weights(stencil, split, &analysis->arena);
  for (int i = 0; i < split->form_count && status == HALOTUNE_OK; i++) status = group_form(analysis, &split->forms[i]);
  return status;
}
