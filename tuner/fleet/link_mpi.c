/* link_mpi.c: the thread in which MPI runs, and the link that hands messages to it. */
#include "tuner/fleet/link_mpi.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/limit.h"
#include "tuner/fleet/mpi/find_plugin.h"
#include "tuner/fleet/mpi/heartbeat.h"
#include "tuner/fleet/mpi/post.h"

/* Limits: STEP_S for a step that all ranks do together, SILENCE_S without a sign of life at the end. */
enum { STEP_S = 300, SILENCE_S = 90 };
enum { SHORTEST_SLEEP_US = 20, LONGEST_SLEEP_US = 5000, CLOSE_MS = 30000, FAILED_CLOSE_MS = 5000, LOOK_MS = 1000 };

/* The orders of the owner to the thread before there is a team. */
enum order { ORDER_NONE, ORDER_GATHER, ORDER_SPLIT };

/* The state that the owner and the thread share, under the lock. */
struct link_mpi {
  struct found_plugin found;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t news; /* for the owner: a message came, or an order is done; for the thread: there is work */
  struct fleet_mpi_world world;
  enum order order;
  const void *own; /* the record of this rank in a gather */
  void *all;
  size_t bytes;
  int colour, *colours;       /* the colour of this rank, and those of all ranks */
  struct post post;           /* the post of the team */
  struct heartbeat heartbeat; /* the heartbeat of the leaders of all teams */
  bool has_begun, has_post, is_closing, is_failure;
  bool is_stuck;              /* the thread is in a call of MPI that does not return */
  bool has_ended, is_aborted; /* the thread has ended; it ends all ranks */
  double leaves_ms;           /* when it began to finalise MPI or to end all ranks; 0 before */
  int exit_code;
  halotune_status status; /* status of the thread */
  char reason[FAIL_TEXT_BYTES];
};

static double step_limit_ms(void) { return limit_ms_named("HALOTUNE_MPI_TIMEOUT", STEP_S); }

static double silence_limit_ms(void) { return limit_ms_named("HALOTUNE_MPI_TIMEOUT", SILENCE_S); }

static void note_failure(struct link_mpi *link, halotune_status status) {
  if (status == HALOTUNE_OK || link->status != HALOTUNE_OK) return;
  link->status = status;
  snprintf(link->reason, sizeof link->reason, "%s", fail_text());
}

static void note_error(struct link_mpi *link, int error, const char *what) {
  char text[FLEET_MPI_TEXT_BYTES] = "";
  if (!error) return;
  link->found.plugin->error_text(error, text);
  note_failure(link, fail(HALOTUNE_IO, "MPI cannot %s: %s", what, text));
}

static halotune_status failure_of(const struct link_mpi *link) {
  return link->status == HALOTUNE_OK ? HALOTUNE_OK : fail(link->status, "%s", link->reason);
}

/* Wait for news, without the lock. Returns false if the time ran out. */
static bool wait_until(struct link_mpi *link, double until_ms) {
  const double left_ms = until_ms - clock_ms();
  struct timespec at;
  if (left_ms <= 0) return false;
  clock_gettime(CLOCK_MONOTONIC, &at);
  const long long ns = at.tv_nsec + (long long)(left_ms * 1e6);
  at.tv_sec += ns / 1000000000;
  at.tv_nsec = ns % 1000000000;
  return pthread_cond_timedwait(&link->news, &link->lock, &at) != ETIMEDOUT;
}

/* Sleep a little longer each time. */
static void link_doze(struct link_mpi *link, double *sleep_us) {
  if (*sleep_us < LONGEST_SLEEP_US) *sleep_us *= 1.2;
  wait_until(link, clock_ms() + *sleep_us * 1e-3);
}

static void begin_mpi(struct link_mpi *link) {
  struct fleet_mpi_world world;
  const int error = link->found.plugin->begin(&world);
  pthread_mutex_lock(&link->lock);
  link->world = world;
  note_error(link, error, "begin");
  link->has_begun = true;
  pthread_cond_broadcast(&link->news);
}

