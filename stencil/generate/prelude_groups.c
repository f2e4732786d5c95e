/* prelude_groups.c: writes how a plane is added to the sums where weights are grouped. Points of equal weights are
 * added first, and a sum that several planes receive is computed once. */
#include "stencil/generate/prelude_parts.h"

/* One form of the update. `form` is its number, `is_row` whether add_row is written, whose taps have no y. */
struct group_writer {
  struct text *text;
  const struct prelude *prelude;
  const struct split *split;
  int form, low; /* low: the reach along the axis of the march */
  bool is_row;
};

static const struct form *form_of(const struct group_writer *w) { return &w->split->forms[w->form]; }

static const char *line_indent(const struct group_writer *w) { return w->is_row ? "    " : "  "; }

static void add_tap(const struct group_writer *w, const struct plane_point *point) {
  text_printf(w->text, "taps(%d, %d", point->input, point->x);
  if (!w->is_row) text_printf(w->text, ", %d", point->y);
  text_printf(w->text, ")");
}

/* Append a factor, "real(0.5)*", unless it is 1. */
static void add_scale(const struct group_writer *w, double scale) {
  if (scale == 1) return;
  prelude_write_number(w->text, w->prelude, scale);
  text_printf(w->text, "*");
}

/* Append the sum of a group, column by column: neighbours in x use the same sums of columns. So columns that are alike
 * are written alike. */
static void add_group(const struct group_writer *w, int number) {
  const struct point_group *group = &form_of(w)->groups[number];
  text_printf(w->text, "%sconst real group%d_%d = ", line_indent(w), w->form, number);
  for (int i = 0, length; i < group->point_count; i += length) {
    const double *like = &group->scales[group_column_like(group, i)];
    length = group_column(group, i);
    if (i > 0) text_printf(w->text, " + ");
    add_scale(w, group->scales[i]);
    if (length > 1) text_printf(w->text, "(");
    for (int k = 0; k < length; k++) {
      if (k > 0) text_printf(w->text, " + ");
      add_scale(w, like[k] / like[0]);
      add_tap(w, &group->points[i + k]);
    }
    if (length > 1) text_printf(w->text, ")");
  }
  text_printf(w->text, ";\n");
}

/* Append the value that a weight multiplies. */
static void add_value(const struct group_writer *w, int number) {
  const struct point_group *group = &form_of(w)->groups[number];
  if (group->point_count > 1) text_printf(w->text, "group%d_%d", w->form, number);
  else add_tap(w, &group->points[0]);
}

/* Append the sum of all weighted groups that a plane receives.
 *   is_first  whether no term stands before */
static void add_terms(const struct group_writer *w, int plane, bool is_first) {
  const struct form *form = form_of(w);
  for (int i = 0; i < form->group_count; i++) {
    if (form->groups[i].weights[plane] < 0) continue;
    text_printf(w->text, "%s weights.w%d*", is_first ? "" : " +", form->groups[i].weights[plane]);
    add_value(w, i);
    is_first = false;
  }
}

/* Append the sums of groups, and those that several planes receive. */
static void add_shared(const struct group_writer *w) {
  const struct form *form = form_of(w);
  for (int i = 0; i < form->group_count; i++) {
    if (form->groups[i].point_count > 1) add_group(w, i);
  }
  for (int plane = 0; plane <= form->last_plane - form->first_plane; plane++) {
    if (form->shared_with[plane] != plane) continue;
    text_printf(w->text, "%sconst real shared%d_%d =", line_indent(w), w->form, plane);
    add_terms(w, plane, true);
    text_printf(w->text, ";\n");
  }
}

/* Append sums[0][5] = sums[0][4] + shared0_2; or the same with the terms of a plane that shares none. */
static void add_moved(const struct group_writer *w, int plane) {
  const struct form *form = form_of(w);
  const int place = plane + form->first_plane + w->low;
  const bool has_terms = plane <= form->last_plane - form->first_plane, is_first = plane == 0;
  text_printf(w->text, "  sums[%d][%d] =", w->form, place);
  if (!is_first) text_printf(w->text, " sums[%d][%d]", w->form, place - 1);
  if (has_terms && form->shared_with[plane] >= 0)
    text_printf(w->text, "%s shared%d_%d", is_first ? "" : " +", w->form, form->shared_with[plane]);
  else if (has_terms) add_terms(w, plane, is_first);
  text_printf(w->text, ";\n");
}

/* Append the same for sums that have moved. */
static void add_in_place(const struct group_writer *w, int plane) {
  const struct form *form = form_of(w);
  const int place = plane + form->first_plane + w->low;
  if (form->shared_with[plane] >= 0) {
    text_printf(w->text, "    sums[%d][%d] += shared%d_%d;\n", w->form, place, w->form, form->shared_with[plane]);
    return;
  }
  for (int i = 0; i < form->group_count; i++) {
    if (form->groups[i].weights[plane] < 0) continue;
    text_printf(w->text, "    sums[%d][%d] = fma(weights.w%d, ", w->form, place, form->groups[i].weights[plane]);
    add_value(w, i);
    text_printf(w->text, ", sums[%d][%d]);\n", w->form, place);
  }
}

void prelude_write_grouped(struct text *text, const struct prelude *prelude, bool is_row) {
  const struct analysis *analysis = prelude->spec->analysis;
  struct group_writer w = {text, prelude, &analysis->split, .low = analysis->radius_low[analysis->split.axis],
                           .is_row = is_row};
  for (; w.form < w.split->form_count; w.form++) {
    const struct form *form = form_of(&w);
    add_shared(&w);
    const int last = (is_row ? form->last_plane : form->kept_until) - form->first_plane;
    for (int plane = last; plane >= 0; plane--) {
      if (is_row) add_in_place(&w, plane);
      else add_moved(&w, plane);
    }
  }
}
