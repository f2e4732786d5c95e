/* hints.c: turns rows of databases into proposals.
 *
 * Only the parameters of a winner are used, which are numbers and words. Today's template generates the code, and the
 * variant is compiled, verified and measured like any other. Therefore winners of older templates and of other GPUs
 * can serve as hints. */
#include "tuner/search/hints/hints.h"

#include <string.h>

#include "db/store/launch_text.h"

bool hints_variant(const struct search_space *space, const struct hint_row *row, struct proposal *out) {
  int index = 0;
  while (index < space->count && strcmp(space->templates[index]->name, row->template_name) != 0) index++;
  if (index == space->count) return false;
  *out = (struct proposal){.template_index = index};
  struct configuration *configuration = &out->configuration;
  const struct template *template = space->templates[index];
  if (configuration_read_older(template, row->parameters, configuration) != HALOTUNE_OK) return false;
  const bool *fixed = space_fixed(space, index);
  const struct configuration *values = space_values(space, index);
  for (int i = 0; fixed && i < template->parameter_count; i++) {
    if (fixed[i]) configuration->choice[i] = values->choice[i];
  }
  return space_nearest(&space->bindings[index], fixed, configuration) == NULL;
}

bool hints_same(const struct search_space *space, const struct hint_row *row, struct proposal *out) {
  int index = 0;
  while (index < space->count && strcmp(space->templates[index]->name, row->template_name) != 0) index++;
  if (index == space->count) return false;
  *out = (struct proposal){.template_index = index};
  if (configuration_read_older(space->templates[index], row->parameters, &out->configuration) != HALOTUNE_OK)
    return false;
  const bool *fixed = space_fixed(space, index);
  const struct configuration *values = space_values(space, index);
  for (int i = 0; fixed && i < space->templates[index]->parameter_count; i++) {
    if (fixed[i] && out->configuration.choice[i] != values->choice[i]) return false;
  }
  bindings_configure(&space->bindings[index], &out->configuration);
  return bindings_failed_rule(&space->bindings[index]) == NULL;
}

/* What a list of hints is made from. */
struct hint_choice {
  const struct search_space *space;
  const struct proposal *first;
  struct visited only, taken; /* `only`: the variants of a recording; `taken`: those of the list */
  struct proposal_list *out;
};

/* Add a hint, unless it is listed, or no hint.
 *   is_new  receives whether it was added */
static halotune_status hint_add(struct hint_choice *choice, const struct proposal *hint, bool *is_new) {
  const struct search_space *space = choice->space;
  *is_new = false;
  if (choice->first && proposal_equals(space, hint, choice->first)) return HALOTUNE_OK;
  if (space->only && !visited_has(&choice->only, space, hint)) return HALOTUNE_OK;
  halotune_status status = visited_add(&choice->taken, space, hint, is_new);
  return status == HALOTUNE_OK && *is_new ? proposals_add(choice->out, hint) : status;
}

/* Add the variants of the first rows that give new variants. */
static halotune_status hints_choose(struct hint_choice *choice, const struct hint_rows *rows) {
  int of_others = 0;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < rows->count && choice->out->count < MOST_HINTS && status == HALOTUNE_OK; i++) {
    bool is_other = rows->list[i].distance[HINT_STENCIL] > 0, is_new;
    struct proposal hint;
    if (is_other && of_others == MOST_HINTS_OF_OTHERS) break;
    if (!hints_variant(choice->space, &rows->list[i], &hint)) continue;
    status = hint_add(choice, &hint, &is_new);
    of_others += is_other && is_new;
  }
  return status;
}

halotune_status hints_read(const struct hint_sources *sources, const struct hint_target *target,
                           struct hint_rows *out) {
  *out = (struct hint_rows){.count = 0};
  halotune_status status = hint_rows_read(out, sources->own, target);
  for (int i = 0; i < sources->other_count && status == HALOTUNE_OK; i++)
    status = hint_rows_read(out, sources->others[i], target);
  hint_rows_sort(out);
  return status;
}

halotune_status hints_find(const struct hint_sources *sources, const struct hint_target *target,
                           const struct search_space *space, const struct proposal *first,
                           const struct proposal_list *predicted, struct proposal_list *out) {
  struct hint_rows rows;
  struct hint_choice choice = {.space = space, .first = first, .out = out};
  bool is_new;
  halotune_status status = hints_read(sources, target, &rows);
  if (status == HALOTUNE_OK) status = visited_add_listed(&choice.only, space);
  for (long i = 0; i < predicted->count && status == HALOTUNE_OK; i++)
    status = hint_add(&choice, &predicted->list[i], &is_new);
  if (status == HALOTUNE_OK) status = hints_choose(&choice, &rows);
  visited_free(&choice.only);
  visited_free(&choice.taken);
  hint_rows_free(&rows);
  return status;
}

/* Find the default of a template, or the variant nearest to it that the rules keep. Returns false if there is none. */
static bool template_default(const struct search_space *space, int index, struct proposal *out) {
  const struct configuration *values = space_values(space, index);
  *out = (struct proposal){.template_index = index,
                           .configuration = values ? *values : configuration_default(space->templates[index])};
  return space_nearest(&space->bindings[index], space_fixed(space, index), &out->configuration) == NULL;
}

halotune_status starts_find(const struct search_space *space, const struct proposal_list *hints,
                            const struct proposal *first, struct proposal_list *out) {
  struct visited taken = {.count = 0}, only = {.count = 0};
  halotune_status status = visited_add_listed(&only, space);
  for (long i = 0; i < hints->count && status == HALOTUNE_OK; i++) {
    status = visited_add(&taken, space, &hints->list[i], NULL);
    if (status == HALOTUNE_OK) status = proposals_add(out, &hints->list[i]);
  }
  for (int i = 0; i < space->count && status == HALOTUNE_OK; i++) {
    struct proposal proposal;
    bool is_new;
    if (!template_default(space, i, &proposal) || (first && proposal_equals(space, &proposal, first))) continue;
    if (space->only && !visited_has(&only, space, &proposal)) continue;
    status = visited_add(&taken, space, &proposal, &is_new);
    if (status == HALOTUNE_OK && is_new) status = proposals_add(out, &proposal);
  }
  visited_free(&taken);
  visited_free(&only);
  return status;
}
