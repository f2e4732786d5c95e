/* hints.c: from rows to proposals.
 *
 * Of a winner only its parameters are taken, which are numbers and words: today's template generates its code, and it
 * is compiled, verified and measured like any other variant. So winners of older templates and of other GPUs serve, and
 * imported ones that are not trusted, too. */
#include "tuner/search/hints/hints.h"

#include <string.h>

#include "db/store/launch_text.h"
#include "tuner/search/variants/proposals.h"

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

/* The first rows that give new variants.
 *   only  the variants of a recording */
static halotune_status take_rows(struct session *session, const struct hint_rows *rows, const struct visited *only) {
  struct visited taken = {.count = 0};
  int of_others = 0;
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < rows->count && session->hints.count < MOST_HINTS && status == HALOTUNE_OK; i++) {
    bool is_other = rows->list[i].distance[HINT_STENCIL] > 0, is_new;
    struct proposal hint;
    if (is_other && of_others == MOST_HINTS_OF_OTHERS) break;
    if (!hints_variant(&session->space, &rows->list[i], &hint) || session_is_first(session, &hint)) continue;
    if (session->space.only && !visited_has(only, &session->space, &hint)) continue;
    status = visited_add(&taken, &session->space, &hint, &is_new);
    if (status != HALOTUNE_OK || !is_new) continue;
    of_others += is_other;
    status = proposals_add(&session->hints, &hint);
  }
  visited_free(&taken);
  return status;
}

halotune_status hints_read(const struct session *session, const struct task *task, struct hint_rows *out) {
  const struct tune_tools *tools = session->tools;
  const struct backend_facts *facts = &tools->backend->facts;
  const struct hint_target target = {.task = task,
                                     .device = &facts->device,
                                     .is_emulation = facts->is_emulation,
                                     .launch = session->launch,
                                     .cache = session->options->cache};
  *out = (struct hint_rows){.count = 0};
  halotune_status status = hint_rows_read(out, tools->store, &target);
  for (int i = 0; i < tools->hint_count && status == HALOTUNE_OK; i++)
    status = hint_rows_read(out, tools->hints[i], &target);
  hint_rows_sort(out);
  return status;
}

halotune_status hints_find(struct session *session) {
  struct hint_rows rows;
  struct visited only = {.count = 0};
  const struct tune_options *options = session->options;
  if (options->no_hints || options->rematch || !options->strategy->takes_hints) return HALOTUNE_OK;
  halotune_status status = hints_read(session, session->task, &rows);
  if (status == HALOTUNE_OK) status = visited_add_listed(&only, &session->space);
  if (status == HALOTUNE_OK) status = take_rows(session, &rows, &only);
  session->space.hints = session->hints.list;
  session->space.hint_count = session->hints.count;
  visited_free(&only);
  hint_rows_free(&rows);
  return status;
}

bool hints_have(const struct session *session, const struct proposal *proposal) {
  size_t bytes = (size_t)session->templates[proposal->template_index]->parameter_count;
  for (long i = 0; i < session->hints.count; i++) {
    const struct proposal *hint = &session->hints.list[i];
    if (hint->template_index == proposal->template_index &&
        memcmp(&hint->configuration, &proposal->configuration, bytes) == 0)
      return true;
  }
  return false;
}
