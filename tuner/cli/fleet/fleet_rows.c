/* fleet_rows.c: copies the rows, and decides which of them run. */
#include "tuner/cli/fleet/fleet_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory/array.h"
#include "tuner/cli/tune/tuning_lock.h"

#define STAGE_AS_WORD(name, word, what) word,
const char *const stage_words[STAGE_COUNT] = {STAGE_LIST(STAGE_AS_WORD)};

static enum stage stage_of(const struct task_state *state) {
  if (state->has_stream || state->has_graph) return STAGE_DONE;
  if (strcmp(state->state, "running") == 0) return STAGE_UNENDED;
  return state->has_winner ? STAGE_PARTIAL : STAGE_FAILED;
}

static halotune_status row_add(void *context, const struct task_state *state) {
  struct fleet_rows *rows = context;
  if (!array_room(rows->list, rows->count, rows->room)) return fail_memory();
  struct fleet_row *row = &rows->list[rows->count];
  *row = (struct fleet_row){.state = *state, .stage = stage_of(state)};
  const char **const texts[] = {&row->state.uuid,      &row->state.device, &row->state.stencil,  &row->state.hash,
                                &row->state.text_hash, &row->state.dtype,  &row->state.cache,    &row->state.state,
                                &row->state.reason,    &row->state.host,   &row->state.last_sign};
  for (size_t i = 0; i < COUNT(texts); i++) {
    *texts[i] = arena_text(&rows->arena, *texts[i], strlen(*texts[i]));
    if (!*texts[i]) return fail_memory();
  }
  rows->count++;
  return HALOTUNE_OK;
}

/* Mark the run of each GPU that is going on. Only the unended run with the newest sign of life can go on on a GPU.
 *   list  GPU by GPU */
static void mark_running(struct fleet_row *list, int count, const char *path) {
  for (int first = 0, end; first < count; first = end) {
    struct fleet_row *newest = NULL;
    for (end = first; end < count && strcmp(list[end].state.uuid, list[first].state.uuid) == 0; end++) {
      if (list[end].state.is_own && strcmp(list[end].state.state, "running") == 0 &&
          (!newest || strcmp(list[end].state.last_sign, newest->state.last_sign) > 0))
        newest = &list[end];
    }
    if (newest && tuning_lock_is_held(path, newest->state.uuid)) newest->stage = STAGE_RUNNING;
  }
}

halotune_status fleet_rows_add(struct fleet_rows *rows, const char *path) {
  struct store *store = NULL;
  const int first = rows->count;
  halotune_status status = store_open(path, STORE_READ, &store);
  if (status == HALOTUNE_OK) status = task_states_each(store, row_add, rows);
  if (status == HALOTUNE_OK && rows->count > first)
    mark_running(rows->list + first, rows->count - first, store_path(store));
  store_close(store);
  return status;
}

static int compare_tasks(const struct task_state *a, const struct task_state *b) {
  const char *const texts[][2] = {{a->device, b->device},      {a->uuid, b->uuid},   {a->stencil, b->stencil},
                                  {a->dtype, b->dtype},        {a->cache, b->cache}, {a->hash, b->hash},
                                  {a->text_hash, b->text_hash}};
  for (size_t i = 0; i < COUNT(texts); i++) {
    const int order = strcmp(texts[i][0], texts[i][1]);
    if (order != 0) return order;
  }
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    if (a->grid.n[axis] != b->grid.n[axis]) return a->grid.n[axis] < b->grid.n[axis] ? -1 : 1;
  }
  if (a->steps != b->steps) return a->steps < b->steps ? -1 : 1;
  return (int)a->reproducible - (int)b->reproducible;
}

/* Compare for sorting: of the rows of one task, the one that counts comes first. */
static int compare_rows(const void *left, const void *right) {
  const struct fleet_row *a = left, *b = right;
  const int order = compare_tasks(&a->state, &b->state);
  if (order != 0 || a->stage == b->stage) return order != 0 ? order : strcmp(b->state.last_sign, a->state.last_sign);
  return a->stage > b->stage ? -1 : 1;
}

void fleet_rows_end(struct fleet_rows *rows) {
  int kept = 0;
  if (rows->count > 0) qsort(rows->list, (size_t)rows->count, sizeof *rows->list, compare_rows);
  for (int i = 0; i < rows->count; i++) {
    if (kept == 0 || compare_tasks(&rows->list[kept - 1].state, &rows->list[i].state) != 0)
      rows->list[kept++] = rows->list[i];
  }
  rows->count = kept;
}

void fleet_rows_free(struct fleet_rows *rows) {
  arena_free(&rows->arena);
  free(rows->list);
  *rows = (struct fleet_rows){.list = NULL};
}

bool fleet_same_model(const struct task_state *a, const struct task_state *b) {
  return strcmp(a->device, b->device) == 0 && a->capability == b->capability && a->sm_count == b->sm_count &&
         a->is_emulation == b->is_emulation;
}
