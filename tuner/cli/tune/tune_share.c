/* tune_share.c: chooses tasks for the leader and for members. */
#include "tuner/cli/tune/tune_share.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/identity/hash.h"
#include "base/memory/array.h"
#include "db/store/filesystem.h"
#include "db/store/lost_member_run.h"
#include "db/store/store.h"
#include "gpu/driver/device.h"
#include "tuner/cli/tune/tuned_message.h"

enum share_state { SHARE_OPEN, SHARE_BEGUN, SHARE_DONE };

/* The GPU that has results of a task, and the date of the newest one. Only that GPU can continue from them. */
struct home {
  char uuid[DEVICE_UUID_BYTES], at[40];
};

/* After so many members died in a task, no other process begins it. */
enum { MOST_DEATHS = 2 };

struct share {
  const struct tune_tasks *tasks;
  struct leader *leader;    /* NULL: this process works alone */
  struct home *homes;       /* indexed by place in the plan */
  enum share_state *states; /* indexed by place in the plan */
  int *deaths;              /* indexed by place in the plan: deaths of members that ran the task alone */
  int *order, side_count;   /* side_count: so many of the first tasks in `order` run side by side */
  const char *host;         /* the host whose members reach the database; NULL: all do */
  int64_t newest_run;       /* the newest run in the database before the tasks were divided */
  struct tuned_list rows;   /* rows of tasks that members ran alone */
  halotune_status worst;    /* the worst status of members */
  bool is_ended;            /* the database failed, or the leader's GPU is lost: no task begins any more */
};

int share_side_count(int tasks, int processes) { return processes > 1 ? tasks - tasks % processes : 0; }

/* The host whose members reach a database; NULL: all do. */
static const char *host_of(const char *database, const char *host) { return file_is_shared(database) ? NULL : host; }

int share_able_count(const struct leader *leader, const char *database, const char *host) {
  return leader ? 1 + leader_count(leader, host_of(database, host)) : 1;
}

static double bytes_of(const struct planned_task *planned) {
  const struct analysis *analysis = planned->stencil->loaded.analysis;
  const struct grid *grid = &planned->grid;
  return (double)grid->n[0] * (double)grid->n[1] * (double)grid->n[2] * analysis->bytes_per_point[planned->dtype];
}

static bool is_dearer(const struct planned_task *a, const struct planned_task *b, const struct tune_options *options) {
  const double a_s = tune_task_budget_s(a, options), b_s = tune_task_budget_s(b, options);
  return a_s != b_s ? a_s > b_s : bytes_of(a) > bytes_of(b);
}

