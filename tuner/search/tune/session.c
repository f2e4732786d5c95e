/* session.c: what the phases of a tune ask for, each more than once. */
#include "tuner/search/tune/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

enum { PROGRESS_EVERY_MS = 100 };

static bool is_interrupted(const struct session *session) { return session->options->stop && *session->options->stop; }

bool session_is_stopped(const struct session *session) {
  return is_interrupted(session) || session->is_too_late || clock_ms() >= session->options->deadline_ms;
}

const char *session_stop_reason(const struct session *session) {
  return is_interrupted(session) ? "interrupted" : "the deadline came first";
}

static double roof_share(const struct session *session) { return session->memcpy_ms / timed_best_ms(&session->timed); }

bool session_is_good_enough(const struct session *session) {
  const double share = session->options->good_enough;
  return share > 0 && roof_share(session) >= share;
}

bool session_is_searched(const struct session *session) {
  const struct tune_options *options = session->options;
  if (session_is_stopped(session) || clock_ms() >= session->search_end_ms) return true;
  if (options->max_variants > 0 && session->result->tried >= options->max_variants) return true;
  return session_is_good_enough(session);
}

static long failures(const struct tune_result *result) {
  long failed = result->tried;
  static const enum outcome fine[] = {OUTCOME_MEASURED, OUTCOME_SCREENED, OUTCOME_PRUNED};
  for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) failed -= result->outcomes[fine[i]];
  return failed;
}

void session_show(struct session *session, const char *phase) {
  double now_ms = clock_ms(), spent_s = (now_ms - session->start_ms) * 1e-3;
  if (!session->options->progress || now_ms < session->next_progress_ms) return;
  session->next_progress_ms = now_ms + PROGRESS_EVERY_MS;
  const struct tune_progress progress = {.phase = phase,
                                         .tried = session->result->tried,
                                         .space = session->space_size,
                                         .failed = failures(session->result),
                                         .best_ms = timed_best_ms(&session->timed),
                                         .roof_share = roof_share(session),
                                         .variants_per_s = spent_s > 0 ? (double)session->result->tried / spent_s : 0,
                                         .left_s = fmax(0, (session->end_ms - now_ms) * 1e-3)};
  session->options->progress(session->options->context, &progress);
}

halotune_status session_end_early(struct session *session, const char *reason) {
  struct run_end end = {.reason = reason,
                        .empty_ms = NAN,
                        .copy_ms = NAN,
                        .memcpy_ms = session->memcpy_ms,
                        .warnings = session->tools->backend->facts.warnings};
  snprintf(session->result->reason, sizeof session->result->reason, "%s", reason);
  return session->run_id ? store_run_end(session->tools->store, session->run_id, &end) : HALOTUNE_OK;
}

halotune_status session_build(struct session *session, const struct task *task, const struct template *template,
                              const struct proposal *proposal, struct trial **out) {
  halotune_status status = trial_begin(task, template, proposal, &task->grid, out);
  if (status != HALOTUNE_OK || (*out)->is_over) return status;
  struct trial *trial = *out;
  *out = NULL;
  status = pipeline_put(session->pipeline, trial, task);
  if (status == HALOTUNE_OK) status = pipeline_take(session->pipeline, -1, out);
  if (status == HALOTUNE_OK && !*out) status = fail(HALOTUNE_IO, "a compile gave no result");
  return status;
}

halotune_status session_load(struct session *session, int slot, const struct trial *trial, bool is_roof,
                             struct verdict *verdict) {
  struct backend_handle *backend = session->tools->backend;
  struct candidate candidate = {
      .spec = &trial->spec, .generated = &trial->generated, .compiled = &trial->compiled, .is_roof = is_roof};
  return backend->table->load(backend->state, slot, &candidate, verdict);
}

bool session_is_first(const struct session *session, const struct proposal *proposal) {
  return session->first && proposal_equals(&session->space, proposal, &session->first->proposal);
}

struct hint_sources session_hint_sources(const struct session *session) {
  const struct tune_tools *tools = session->tools;
  return (struct hint_sources){.own = tools->store, .others = tools->hints, .other_count = tools->hint_count};
}

struct hint_target session_hint_target(const struct session *session, const struct task *task) {
  const struct backend_facts *facts = &session->tools->backend->facts;
  return (struct hint_target){.task = task,
                              .device = &facts->device,
                              .is_emulation = facts->is_emulation,
                              .launch = session->launch,
                              .cache = session->options->cache};
}

struct variant_key session_key(const struct session *session, const struct trial *trial) {
  return (struct variant_key){.stencil = session->stencil_id,
                              .template_id = session->template_ids[trial->proposal.template_index],
                              .template = trial->template,
                              .configuration = &trial->proposal.configuration,
                              .source = trial->generated.hash};
}

struct nvrtc_name session_nvrtc(const struct session *session) {
  const struct backend_facts *recorded = &session->tools->backend->facts;
  struct nvrtc_name name;
  if (recorded->is_recording) {
    snprintf(name.text, sizeof name.text, "%s", recorded->nvrtc);
    return name;
  }
  const struct nvrtc_facts *facts = compiler_nvrtc(session->tools->compiler);
  snprintf(name.text, sizeof name.text, "%d.%d", facts->major, facts->minor);
  return name;
}
