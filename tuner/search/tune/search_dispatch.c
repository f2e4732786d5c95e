/* search_dispatch.c: gives proposals to the compilers of this process or to the crew, and takes the crew's results. */
#include <stdio.h>

#include "base/memory/array.h"
#include "tuner/search/tune/search_parts.h"

/* Results of the crew in one transaction. Members must not wait long for their next variants. */
enum { BURST_MOST = 256 };

halotune_status search_begin_proposal(struct search_phase *phase, const struct proposal *proposal, long again,
                                      struct trial **out) {
  const struct search_inputs *in = phase->in;
  const struct template *template = in->space->templates[proposal->template_index];
  halotune_status status = trial_begin(in->task, template, proposal, &in->task->grid, out);
  if (status != HALOTUNE_OK) return status;
  (*out)->again = again;
  if (again == 0 && phase->why) snprintf((*out)->why, sizeof(*out)->why, "%s", phase->why);
  if (again == 0) status = results_recall(&phase->results, *out, phase->watch.default_ms);
  if (status == HALOTUNE_OK) return status;
  trial_free(*out);
  *out = NULL;
  return status;
}

/* Give a trial to the compilers. If it is over, take its result. */
static halotune_status pass_on(struct search_phase *phase, struct trial *trial) {
  return trial->is_over ? results_finish(&phase->results, trial)
                        : pipeline_put(phase->in->pipeline, trial, phase->in->task);
}

static int crew_room(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  return crew && !phase->in->rematch ? crew->table->room(crew->state) : 0;
}

int search_crew_away(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  return crew ? crew->table->away(crew->state) : 0;
}

/* Whether the device takes one more variant. A device that only leads takes some if there is no member. */
static bool device_has_room(const struct search_phase *phase) {
  const struct crew *crew = phase->in->crew;
  const bool is_needed = crew_room(phase) == 0 && search_crew_away(phase) == 0;
  const int most = crew ? crew->table->device_most(crew->state) : 0;
  const bool only_leads = phase->in->leads_only || (crew && most == 0);
  const int here = pipeline_count(phase->in->pipeline) + runner_count(phase->runner);
  if (crew && most > 0 && here >= most) return false;
  return (!only_leads || is_needed) && pipeline_has_room(phase->in->pipeline);
}

bool search_has_room(const struct search_phase *phase) {
  const int most = phase->in->in_flight;
  const int begun = pipeline_count(phase->in->pipeline) + runner_count(phase->runner) + search_crew_away(phase);
  return (device_has_room(phase) || crew_room(phase) > 0) && (most == 0 || begun < most);
}

/* Give a proposal to the crew. What earlier runs measured was recalled before. */
static halotune_status send_away(struct search_phase *phase, const struct proposal *proposal) {
  const struct search_inputs *in = phase->in;
  struct trial *trial;
  halotune_status status = trial_begin_away(in->space->templates[proposal->template_index], proposal, &trial);
  if (status != HALOTUNE_OK) return status;
  snprintf(trial->why, sizeof trial->why, "%s", phase->why);
  return in->crew->table->put(in->crew->state, trial, timed_best_ms(in->timed));
}

halotune_status search_begin_here(struct search_phase *phase, const struct proposal *proposal,
                                  const struct trial **begun) {
  struct trial *trial;
  halotune_status status = search_begin_proposal(phase, proposal, 0, &trial);
  if (begun) *begun = status == HALOTUNE_OK && !trial->is_over ? trial : NULL;
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* Begin a proposal on the device, or give it to the crew. */
static halotune_status dispatch_proposal(struct search_phase *phase, const struct proposal *proposal) {
  if (crew_room(phase) > 0 && (phase->is_crews_turn || !device_has_room(phase))) {
    phase->is_crews_turn = false;
    return send_away(phase, proposal);
  }
  phase->is_crews_turn = true;
  return search_begin_here(phase, proposal, NULL);
}

void search_tell_why(const struct search_phase *phase, const struct proposal *proposal) {
  const struct search_inputs *in = phase->in;
  const struct template *template = in->space->templates[proposal->template_index];
  if (in->proposed) in->proposed(in->context, template, &proposal->configuration, phase->why);
}

halotune_status search_propose(struct search_phase *phase, const struct proposal *proposal) {
  bool is_new;
  halotune_status status = visited_add(&phase->proposed, phase->in->space, proposal, &is_new);
  if (status != HALOTUNE_OK || (!is_new && !phase->in->follower)) return status;
  search_tell_why(phase, proposal);
  return dispatch_proposal(phase, proposal);
}

halotune_status search_propose_lost(struct search_phase *phase) {
  const struct lost_variant lost = phase->lost[--phase->lost_count];
  phase->why = lost.why;
  halotune_status status = dispatch_proposal(phase, &lost.proposal);
  phase->why = "";
  return status;
}

halotune_status search_propose_again(struct search_phase *phase, long number) {
  const struct proposal proposal = phase->results.list[number - 1].proposal;
  struct trial *trial;
  halotune_status status = search_begin_proposal(phase, &proposal, number, &trial);
  return status == HALOTUNE_OK ? pass_on(phase, trial) : status;
}

/* Keep a variant that a member did not run, and why it was proposed. */
static halotune_status keep_lost(struct search_phase *phase, const struct trial *trial) {
  if (!array_room(phase->lost, phase->lost_count, phase->lost_capacity)) return fail_memory();
  struct lost_variant *lost = &phase->lost[phase->lost_count++];
  lost->proposal = trial->proposal;
  snprintf(lost->why, sizeof lost->why, "%s", trial->why);
  return HALOTUNE_OK;
}

halotune_status search_take_away(struct search_phase *phase, int timeout_ms) {
  const struct crew *crew = phase->in->crew;
  struct trial *burst[BURST_MOST];
  int count = 0;
  halotune_status status = HALOTUNE_OK;
  while (crew && status == HALOTUNE_OK && count < BURST_MOST) {
    struct trial *trial;
    bool is_lost;
    status = crew->table->take(crew->state, timeout_ms, &trial, &is_lost);
    if (status != HALOTUNE_OK || !trial) break;
    timeout_ms = 0;
    if (!is_lost) {
      burst[count++] = trial;
      continue;
    }
    status = keep_lost(phase, trial);
    trial_free(trial);
  }
  const halotune_status finished = results_finish_away(&phase->results, burst, count);
  return status == HALOTUNE_OK ? finished : status;
}