static void gather_all(struct link_mpi *link) {
  const double limit_ms = step_limit_ms(), until_ms = clock_ms() + limit_ms;
  double sleep_us = SHORTEST_SLEEP_US;
  void *request = NULL;
  bool is_done = false;
  int error = link->found.plugin->gather(link->own, link->all, link->bytes, &request);
  while (!error && !is_done && clock_ms() < until_ms) {
    error = link->found.plugin->has_ended(request, &is_done);
    if (!error && !is_done) link_doze(link, &sleep_us);
  }
  note_error(link, error, "gather");
  if (!error && !is_done)
    note_failure(link, fail(HALOTUNE_IO, "some of the %d ranks have said nothing for %.3g s", link->world.size,
                            limit_ms * 1e-3));
}

/* MPI has no split that can be polled. So all ranks gather their colours first, which shows that they have come. The
 * owner watches the split itself, without the lock. */
static void split_ranks(struct link_mpi *link) {
  struct fleet_mpi_world team = link->world;
  link->own = &link->colour;
  link->all = link->colours;
  link->bytes = sizeof link->colour;
  gather_all(link);
  if (link->status != HALOTUNE_OK) return;
  pthread_mutex_unlock(&link->lock);
  const int error = link->found.plugin->split(link->colour, &team.rank, &team.size);
  pthread_mutex_lock(&link->lock);
  note_error(link, error, "form a team");
  if (link->status != HALOTUNE_OK) return;
  note_failure(link, heartbeat_open(link->found.plugin, &link->world, link->colours, silence_limit_ms(), clock_ms(),
                                    &link->heartbeat));
  if (link->status != HALOTUNE_OK) return;
  note_failure(link, post_open(link->found.plugin, &team, FLEET_MESSAGE_MOST, clock_ms(), &link->post));
  link->has_post = link->status == HALOTUNE_OK;
}

static void obey_order(struct link_mpi *link) {
  if (link->order == ORDER_GATHER) gather_all(link);
  if (link->order == ORDER_SPLIT) split_ranks(link);
  link->order = ORDER_NONE;
  pthread_cond_broadcast(&link->news);
}

/* Print why this rank gives up. The owner cannot print it, because it waits for the end of the job. */
static void say_why(const struct link_mpi *link, const char *why) {
  fprintf(stderr, "halotune: rank %d on %s: %s\n", link->world.rank, link->world.host, why);
}

/* Take the letters and signs of life that have come, and send those that are due. Returns false if a rank that this
 * one needs is gone. */
static bool step_end(struct link_mpi *link, bool is_of_job, bool sends) {
  bool is_busy = false;
  if (!link->has_post) return true;
  note_failure(link, heartbeat_step(&link->heartbeat, clock_ms(), sends));
  if (link->status != HALOTUNE_OK) return false;
  return is_of_job || (post_is_whole(&link->post) && post_step(&link->post, clock_ms(), &is_busy) == HALOTUNE_OK);
}

/* Whether all letters and signs of life have left. A barrier waits for this. */
static bool is_all_sent(const struct link_mpi *link, bool is_of_job) {
  return !link->has_post || (post_is_sent(&link->post) && (!is_of_job || heartbeat_is_sent(&link->heartbeat)));
}

/* Send all letters and signs of life, and wait until all ranks have come to a barrier. A member waits at the barrier
 * of the job for other teams, as long as any leader lives. Returns false if a rank is gone or the time is over. */
static bool pass_barrier(struct link_mpi *link, bool is_of_job, double until_ms) {
  const struct fleet_mpi_plugin *plugin = link->found.plugin;
  const bool is_member = is_of_job && link->has_post && link->post.world.rank > 0;
  double sleep_us = SHORTEST_SLEEP_US;
  void *barrier = NULL;
  bool is_through = false;
  while (!is_through) {
    int error = 0;
    if (clock_ms() >= until_ms) return false;
    if (!step_end(link, is_of_job, !(is_of_job && barrier))) return false;
    if (is_member && heartbeat_is_silent(&link->heartbeat)) return false;
    if (!barrier && is_all_sent(link, is_of_job)) error = plugin->barrier(is_of_job, &barrier);
    if (!error && barrier) error = plugin->has_ended(barrier, &is_through);
    note_error(link, error, "pass a barrier");
    if (error) return false;
    if (!is_through) link_doze(link, &sleep_us);
  }
  return true;
}

/* Wait for the leaders of the other teams, as long as they live. Returns whether all teams are done without a loss.
 *   exit_code  of this team; receives the greatest of all teams that are done */
