/* starts.c: hints, and what the authors of templates thought best: so each template is known soon, and a search
 * whose default is slow has something better early. */
#include "tuner/search/hints/starts.h"

/* The default of a template, as near to it as the rules allow; false where they keep nothing like it. */
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
