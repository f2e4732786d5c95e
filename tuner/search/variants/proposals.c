/* proposals.c: a list; and a set of hashes of variants, 128 bits each, so that two variants never share one. */
#include "tuner/search/variants/proposals.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/array.h"
#include "db/store/launch_text.h"

bool proposal_is_kept(const struct search_space *space, const struct proposal *proposal) {
  struct bindings *bindings = &space->bindings[proposal->template_index];
  const bool *fixed = space_fixed(space, proposal->template_index);
  const struct configuration *values = space_values(space, proposal->template_index);
  for (int i = 0; fixed && i < space->templates[proposal->template_index]->parameter_count; i++) {
    if (fixed[i] && proposal->configuration.choice[i] != values->choice[i]) return false;
  }
  bindings_configure(bindings, &proposal->configuration);
  return bindings_failed_rule(bindings) == NULL;
}

halotune_status proposals_add(struct proposal_list *proposals, const struct proposal *proposal) {
  if (!array_room(proposals->list, proposals->count, proposals->capacity)) return fail_memory();
  proposals->list[proposals->count++] = *proposal;
  return HALOTUNE_OK;
}

halotune_status proposals_read(struct proposal_list *proposals, const struct search_space *space, int template_index,
                               const char *parameters) {
  struct proposal proposal;
  memset(&proposal, 0, sizeof proposal);
  proposal.template_index = template_index;
  if (configuration_read(space->templates[template_index], parameters, &proposal.configuration) != HALOTUNE_OK)
    return HALOTUNE_OK;
  return proposal_is_kept(space, &proposal) ? proposals_add(proposals, &proposal) : HALOTUNE_OK;
}

bool proposals_have(const struct proposal_list *proposals, const struct search_space *space,
                    const struct proposal *proposal) {
  for (long i = 0; i < proposals->count; i++) {
    if (proposal_equals(space, &proposals->list[i], proposal)) return true;
  }
  return false;
}

void proposals_free(struct proposal_list *proposals) {
  free(proposals->list);
  *proposals = (struct proposal_list){.count = 0};
}

static struct hash proposal_hash(const struct search_space *space, const struct proposal *proposal) {
  unsigned char bytes[MAX_PARAMETERS + 1];
  size_t count = (size_t)space->templates[proposal->template_index]->parameter_count;
  bytes[0] = (unsigned char)proposal->template_index;
  memcpy(bytes + 1, proposal->configuration.choice, count);
  return hash_bytes(bytes, count + 1);
}

/* The number of a hash; -1 if it is not there. */
static int visited_find(const struct visited *visited, struct hash hash) {
  int number;
  for (struct set_walk at = set_walk(&visited->set, set_hash(&hash, sizeof hash)); set_next(&at, &number);) {
    if (hash_compare(visited->list[number], hash) == 0) return number;
  }
  return -1;
}

halotune_status visited_add(struct visited *visited, const struct search_space *space, const struct proposal *proposal,
                            bool *is_new) {
  const struct hash hash = proposal_hash(space, proposal);
  const bool is_there = visited_find(visited, hash) >= 0;
  if (is_new) *is_new = !is_there;
  if (is_there) return HALOTUNE_OK;
  if (!array_room(visited->list, visited->count, visited->capacity)) return fail_memory();
  if (!set_add(&visited->set, set_hash(&hash, sizeof hash), visited->count)) return fail_memory();
  visited->list[visited->count++] = hash;
  return HALOTUNE_OK;
}

halotune_status visited_add_listed(struct visited *visited, const struct search_space *space) {
  halotune_status status = HALOTUNE_OK;
  for (long i = 0; i < space->only_count && status == HALOTUNE_OK; i++)
    status = visited_add(visited, space, &space->only[i], NULL);
  return status;
}

bool visited_has(const struct visited *visited, const struct search_space *space, const struct proposal *proposal) {
  return visited_number(visited, space, proposal) >= 0;
}

int visited_number(const struct visited *visited, const struct search_space *space, const struct proposal *proposal) {
  return visited_find(visited, proposal_hash(space, proposal));
}

void visited_free(struct visited *visited) {
  set_free(&visited->set);
  free(visited->list);
  *visited = (struct visited){.count = 0};
}