static bool meet_leaders(struct link_mpi *link, bool has_loss, int *exit_code) {
  struct fleet_mpi_sign all;
  double sleep_us = SHORTEST_SLEEP_US;
  int silent = -1;
  heartbeat_set_done(&link->heartbeat, has_loss, *exit_code);
  while (!heartbeat_are_done(&link->heartbeat, &all, &silent)) {
    if (!step_end(link, true, true)) return false;
    link_doze(link, &sleep_us);
  }
  if (silent >= 0) {
    char why[FAIL_TEXT_BYTES];
    snprintf(why, sizeof why, "rank %d, which leads another team, has said nothing for %.3g s; this ends the job",
             silent, silence_limit_ms() * 1e-3);
    say_why(link, why);
  }
  *exit_code = silent >= 0 && all.exit_code == 0 ? 1 : all.exit_code; /* the end of that team is not known */
  return silent < 0 && !all.has_loss;
}

/* The barrier of the job, which is the last one.
 *   exit_code  of this rank; receives 1 in place of 0 if it cannot know whether its team is done */
static bool pass_last_barrier(struct link_mpi *link, bool is_leader, int *exit_code) {
  const double limit_ms = is_leader ? fmin(CLOSE_MS, step_limit_ms()) : silence_limit_ms();
  if (link->has_post) heartbeat_await(&link->heartbeat);
  /* Only a member waits longer, as long as a leader lives. */
  const bool is_member = link->has_post && !is_leader;
  const bool is_whole = pass_barrier(link, true, is_member ? INFINITY : clock_ms() + limit_ms);
  if (!is_whole) {
    char why[FAIL_TEXT_BYTES];
    snprintf(why, sizeof why,
             is_member ? "no leader of a team has said anything for %.3g s; this ends the job"
                       : "not all ranks have come to the end of the job in %.3g s; this ends it",
             limit_ms * 1e-3);
    say_why(link, link->status == HALOTUNE_OK ? why : link->reason);
    if (is_member && *exit_code == 0) *exit_code = 1;
  }
  return is_whole;
}

/* MPI's own ends wait for other ranks, too. The owner watches them, without the lock. */
static void leave_mpi(struct link_mpi *link, bool is_abort, int exit_code) {
  const struct fleet_mpi_plugin *plugin = link->found.plugin;
  link->is_aborted = is_abort;
  link->exit_code = exit_code;
  link->leaves_ms = clock_ms();
  pthread_cond_broadcast(&link->news);
  pthread_mutex_unlock(&link->lock);
  fflush(NULL);
  if (is_abort) plugin->abort(exit_code);
  plugin->finish();
  pthread_mutex_lock(&link->lock);
}

/* End this rank's part. A lost rank does not come to a barrier of the job. So leaders ask each other for losses first,
 * and end the job when all teams are done. The lock is held. */
static void end_all(struct link_mpi *link) {
  const bool has_failed = link->is_failure || link->status != HALOTUNE_OK;
  const bool is_leader = link->has_post && link->post.world.rank == 0;
  const bool is_one_team = !link->has_post || link->heartbeat.leader_count == 1;
  const double limit_ms = has_failed ? FAILED_CLOSE_MS : is_leader ? CLOSE_MS : INFINITY;
  int exit_code = link->exit_code;
  bool is_whole = link->status == HALOTUNE_OK;
  if (is_whole && link->has_post) is_whole = pass_barrier(link, false, clock_ms() + limit_ms);
  if (link->has_post) heartbeat_await(&link->heartbeat);
  if (is_leader && !is_one_team && (is_whole || !has_failed)) {
    is_whole = meet_leaders(link, !is_whole, &exit_code);
  } else if (!is_whole && !has_failed && !is_one_team) {
    is_whole = true; /* a member leaves the end of the job to the leaders */
  }
  if (is_whole) is_whole = pass_last_barrier(link, is_leader, &exit_code);
  leave_mpi(link, !is_whole, !is_whole && has_failed && exit_code == 0 ? 1 : exit_code);
}

