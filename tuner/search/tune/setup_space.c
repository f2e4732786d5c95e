/* setup_space.c: which templates have variants of a task, and how many. */
#include <stdlib.h>

#include "base/system/parallel.h"
#include "tuner/search/tune/setup.h"

/* How many variants each template has. */
struct counting {
  struct bindings *bindings;
  const struct fixed_parameters *fixed;
  long *kept; /* number of variants; 0: the template does not apply */
};

static void count_spaces(void *context, int thread, long first, long end) {
  const struct counting *counting = context;
  (void)thread;
  for (long i = first; i < end; i++) {
    const struct fixed_parameters *fixed = counting->fixed ? &counting->fixed[i] : NULL;
    struct space_counts counts;
    bindings_remember(&counting->bindings[i]);
    space_walk(&counting->bindings[i], fixed ? fixed->is_fixed : NULL, fixed ? &fixed->values : NULL, NULL, NULL,
               &counts);
    counting->kept[i] = counts.kept;
  }
}

/* Keep the templates that apply, with their bindings and their fixed values, in the same order. */
static halotune_status keep_applying(const struct setup_inputs *in, const long *kept, struct setup *out) {
  const struct tune_templates *templates = in->templates;
  for (int i = 0; i < templates->count; i++) {
    if (kept[i] == 0) {
      bindings_free(&out->bindings[i]);
      continue;
    }
    const int to = out->space.count++;
    out->space_size += kept[i];
    out->templates[to] = templates->list[i];
    out->bindings[to] = out->bindings[i];
    if (templates->fixed) out->fixed[to] = templates->fixed[i];
  }
  if (out->space.count > 0) return HALOTUNE_OK;
  const char *name = in->task->stencil->name, *with = templates->fixed ? " with these values" : "";
  if (in->task->launch_steps > 1) {
    return fail(
        HALOTUNE_NOT_FOUND,
        "no template has a variant of %s on this grid that makes %d time steps in a launch%s; see 'halotune space %s'",
        name, in->task->launch_steps, with, name);
  }
  return fail(HALOTUNE_NOT_FOUND, "no template has a variant of %s on this grid%s; see 'halotune space %s'", name, with,
              name);
}

static halotune_status make_arrays(const struct setup_inputs *in, struct setup *out) {
  const size_t room = (size_t)in->templates->count + 1;
  out->templates = calloc(room, sizeof *out->templates);
  out->bindings = calloc(room, sizeof *out->bindings);
  out->fixed = calloc(room, sizeof *out->fixed);
  out->template_ids = calloc(room, sizeof *out->template_ids);
  if (!out->templates || !out->bindings || !out->fixed || !out->template_ids) return fail_memory();
  out->space.templates = out->templates;
  out->space.has_steps = in->task->launch_steps > 1;
  out->space.bindings = out->bindings;
  out->space.fixed = in->templates->fixed ? out->fixed : NULL;
  return HALOTUNE_OK;
}

static bool is_stopped(const void *schedule) { return schedule_is_stopped(schedule); }

halotune_status setup_find_space(const struct setup_inputs *in, struct setup *out) {
  const struct tune_templates *templates = in->templates;
  halotune_status status = make_arrays(in, out);
  if (status != HALOTUNE_OK) return status;
  const struct walk_limit limit = {.is_over = is_stopped, .context = in->schedule};
  struct counting counting = {out->bindings, templates->fixed,
                              calloc((size_t)templates->count + 1, sizeof *counting.kept)};
  if (!counting.kept) status = fail_memory();
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++)
    status = task_bindings(in->task, templates->list[i], &out->bindings[i]);
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) out->bindings[i].limit = limit;
  if (status == HALOTUNE_OK) parallel_for(templates->count, 1, parallel_threads(0), count_spaces, &counting);
  for (int i = 0; i < templates->count && status == HALOTUNE_OK; i++) status = space_is_walkable(&out->bindings[i]);
  const bool was_stopped = status == HALOTUNE_OK && schedule_is_stopped(in->schedule);
  if (status == HALOTUNE_OK && !was_stopped) {
    status = keep_applying(in, counting.kept, out);
  } else {
    for (int i = 0; i < templates->count; i++) bindings_free(&out->bindings[i]);
  }
  free(counting.kept);
  return status;
}
