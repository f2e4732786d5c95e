/* hints.c: turns rows of databases into proposals.
 *
 * Only the parameters of a winner are used, which are numbers and words. Today's template generates the code, and the
 * variant is compiled, verified and measured like any other. Therefore winners of older templates and of other GPUs
 * can serve as hints. */
#include "tuner/search/hints/hints.h"

#include <string.h>

#include "db/store/launch_text.h"

/* Give the fixed parameters their values, and find the nearest variant that the rules keep. Returns false if there is
 * none. */
static bool find_nearest(const struct search_space *space, struct proposal *proposal) {
  const int index = proposal->template_index;
  const bool *fixed = space_fixed(space, index);
  const struct configuration *values = space_values(space, index);
  for (int i = 0; fixed && i < space->templates[index]->parameter_count; i++) {
    if (fixed[i]) proposal->configuration.choice[i] = values->choice[i];
  }
  return space_nearest(&space->bindings[index], fixed, &proposal->configuration) == NULL;
}

/* Read the template and the parameters of a row. Returns false if the template is not searched, or lacks a value. */
static bool read_row(const struct search_space *space, const struct hint_row *row, struct proposal *out) {
  int index = 0;
  while (index < space->count && strcmp(space->templates[index]->name, row->template_name) != 0) index++;
  if (index == space->count) return false;
  *out = (struct proposal){.template_index = index};
  return configuration_read_older(space->templates[index], row->parameters, &out->configuration) == HALOTUNE_OK;
}

bool hints_variant(const struct search_space *space, const struct hint_row *row, struct proposal *out) {
  return read_row(space, row, out) && find_nearest(space, out);
}

bool hints_same(const struct search_space *space, const struct hint_row *row, struct proposal *out) {
  return read_row(space, row, out) && proposal_is_kept(space, out);
}

/* A list of variants to try first that is being made. */
struct first_list {
  const struct search_space *space;
  const struct proposal *first;
  struct visited only, taken; /* `only`: the variants of a recording; `taken`: those of the list */
  struct proposal_list *out;
};

/* Add a variant, unless it is `first`, is listed, or was not recorded.
 *   is_new  receives whether it was added */
static halotune_status first_add(struct first_list *list, const struct proposal *proposal, bool *is_new) {
  const struct search_space *space = list->space;
  *is_new = false;
  if (list->first && proposal_equals(space, proposal, list->first)) return HALOTUNE_OK;
  if (space->only && !visited_has(&list->only, space, proposal)) return HALOTUNE_OK;
  halotune_status status = visited_add(&list->taken, space, proposal, is_new);
  return status == HALOTUNE_OK && *is_new ? proposals_add(list->out, proposal) : status;
}

static void first_list_end(struct first_list *list) {
  visited_free(&list->only);
  visited_free(&list->taken);
}

/* Add the variants of the first rows that give new variants. */
static halotune_status hints_choose(struct first_list *list, const struct hint_rows *rows, const struct hint_end *end) {
  int of_others = 0;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < rows->count && list->out->count < MOST_HINTS && status == HALOTUNE_OK; i++) {
    bool is_other = rows->list[i].distance[HINT_STENCIL] > 0, is_new;
    struct proposal hint;
    if ((is_other && of_others == MOST_HINTS_OF_OTHERS) || hint_is_over(end)) break;
    if (!hints_variant(list->space, &rows->list[i], &hint)) continue;
    status = first_add(list, &hint, &is_new);
    of_others += is_other && is_new;
  }
  return status;
}

halotune_status hint_source_end(const struct hint_sources *sources, int other, halotune_status status) {
  struct text line = {0};
  if (status != HALOTUNE_DB || other < 0) return status;
  if (!sources->warnings || hint_is_over(&sources->end)) return HALOTUNE_OK;
  text_printf(&line, "hints of %s end early: %s\n", store_path(sources->others[other]), fail_text());
  if (text_ok(&line) && !strstr(text_string(sources->warnings), text_string(&line)))
    text_printf(sources->warnings, "%s", text_string(&line));
  const bool is_ok = text_ok(&line) && text_ok(sources->warnings);
  text_free(&line);
  return is_ok ? HALOTUNE_OK : fail_memory();
}

void hint_sources_ask(const struct hint_sources *sources, bool asks) {
  for (int i = 0; i < sources->other_count; i++)
    store_ask(sources->others[i], asks ? sources->end.is_over : NULL, sources->end.context);
}

halotune_status hints_read(const struct hint_sources *sources, const struct hint_target *target,
                           struct hint_rows *out) {
  *out = (struct hint_rows){.count = 0};
  halotune_status status = hint_rows_read(out, sources->own, target, &sources->end);
  for (int i = 0; i < sources->other_count && status == HALOTUNE_OK; i++)
    status = hint_source_end(sources, i, hint_rows_read(out, sources->others[i], target, &sources->end));
  hint_rows_sort(out);
  return status;
}

halotune_status hints_find(const struct hint_sources *sources, const struct hint_target *target,
                           const struct search_space *space, const struct proposal *first,
                           const struct proposal_list *predicted, struct proposal_list *out) {
  struct hint_rows rows;
  struct first_list list = {.space = space, .first = first, .out = out};
  bool is_new;
  halotune_status status = hints_read(sources, target, &rows);
  if (status == HALOTUNE_OK) status = visited_add_listed(&list.only, space);
  for (long i = 0; i < predicted->count && status == HALOTUNE_OK; i++)
    status = first_add(&list, &predicted->list[i], &is_new);
  if (status == HALOTUNE_OK) status = hints_choose(&list, &rows, &sources->end);
  first_list_end(&list);
  hint_rows_free(&rows);
  return status;
}

halotune_status starts_find(const struct search_space *space, const struct proposal_list *hints,
                            const struct proposal *first, struct proposal_list *out) {
  struct first_list list = {.space = space, .first = first, .out = out};
  bool is_new;
  halotune_status status = visited_add_listed(&list.only, space);
  for (long i = 0; i < hints->count && status == HALOTUNE_OK; i++) status = first_add(&list, &hints->list[i], &is_new);
  for (int i = 0; i < space->count && status == HALOTUNE_OK; i++) {
    const struct template *template = space->templates[i];
    const int starts = space_starts(space, i);
    for (int s = 0; s <= starts && status == HALOTUNE_OK; s++) {
      const bool is_default = s == starts;
      struct proposal start = {.template_index = i};
      start.configuration = is_default ? configuration_default(template) : template->starts[s];
      if (find_nearest(space, &start)) status = first_add(&list, &start, &is_new);
    }
  }
  first_list_end(&list);
  return status;
}