/* The thread. */
static void *run_thread(void *argument) {
  struct link_mpi *link = argument;
  double sleep_us = SHORTEST_SLEEP_US;
  begin_mpi(link);
  const bool has_begun_well = link->status == HALOTUNE_OK;
  while (!link->is_closing) {
    const bool was_well = link->status == HALOTUNE_OK;
    bool is_busy = false;
    if (link->order != ORDER_NONE && link->status == HALOTUNE_OK) obey_order(link);
    if (link->has_post && link->status == HALOTUNE_OK) note_failure(link, post_step(&link->post, clock_ms(), &is_busy));
    if (link->has_post && link->status == HALOTUNE_OK)
      note_failure(link, heartbeat_step(&link->heartbeat, clock_ms(), true));
    if (is_busy || (was_well && link->status != HALOTUNE_OK)) {
      pthread_cond_broadcast(&link->news);
      sleep_us = SHORTEST_SLEEP_US;
    }
    if (!link->is_closing && link->order == ORDER_NONE) link_doze(link, &sleep_us);
  }
  if (has_begun_well) end_all(link);
  link->has_ended = true;
  pthread_cond_broadcast(&link->news);
  pthread_mutex_unlock(&link->lock);
  return NULL;
}

static halotune_status link_send(void *state, int to, const void *bytes, size_t count, int timeout_ms) {
  struct link_mpi *link = state;
  const int size = link->post.world.size;
  if (count == 0 || count > FLEET_MESSAGE_MOST || to < 0 || to >= size || to == link->post.world.rank) {
    return fail(HALOTUNE_ARGUMENT, "a message of %zu bytes to rank %d of %d: it may have 1 to %d bytes", count, to,
                size, FLEET_MESSAGE_MOST);
  }
  pthread_mutex_lock(&link->lock);
  halotune_status status = failure_of(link);
  const double limit_ms = timeout_ms > 0 ? timeout_ms : POST_SILENCE_MS;
  if (status == HALOTUNE_OK) status = post_send(&link->post, to, bytes, count, limit_ms);
  pthread_cond_broadcast(&link->news);
  pthread_mutex_unlock(&link->lock);
  return status;
}

static halotune_status link_receive(void *state, int timeout_ms, int *from, bool *is_gone, struct text *out) {
  struct link_mpi *link = state;
  const double until_ms = clock_ms() + timeout_ms;
  halotune_status status = HALOTUNE_OK;
  bool is_time = true;
  *from = -1;
  pthread_mutex_lock(&link->lock);
  while (status == HALOTUNE_OK) {
    status = post_take(&link->post, from, is_gone, out);
    if (status == HALOTUNE_OK && *from < 0) status = failure_of(link);
    if (status != HALOTUNE_OK || *from >= 0 || !is_time) break;
    is_time = wait_until(link, until_ms);
  }
  pthread_mutex_unlock(&link->lock);
  return status;
}

static void link_drop(void *state, int rank) {
  struct link_mpi *link = state;
  pthread_mutex_lock(&link->lock);
  post_drop(&link->post, rank);
  pthread_mutex_unlock(&link->lock);
}

/* Wait for the end of the thread. It waits for other teams as long as they live, but MPI's own end has a limit. Returns
 * false if the thread is in MPI for ever. The lock is held. */
static bool await_end(struct link_mpi *link) {
  const double limit_ms = step_limit_ms();
  while (!link->has_ended && !link->is_stuck) {
    wait_until(link, clock_ms() + LOOK_MS);
    if (link->leaves_ms == 0 || clock_ms() < link->leaves_ms + limit_ms) continue;
    char why[FAIL_TEXT_BYTES];
    snprintf(why, sizeof why, "MPI has not ended after %.3g s", limit_ms * 1e-3);
    if (!link->has_ended && !link->is_aborted) say_why(link, why);
    if (!link->has_ended && link->is_aborted) _exit(link->exit_code);
    break;
  }
  return link->has_ended;
}

static void link_close(void *state, bool is_failure, int exit_code) {
  struct link_mpi *link = state;
  pthread_mutex_lock(&link->lock);
  link->is_closing = true;
  link->is_failure = is_failure;
  link->exit_code = exit_code;
  pthread_cond_broadcast(&link->news);
  const bool has_ended = await_end(link);
  pthread_mutex_unlock(&link->lock);
  if (!has_ended) return; /* the thread uses this memory until the process ends */
  pthread_join(link->thread, NULL);
  if (link->has_post) post_free(&link->post);
  heartbeat_free(&link->heartbeat);
  free(link->colours);
  found_plugin_free(&link->found);
  pthread_cond_destroy(&link->news);
  pthread_mutex_destroy(&link->lock);
  free(link);
}

static const struct fleet_link_table table = {"mpi", link_send, link_receive, link_drop, link_close};