void share_order(const struct task_list *plan, const struct tune_options *options, int *order) {
  for (int i = 0; i < plan->task_count; i++) {
    int at = i;
    for (; at > 0 && is_dearer(&plan->tasks[i], &plan->tasks[order[at - 1]], options); at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* Whether any GPU of the team may begin a task. */
static bool may_begin(const struct share *share) {
  const struct time_source time = backend_time(&share->tasks->setup->backend);
  return !share->is_ended && !*share->tasks->stop && tune_has_time(share->tasks->options, time_now_ms(&time));
}

/* Find an open task for a GPU among the first `count` in order: a task of which this GPU has results, else one of
 * which no GPU has results, else any.
 *   deaths  tasks in which more members died are left out
 * Returns its place; -1 for none. */
static int find_open(const struct share *share, int count, const char *uuid, int deaths) {
  int best = -1, best_rank = 0;
  for (int i = 0; i < count; i++) {
    const int place = share->order[i];
    const char *home = share->homes[place].uuid;
    const int rank = strcmp(home, uuid) == 0 ? 3 : !home[0] ? 2 : 1;
    if (share->states[place] != SHARE_OPEN || share->deaths[place] > deaths || rank <= best_rank) continue;
    best = place;
    best_rank = rank;
  }
  return best;
}

/* Note on which GPU a task was tuned last, and which run is the newest one. */
static halotune_status note_home(void *context, const struct task_state *state) {
  struct share *share = context;
  const struct tune_tasks *tasks = share->tasks;
  if (state->run > share->newest_run) share->newest_run = state->run;
  for (int i = 0; i < tasks->plan->task_count; i++) {
    const struct site_match match = site_match_of(&tasks->plan->tasks[i], state, tasks->options->launch,
                                                  tasks->options->cache, tasks->reproducible);
    struct home *home = &share->homes[i];
    if (!match.is_same || strcmp(home->at, state->last_sign) > 0) continue;
    snprintf(home->uuid, sizeof home->uuid, "%s", state->uuid);
    snprintf(home->at, sizeof home->at, "%s", state->last_sign);
  }
  return HALOTUNE_OK;
}

static int find_in_order(const struct share *share, int place) {
  int at = 0;
  while (share->order[at] != place) at++;
  return at;
}

static int choose_task(void *context, const struct fleet_hello *who, struct text *what) {
  struct share *share = context;
  if (!may_begin(share) || (share->host && strcmp(who->host, share->host) != 0)) return -1;
  const int place = find_open(share, share->side_count, who->uuid, MOST_DEATHS);
  if (place < 0) return -1;
  share_name(share->tasks, &share->tasks->plan->tasks[place], what);
  share->states[place] = SHARE_BEGUN;
  return place;
}

/* Say which GPU ran a task alone. */
static void name_gpu(const struct fleet_hello *who, struct tuned *row) {
  struct crew_report *crew = &row->result.crew;
  const struct tally *tally = &row->result.tally;
  const struct final_winner *winner = &row->result.winner;
  struct crew_gpu *gpu = &crew->gpus[0];
  *crew = (struct crew_report){.count = 1, .shown = 1, .spread = NAN};
  *gpu = (struct crew_gpu){.results = tally->tried - tally->recalled,
                           .factor = NAN, /* there is no other time to compare with */
                           .winner_ms = winner->exists ? winner->timing.median_ms : NAN};
  snprintf(gpu->name, sizeof gpu->name, "%.*s", (int)sizeof gpu->name - 1, who->device);
  snprintf(gpu->uuid, sizeof gpu->uuid, "%s", who->uuid);
  snprintf(gpu->host, sizeof gpu->host, "%s", who->host);
}

/* A run that a member began and did not end. */
struct lost_run {
  const struct share *share;
  const struct planned_task *task;
  const struct fleet_hello *who;
  int64_t run; /* 0: none */
};

static halotune_status find_lost(void *context, const struct task_state *state) {
  struct lost_run *lost = context;
  const struct tune_tasks *tasks = lost->share->tasks;
  const struct site_match match =
      site_match_of(lost->task, state, tasks->options->launch, tasks->options->cache, tasks->reproducible);
  const char *uuid = lost->who->uuid;
  const size_t length = device_uuid_length(state->uuid);
  const bool is_its_gpu = length > 0 && strlen(uuid) == length && strncmp(state->uuid, uuid, length) == 0;
  const bool is_its_own = is_its_gpu && strcmp(state->host, lost->who->host) == 0;
  const bool is_open = match.is_same && match.is_unended && !state->is_lost;
  if (is_open && is_its_own && state->run > lost->share->newest_run && state->run > lost->run) lost->run = state->run;
  return HALOTUNE_OK;
}

/* End the run of a member that can no longer do so itself. A run without an end would count as still going on. */
static halotune_status end_lost(const struct share *share, int place, const struct fleet_hello *who, const char *why) {
  struct store *store = share->tasks->setup->tools.store;
  struct lost_run lost = {.share = share, .task = &share->tasks->plan->tasks[place], .who = who};
  const halotune_status status = task_states_each(store, find_lost, &lost);
  return status == HALOTUNE_OK && lost.run > 0 ? store_run_lose(store, lost.run, why) : status;
}

/* Take back a task that a member did not end. A task that kills its process must not go to one member after the
 * other. */
static void take_back(struct share *share, int place, const struct fleet_hello *who, const struct alone_end *end) {
  const struct planned_task *task = &share->tasks->plan->tasks[place];
  struct text name = {0};
  share->deaths[place] += end->has_died;
  const bool is_deadly = share->deaths[place] >= MOST_DEATHS;
  planned_task_text(task, &name);
  fprintf(stderr, "halotune: %s: %s on %s %s: %s%s\n", text_string(&name), who->uuid[0] ? who->uuid : who->device,
          who->host, end->has_died ? "does not end it" : "gives it back", end->why,
          may_begin(share) && !is_deadly ? "; another GPU goes on with it" : "");
  text_free(&name);
  const halotune_status ended = end_lost(share, place, who, end->why);
  if (ended != HALOTUNE_OK) share->worst = ended;
  if (!is_deadly) return;
  share->states[place] = SHARE_DONE;
  share->worst = fail(HALOTUNE_IO, "%d processes were lost while they ran this task, and no further one begins it",
                      share->deaths[place]);
  tuned_add_failed(share->worst, task, &share->rows);
}

static bool is_status(uint64_t number) {
#define AS_CASE(name, value, text) case value:
  switch (number) {
    HALOTUNE_STATUS_LIST(AS_CASE)
    return true;
  default: return false;
  }
#undef AS_CASE
}

static bool take_rows(void *context, int place, const struct fleet_hello *who, const struct alone_end *end) {
  struct share *share = context;
  const int before = share->rows.count;
  share->states[place] = SHARE_OPEN;
  if (!end->result) {
    take_back(share, place, who, end);
    return true;
  }
  const uint64_t status = unpack_u64(end->result);
  if (!is_status(status) || !tuned_read(end->result, &share->tasks->plan->tasks[place], &share->rows)) {
    share->rows.count = before;
    return false;
  }
  for (int i = before; i < share->rows.count; i++) name_gpu(who, &share->rows.rows[i]);
  if (status != HALOTUNE_OK) share->worst = (halotune_status)status;
  share->states[place] = SHARE_DONE;
  return true;
}

static void division_print(const struct share *share, int able) {
  const int together = share->tasks->plan->task_count - share->side_count;
  if (share->side_count > 0) {
    fprintf(stderr, "halotune: %d GPUs run %d tasks side by side", able, share->side_count);
    if (together > 0) fprintf(stderr, ", and then %d together", together);
    fprintf(stderr, "\n");
  }
  if (share->tasks->crowd && together > 0)
    fprintf(stderr, "halotune: strategy %s proposes for %d processes, because model takes too long for so many\n",
            share->tasks->crowd->name, share->tasks->crowd_size);
}

/* Divide the tasks. */
static halotune_status share_make(struct share *share) {
  const struct tune_tasks *tasks = share->tasks;
  const char *database = store_path(tasks->setup->tools.store);
  const int count = tasks->plan->task_count;
  share->states = calloc((size_t)count + 1, sizeof *share->states);
  share->order = calloc((size_t)count + 1, sizeof *share->order);
  share->homes = calloc((size_t)count + 1, sizeof *share->homes);
  share->deaths = calloc((size_t)count + 1, sizeof *share->deaths);
  if (!share->states || !share->order || !share->homes || !share->deaths) return fail_memory();
  for (int i = 0; i < count; i++) share->order[i] = i;
  share->host = host_of(database, tasks->options->host);
  const int able = share_able_count(share->leader, database, tasks->options->host);
  share->side_count = share_side_count(count, able);
  division_print(share, able);
  if (share->side_count == 0) return HALOTUNE_OK;
  if (!tasks->site) share_order(tasks->plan, tasks->options, share->order); /* a site's tasks are sorted already */
  return task_states_each(tasks->setup->tools.store, note_home, share);
}

/* Find the leader's next task: first among those that run side by side, then among the others.
 *   has_members  some members run tasks: a task in which a member died is then left to another member */
static int find_next(const struct share *share, bool has_members) {
  const char *uuid = share->tasks->setup->backend.facts.device.uuid;
  const int deaths = has_members ? 0 : MOST_DEATHS, place = find_open(share, share->side_count, uuid, deaths);
  return place >= 0 ? place : find_open(share, share->tasks->plan->task_count, "", deaths);
}

/* Choose the leader's next task, and then those of members. If there is no task, wait for members, because a lost
 * member gives its task back.
 *   place  receives its place in the plan; -1 when there is nothing to do any more */
static halotune_status share_next(struct share *share, int *place) {
  halotune_status status = HALOTUNE_OK;
  bool had = share->side_count > 0;
  for (;;) {
    *place = may_begin(share) ? find_next(share, had) : -1;
    if (*place >= 0) share->states[*place] = SHARE_BEGUN;
    if (share->side_count > 0) status = leader_look(share->leader);
    if (status != HALOTUNE_OK || *place >= 0 || !had) return status;
    status = leader_await_alone(share->leader, &had);
    if (status != HALOTUNE_OK) return status;
  }
}

static void look_at_sides(void *context) {
  const struct share *share = context;
  if (share->side_count > 0) leader_look(share->leader); /* the next call of the crew reports a failed link */
}

/* Add the rows of members and of tasks that nobody ended, and sort all rows by task. The rows of one task are in order
 * already. */
static halotune_status rows_add(const struct share *share, struct tuned_list *list) {
  for (int i = 0; i < share->rows.count; i++) {
    struct tuned *row = tuned_add(list, &share->rows.rows[i].task);
    if (!row) return fail_memory();
    *row = share->rows.rows[i];
  }
  for (int i = 0; i < share->tasks->plan->task_count; i++) {
    if (share->states[i] != SHARE_DONE && !tuned_add(list, &share->tasks->plan->tasks[i])) return fail_memory();
  }
  for (int i = 1; i < list->count; i++) {
    const struct tuned row = list->rows[i];
    int at = i;
    for (; at > 0 && list->rows[at - 1].task.number > row.task.number; at--) list->rows[at] = list->rows[at - 1];
    list->rows[at] = row;
  }
  return HALOTUNE_OK;
}

halotune_status tune_tasks_run(const struct tune_tasks *tasks, struct leader *leader, struct tuned_list *out) {
  struct share share = {.tasks = tasks, .leader = leader};
  const struct leader_alone alone = {choose_task, take_rows, &share};
  struct tune_options options = *tasks->options;
  struct tune_tasks own = *tasks;
  struct progress progress;
  int place;
  progress_open(&progress);
  own.options = &options;
  own.progress = &progress;
  own.look = look_at_sides;
  own.look_context = &share;
  halotune_status status = share_make(&share), worst = HALOTUNE_OK;
  if (status == HALOTUNE_OK && share.side_count > 0) leader_offer_alone(leader, &alone);
  while (status == HALOTUNE_OK) {
    status = share_next(&share, &place);
    if (status != HALOTUNE_OK || place < 0) break;
    const bool is_for_all = find_in_order(&share, place) >= share.side_count;
    options.strategy = tasks->crowd && is_for_all ? tasks->crowd : tasks->options->strategy;
    const halotune_status tuned = tune_task_run(&own, &tasks->plan->tasks[place], out);
    share.states[place] = SHARE_DONE;
    if (tuned != HALOTUNE_OK) worst = tuned;
    share.is_ended = tune_ends_all(worst); /* members then finish their tasks */
  }
  if (leader) leader_offer_alone(leader, NULL);
  if (share.worst != HALOTUNE_OK && !share.is_ended) worst = share.worst;
  if (status != HALOTUNE_OK) worst = status;
  if (share.states && (status = rows_add(&share, out)) != HALOTUNE_OK) worst = status;
  free(share.rows.rows);
  free(share.states);
  free(share.order);
  free(share.homes);
  free(share.deaths);
  return worst;
}

void share_name(const struct tune_tasks *tasks, const struct planned_task *planned, struct text *out) {
  char hash[IDENTITY_HEX_BYTES];
  const struct loaded *loaded = &planned->stencil->loaded;
  text_printf(out, "%d\n%d\n", planned->number, planned->launch_steps);
  planned_task_text(planned, out);
  identity_hex(loaded->analysis->hash, hash);
  text_printf(out, "\n%s\n", hash);
  identity_hex(stencil_text_identity(loaded->text), hash);
  text_printf(out, "%s\n", hash);
  for (int i = 0; i < tasks->set->count; i++) {
    identity_hex(tasks->set->list[i]->hash, hash);
    text_printf(out, "%s %s\n", tasks->set->list[i]->name, hash);
  }
  database_place(store_path(tasks->setup->tools.store), out);
}
