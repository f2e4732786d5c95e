/* starts.c: hints, and what the authors of templates thought best: so each template is known soon, and a search
 * whose default is slow has something better early. */
#include "tuner/search/hints/starts.h"

#include "tuner/search/variants/proposals.h"

/* The default of a template, as near to it as the rules allow; false where they keep nothing like it. */
static bool make_default(struct session *session, int index, struct proposal *out) {
  const struct configuration *values = space_values(&session->space, index);
  *out = (struct proposal){.template_index = index,
                           .configuration = values ? *values : configuration_default(session->templates[index])};
  return space_nearest(&session->bindings[index], space_fixed(&session->space, index), &out->configuration) == NULL;
}

halotune_status starts_find(struct session *session) {
  struct search_space *space = &session->space;
  struct visited taken = {.count = 0}, only = {.count = 0};
  if (session->options->rematch) return HALOTUNE_OK;
  halotune_status status = visited_add_listed(&only, space);
  for (long i = 0; i < session->hints.count && status == HALOTUNE_OK; i++) {
    status = visited_add(&taken, space, &session->hints.list[i], NULL);
    if (status == HALOTUNE_OK) status = proposals_add(&session->starts, &session->hints.list[i]);
  }
  for (int i = 0; i < space->count && status == HALOTUNE_OK; i++) {
    struct proposal proposal;
    bool is_new;
    if (!make_default(session, i, &proposal) || session_is_first(session, &proposal)) continue;
    if (space->only && !visited_has(&only, space, &proposal)) continue;
    status = visited_add(&taken, space, &proposal, &is_new);
    if (status == HALOTUNE_OK && is_new) status = proposals_add(&session->starts, &proposal);
  }
  visited_free(&taken);
  visited_free(&only);
  if (!session->options->strategy->takes_hints) return status;
  space->hints = session->starts.list;
  space->hint_count = session->starts.count;
  return status;
}
