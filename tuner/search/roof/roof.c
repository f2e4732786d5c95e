/* roof.c: the fastest copy of as many bytes as the task moves: the driver's, and kernels of stencil `copy`: those that
 * were tuned on this model of GPU, as the databases know them; where none was, the fastest of a small sample, too. */
#include <math.h>
#include <stdlib.h>

#include "tuner/measure/sampling/device_time.h"
#include "tuner/search/hints/hints.h"
#include "tuner/search/strategy/draw.h"
#include "tuner/search/tune/session.h"
#include "tuner/search/variants/proposals.h"

enum { SAMPLE_OF_A_TEMPLATE = 12, MOST_WINNERS = 3 };

struct roof_search {
  struct session *session;
  struct template **templates; /* those that copy */
  struct bindings *bindings;
  struct search_space space;
  struct roof *roof;
  int first_slot;
  double times_ms[MOST_ROOFS]; /* of those that are kept */
};

static halotune_status find_templates(struct roof_search *search) {
  const struct session *session = search->session;
  const struct tune_templates *all = session->copy_templates;
  for (int i = 0; i < all->count; i++) {
    struct bindings *bindings = &search->bindings[search->space.count];
    halotune_status status = task_bindings(session->copy, all->list[i], bindings);
    if (status != HALOTUNE_OK) return status;
    if (space_refusal(bindings)) bindings_free(bindings);
    else search->templates[search->space.count++] = all->list[i];
  }
  search->space.templates = search->templates;
  search->space.bindings = search->bindings;
  return HALOTUNE_OK;
}

/* The place that a kernel of this time gets: a free one, or that of the slowest where this one is faster; MOST_ROOFS
 * for none. */
static int place_for(const struct roof_search *search, double time_ms) {
  int slowest = 0;
  for (int i = 0; i < MOST_ROOFS; i++) {
    if (!search->roof->trials[i]) return i;
    if (search->times_ms[i] > search->times_ms[slowest]) slowest = i;
  }
  return time_ms < search->times_ms[slowest] ? slowest : MOST_ROOFS;
}

/* Load a kernel into the slot that is left for trying, and out again.
 *   time_ms  receives about what it takes; NaN where it fails */
static halotune_status time_once(struct roof_search *search, const struct trial *trial, double *time_ms) {
  struct backend_handle *backend = search->session->tools->backend;
  const int slot = search->first_slot + MOST_ROOFS;
  struct verdict verdict;
  *time_ms = NAN;
  halotune_status status = session_load(search->session, slot, trial, true, &verdict);
  if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) status = device_time(backend, slot, time_ms);
  return status == HALOTUNE_OK ? backend->table->unload(backend->state, slot) : status;
}

/* Try one kernel, and keep it if it is among the fastest. */
static halotune_status try_one(struct roof_search *search, const struct proposal *proposal) {
  struct session *session = search->session;
  struct backend_handle *backend = session->tools->backend;
  struct verdict verdict;
  struct trial *trial;
  double time_ms = NAN;
  halotune_status status =
      session_build(session, session->copy, search->templates[proposal->template_index], proposal, &trial);
  if (status == HALOTUNE_OK && !trial->is_over) status = time_once(search, trial, &time_ms);
  int place = status == HALOTUNE_OK && !isnan(time_ms) ? place_for(search, time_ms) : MOST_ROOFS;
  if (place < MOST_ROOFS) {
    const int slot = search->first_slot + place;
    trial_free(search->roof->trials[place]);
    search->roof->trials[place] = NULL;
    status = backend->table->unload(backend->state, slot);
    if (status == HALOTUNE_OK) status = session_load(session, slot, trial, true, &verdict);
    if (status == HALOTUNE_OK && verdict.outcome == OUTCOME_MEASURED) {
      search->roof->trials[place] = trial;
      search->times_ms[place] = time_ms;
      return HALOTUNE_OK;
    }
  }
  trial_free(trial);
  return status;
}

/* The nearest winners of `copy` that the databases know.
 *   is_tuned  receives whether one of them is of this model of GPU, and loaded */
static halotune_status try_rows(struct roof_search *search, const struct hint_rows *rows, bool *is_tuned) {
  struct visited tried = {.count = 0};
  halotune_status status = HALOTUNE_OK;
  *is_tuned = false;
  for (int i = 0; i < rows->count && tried.count < MOST_WINNERS && status == HALOTUNE_OK; i++) {
    const struct hint_row *row = &rows->list[i];
    struct proposal proposal;
    bool is_new;
    if (row->distance[HINT_STENCIL] > 0 || session_is_stopped(search->session)) break;
    if (!hints_variant(&search->space, row, &proposal)) continue;
    status = visited_add(&tried, &search->space, &proposal, &is_new);
    if (status == HALOTUNE_OK && is_new) status = try_one(search, &proposal);
    *is_tuned = *is_tuned || (row->distance[HINT_DEVICE] == 0 && search->roof->trials[0]);
  }
  visited_free(&tried);
  return status;
}

static halotune_status try_tuned(struct roof_search *search, bool *is_tuned) {
  struct hint_rows rows;
  const struct hint_sources sources = session_hint_sources(search->session);
  const struct hint_target target = session_hint_target(search->session, search->session->copy);
  halotune_status status = hints_read(&sources, &target, &rows);
  if (status == HALOTUNE_OK) status = try_rows(search, &rows, is_tuned);
  hint_rows_free(&rows);
  return status;
}

static halotune_status try_sample(struct roof_search *search) {
  struct proposal_list drawn;
  halotune_status status = draw_variants(&search->space, SAMPLE_OF_A_TEMPLATE, 1, &drawn);
  for (long i = 0; i < drawn.count && status == HALOTUNE_OK && !session_is_stopped(search->session); i++) {
    status = try_one(search, &drawn.list[i]);
  }
  proposals_free(&drawn);
  return status;
}

halotune_status roof_open(struct session *session, int first_slot, struct roof *out) {
  struct roof_search search = {.session = session, .roof = out, .first_slot = first_slot};
  *out = (struct roof){.count = 0};
  if (!session->copy || isnan(session->memcpy_ms)) return HALOTUNE_OK;
  size_t room = (size_t)session->copy_templates->count + 1;
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

void roof_close(struct session *session, struct roof *roof) {
  struct backend_handle *backend = session->tools->backend;
  for (int i = 0; i < roof->count; i++) {
    if (roof->slots[i] != SLOT_MEMCPY) backend->table->unload(backend->state, roof->slots[i]);
  }
  for (int i = 0; i < MOST_ROOFS; i++) trial_free(roof->trials[i]);
  *roof = (struct roof){.count = 0};
}
