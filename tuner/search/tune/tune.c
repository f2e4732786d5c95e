/* tune.c: one task from its beginning to its end. */
#include "tuner/search/tune/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "tuner/search/tune/session.h"

/* How many variants each template has. */
struct counting {
  struct bindings *bindings;
  const struct fixed_parameters *fixed;
  long *kept; /* 0: the template does not apply */
};

static void count_spaces(void *context, int thread, long first, long end) {
  const struct counting *counting = context;
  (void)thread;
  for (long i = first; i < end; i++) {
    const struct fixed_parameters *fixed = counting->fixed ? &counting->fixed[i] : NULL;
    struct space_counts counts;
    space_walk(&counting->bindings[i], fixed ? fixed->is_fixed : NULL, fixed ? &fixed->values : NULL, NULL, NULL,
               &counts);
    counting->kept[i] = counts.kept;
  }
}

/* Keep the templates that apply, with their bindings and what is fixed of them, each array in the same order. */
static halotune_status keep_applying(struct session *session, const struct tune_templates *templates,
                                     const long *kept) {
  struct search_space *space = &session->space;
  for (int i = 0; i < templates->count; i++) {
    if (kept[i] == 0) {
      bindings_free(&session->bindings[i]);
      continue;
    }
    const int to = space->count++;
    session->space_size += kept[i];
    session->templates[to] = templates->list[i];
    session->bindings[to] = session->bindings[i];
    if (templates->fixed) session->fixed[to] = templates->fixed[i];
  }
  if (space->count > 0) return HALOTUNE_OK;
  const char *name = session->task->stencil->name;
  return fail(HALOTUNE_NOT_FOUND, "no template has a variant of %s on this grid%s; see 'halotune space %s'", name,
              templates->fixed ? " with these values" : "", name);
}

/* The arrays have room for all templates. */
static halotune_status find_space(struct session *session, const struct tune_templates *templates) {
  struct search_space *space = &session->space;
  struct counting counting = {session->bindings, templates->fixed,
                              calloc((size_t)templates->count + 1, sizeof *counting.kept)};
  halotune_status status = counting.kept ? HALOTUNE_OK : fail_memory();
  space->templates = session->templates;
  space->bindings = session->bindings;
  space->fixed = templates->fixed ? session->fixed : NULL;
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) {
    status = task_bindings(session->task, templates->list[i], &session->bindings[i]);
  }
  if (status == HALOTUNE_OK) {
    parallel_for(templates->count, 1, parallel_threads(0), count_spaces, &counting);
    status = keep_applying(session, templates, counting.kept);
  } else {
    for (int i = 0; i < templates->count; i++) bindings_free(&session->bindings[i]);
  }
  free(counting.kept);
  return status;
}

/* What the run came to by its failure; the failure itself stays the detail. */
static void store_failure(struct session *session, halotune_status status) {
  char detail[sizeof session->result->reason];
  snprintf(detail, sizeof detail, "%s", fail_text());
  if (status == HALOTUNE_DB || !session->run_id) return;
  session_end_early(session, detail);
  fail(status, "%s", detail);
}

static halotune_status session_make(struct session *session, const struct tune_templates *templates) {
  const struct tune_tools *tools = session->tools;
  size_t room = (size_t)templates->count + 1;
  session->templates = calloc(room, sizeof *session->templates);
  session->bindings = calloc(room, sizeof *session->bindings);
  session->fixed = calloc(room, sizeof *session->fixed);
  session->template_ids = calloc(room, sizeof *session->template_ids);
  if (!session->templates || !session->bindings || !session->fixed || !session->template_ids) return fail_memory();
  halotune_status status =
      pipeline_make(tools->backend->facts.is_recording ? NULL : tools->compiler, &session->pipeline);
  return status == HALOTUNE_OK ? find_space(session, templates) : status;
}

static void session_close(struct session *session) {
  session->options->strategy->close(session->strategy);
  pipeline_free(session->pipeline);
  trial_free(session->first);
  scene_free(&session->scene);
  for (int i = 0; i < session->space.count; i++) bindings_free(&session->bindings[i]);
  free(session->bindings);
  free(session->templates);
  free(session->fixed);
  free(session->template_ids);
  timed_free(&session->timed);
  twins_free(&session->twins);
  proposals_free(&session->recorded);
  proposals_free(&session->hints);
  proposals_free(&session->starts);
}

halotune_status tune(const struct tune_tools *tools, const struct task *task, const struct tune_templates *templates,
                     const struct task *copy, const struct tune_templates *copy_templates,
                     const struct tune_options *options, struct tune_result *out) {
  struct session session = {.tools = tools,
                            .task = task,
                            .copy = copy,
                            .copy_templates = copy_templates,
                            .options = options,
                            .result = out,
                            .memcpy_ms = NAN,
                            .scale = 1};
  *out = (struct tune_result){.default_ms = NAN,
                              .roof_ms = NAN,
                              .roof_ratio = NAN,
                              .roof_ratio_low = NAN,
                              .roof_ratio_high = NAN,
                              .empty_ms = NAN,
                              .bytes = task_bytes(task)};
  session.start_ms = clock_ms();
  halotune_status status = session_make(&session, templates);
  if (status == HALOTUNE_OK) status = session_open(&session);
  out->setup_s = (clock_ms() - session.start_ms) * 1e-3;
  if (status == HALOTUNE_OK && session.run_id && !session_is_stopped(&session)) status = session_search(&session);
  out->search_s = (clock_ms() - session.start_ms) * 1e-3 - out->setup_s;
  if (status == HALOTUNE_OK) status = session_finals(&session);
  out->final_s = (clock_ms() - session.start_ms) * 1e-3 - out->search_s - out->setup_s;
  if (status != HALOTUNE_OK) store_failure(&session, status);
  session_close(&session);
  return status;
}