/* Start the thread with all signals blocked. Other threads handle them. */
static halotune_status thread_start(struct link_mpi *link) {
  pthread_condattr_t attributes;
  sigset_t all, before;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&link->news, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&link->lock, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&link->thread, NULL, run_thread, link);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error ? fail(HALOTUNE_IO, "MPI's thread cannot be started: %s", strerror(error)) : HALOTUNE_OK;
}

/* Wait until MPI has begun. */
static halotune_status await_begin(struct link_mpi *link) {
  const double begin_ms = step_limit_ms(), until_ms = clock_ms() + begin_ms;
  bool is_time = true;
  pthread_mutex_lock(&link->lock);
  while (!link->has_begun && is_time) is_time = wait_until(link, until_ms);
  halotune_status status = failure_of(link);
  if (!link->has_begun)
    status = fail(HALOTUNE_IO, "MPI has not begun after %.3g s: not all ranks have started", begin_ms * 1e-3);
  pthread_mutex_unlock(&link->lock);
  return status;
}

/* With an MPI that the launcher does not know, each rank believes that it is alone. */
static halotune_status worlds_compare(const struct link_mpi *link, const struct launcher *launcher) {
  if (link->world.size == launcher->size) return HALOTUNE_OK;
  return fail(
      HALOTUNE_IO,
      "%s started %d ranks, but for %s there %s %d: launcher and plug-in belong to different MPIs; start it with the launcher of that MPI, or set HALOTUNE_MPI=openmpi or HALOTUNE_MPI=mpich (plug-in: %s)",
      launcher->name, launcher->size, link->world.library, link->world.size == 1 ? "is" : "are", link->world.size,
      link->found.path);
}

halotune_status link_mpi_open(const struct launcher *launcher, struct link_mpi **out) {
  struct link_mpi *link = calloc(1, sizeof *link);
  *out = NULL;
  if (!link) return fail_memory();
  halotune_status status = find_plugin(launcher->plugin, launcher->name, launcher->size, &link->found);
  if (status == HALOTUNE_OK) status = thread_start(link);
  if (status != HALOTUNE_OK) {
    found_plugin_free(&link->found);
    free(link);
    return status;
  }
  status = await_begin(link);
  if (status == HALOTUNE_OK) status = worlds_compare(link, launcher);
  /* After a failure the thread may be in MPI for ever, so that its memory stays until the process ends. */
  if (status == HALOTUNE_OK) *out = link;
  return status;
}

const struct fleet_mpi_world *link_mpi_world(const struct link_mpi *job) { return &job->world; }

/* Give the thread an order, and wait until it is done. The lock is held. */
static halotune_status order_give(struct link_mpi *job, enum order order) {
  /* The thread's own limit comes first. */
  const double limit_ms = step_limit_ms(), until_ms = clock_ms() + 2 * limit_ms;
  if (job->status != HALOTUNE_OK) return failure_of(job); /* the thread obeys no more */
  job->order = order;
  pthread_cond_broadcast(&job->news);
  while (job->order != ORDER_NONE && job->status == HALOTUNE_OK && !job->is_stuck)
    job->is_stuck = !wait_until(job, until_ms) && job->order != ORDER_NONE && clock_ms() >= until_ms;
  if (job->is_stuck)
    note_failure(job, fail(HALOTUNE_IO, "MPI has not formed teams of the %d ranks after %.3g s", job->world.size,
                           limit_ms * 1e-3));
  return failure_of(job);
}

halotune_status link_mpi_gather(struct link_mpi *job, const void *own, size_t bytes, void *all) {
  pthread_mutex_lock(&job->lock);
  job->own = own;
  job->all = all;
  job->bytes = bytes;
  halotune_status status = order_give(job, ORDER_GATHER);
  pthread_mutex_unlock(&job->lock);
  return status;
}

halotune_status link_mpi_team(struct link_mpi *job, int colour, struct fleet_link *out) {
  int *colours = calloc((size_t)job->world.size, sizeof *colours);
  if (!colours) return fail_memory();
  pthread_mutex_lock(&job->lock);
  job->colour = colour;
  job->colours = colours;
  halotune_status status = order_give(job, ORDER_SPLIT);
  if (status == HALOTUNE_OK) *out = (struct fleet_link){&table, job, job->post.world.rank, job->post.world.size};
  pthread_mutex_unlock(&job->lock);
  return status;
}

void link_mpi_leave(struct link_mpi *job) { link_close(job, false, 0); }
