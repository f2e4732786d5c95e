/* roof.c: which kernels of the copy are loaded. */
#include "tuner/search/roof/roof.h"

#include <math.h>
#include <stdlib.h>

#include "tuner/measure/sampling/measure.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/variants/evaluate.h"

enum {
  SAMPLE_OF_A_TEMPLATE = 12,
  MOST_WINNERS = 3,
  MOST_LOOKED = 64 /* rows, of which many can stand for one variant */
};

struct roof_search {
  const struct roof_inputs *in;
  struct template **templates; /* the templates that can copy so many points */
  struct bindings *bindings;
  struct search_space space;
  struct roof *roof;
  int first_slot;
  double times_ms[MOST_ROOFS]; /* times of the kernels that are kept */
};

static halotune_status find_templates(struct roof_search *search) {
  const struct roof_inputs *in = search->in;
  for (int i = 0; i < in->template_count; i++) {
    struct bindings *bindings = &search->bindings[search->space.count];
    halotune_status status = task_bindings(in->copy, in->templates[i], bindings);
    if (status != HALOTUNE_OK) return status;
    if (space_refusal(bindings)) bindings_free(bindings);
    else search->templates[search->space.count++] = in->templates[i];
  }
  search->space.templates = search->templates;
  search->space.bindings = search->bindings;
  return HALOTUNE_OK;
}

/* Find a place for a kernel of this time: a free one, or that of the slowest kernel if this one is faster. Returns
 * MOST_ROOFS if there is none. */
static int place_for(const struct roof_search *search, double time_ms) {
  int slowest = 0;
  for (int i = 0; i < MOST_ROOFS; i++) {
    if (!search->roof->trials[i]) return i;
    if (search->times_ms[i] > search->times_ms[slowest]) slowest = i;
  }
  return time_ms < search->times_ms[slowest] ? slowest : MOST_ROOFS;
}

/* Load a kernel into the slot for trials, time it, and unload it.
 *   time_ms  receives the time of one application, roughly; NaN where it fails */
static halotune_status time_kernel(struct roof_search *search, const struct trial *trial, double *time_ms) {
  struct backend_handle *backend = search->in->backend;
  const int slot = search->first_slot + MOST_ROOFS;
  struct verdict verdict;
  *time_ms = NAN;
  halotune_status status = trial_load(search->in->backend, slot, trial, true, &verdict);
  if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) status = measure_roughly(backend, slot, time_ms);
  return status == HALOTUNE_OK ? backend->table->unload(backend->state, slot) : status;
}

/* Time a kernel, and keep it loaded if it is among the fastest. */
static halotune_status try_kernel(struct roof_search *search, const struct proposal *proposal) {
  const struct roof_inputs *in = search->in;
  struct verdict verdict;
  struct trial *trial;
  double time_ms = NAN;
  const struct template *template = search->templates[proposal->template_index];
  const struct ending ending = schedule_ending(in->schedule);
  halotune_status status = pipeline_build(in->pipeline, in->copy, template, proposal, &ending, &trial);
  if (status == HALOTUNE_OK && !trial->is_over) status = time_kernel(search, trial, &time_ms);
  int place = status == HALOTUNE_OK && !isnan(time_ms) ? place_for(search, time_ms) : MOST_ROOFS;
  if (place < MOST_ROOFS) {
    const int slot = search->first_slot + place;
    trial_free(search->roof->trials[place]);
    search->roof->trials[place] = NULL;
    status = in->backend->table->unload(in->backend->state, slot);
    if (status == HALOTUNE_OK) status = trial_load(in->backend, slot, trial, true, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) {
      search->roof->trials[place] = trial;
      search->times_ms[place] = time_ms;
      return HALOTUNE_OK;
    }
  }
  trial_free(trial);
  return status;
}

/* Try the winners of `copy` that are nearest.
 *   is_tuned  receives whether one was tuned on this model of GPU and a kernel is loaded */
static halotune_status try_rows(struct roof_search *search, const struct hint_rows *rows, bool *is_tuned) {
  struct visited tried = {.count = 0};
  halotune_status status = HALOTUNE_OK;
  *is_tuned = false;
  for (int i = 0; i < rows->count && i < MOST_LOOKED && tried.count < MOST_WINNERS && status == HALOTUNE_OK; i++) {
    const struct hint_row *row = &rows->list[i];
    struct proposal proposal;
    bool is_new;
    if (row->distance[HINT_STENCIL] > 0 || schedule_is_stopped(search->in->schedule)) break;
    if (!hints_variant(&search->space, row, &proposal)) continue;
    status = visited_add(&tried, &search->space, &proposal, &is_new);
    if (status == HALOTUNE_OK && is_new) status = try_kernel(search, &proposal);
    *is_tuned = *is_tuned || (row->distance[HINT_DEVICE] == 0 && search->roof->trials[0]);
  }
  visited_free(&tried);
  return status;
}

static halotune_status try_tuned(struct roof_search *search, bool *is_tuned) {
  struct hint_rows rows;
  halotune_status status = hints_read(search->in->sources, search->in->target, &rows);
  if (status == HALOTUNE_OK) status = try_rows(search, &rows, is_tuned);
  hint_rows_free(&rows);
  return status;
}

static halotune_status try_sample(struct roof_search *search) {
  struct proposal_list drawn;
  halotune_status status = draw_variants(&search->space, SAMPLE_OF_A_TEMPLATE, 1, &drawn);
  for (long i = 0; i < drawn.count && status == HALOTUNE_OK && !schedule_is_stopped(search->in->schedule); i++) {
    status = try_kernel(search, &drawn.list[i]);
  }
  proposals_free(&drawn);
  return status;
}

halotune_status roof_open(const struct roof_inputs *in, int first_slot, struct roof *out) {
  struct roof_search search = {.in = in, .roof = out, .first_slot = first_slot};
  *out = (struct roof){.count = 0};
  if (!in->copy) return HALOTUNE_OK;
  size_t room = (size_t)in->template_count + 1;
  search.templates = calloc(room, sizeof *search.templates);
  search.bindings = calloc(room, sizeof *search.bindings);
  halotune_status status = search.templates && search.bindings ? find_templates(&search) : fail_memory();
  bool is_tuned = false;
  if (status == HALOTUNE_OK) status = try_tuned(&search, &is_tuned);
  if (status == HALOTUNE_OK && !is_tuned) status = try_sample(&search);
  for (int i = 0; i < search.space.count; i++) bindings_free(&search.bindings[i]);
  free(search.templates);
  free(search.bindings);
  out->slots[out->count++] = SLOT_MEMCPY;
  for (int i = 0; i < MOST_ROOFS; i++) {
    if (out->trials[i]) out->slots[out->count++] = first_slot + i;
  }
  return status;
}

halotune_status roof_close(struct backend_handle *backend, struct roof *roof) {
  halotune_status status = HALOTUNE_OK;
  for (int i = 0; i < roof->count; i++) {
    if (roof->slots[i] == SLOT_MEMCPY) continue;
    halotune_status unloaded = backend->table->unload(backend->state, roof->slots[i]);
    if (status == HALOTUNE_OK) status = unloaded;
  }
  for (int i = 0; i < MOST_ROOFS; i++) trial_free(roof->trials[i]);
  *roof = (struct roof){.count = 0};
  return status;
}
