/* link_mpi.c: the thread in which MPI runs, and the link that hands messages to it. */
#include "tuner/fleet/link_mpi.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tuner/fleet/mpi/find_plugin.h"
#include "tuner/fleet/mpi/post.h"

enum { SHORTEST_SLEEP_US = 20, LONGEST_SLEEP_US = 5000, CLOSE_MS = 30000, FAILED_ABORT_CODE = 1 };

/* What the owner of the link and the thread share, under the lock. */
struct link_mpi {
  struct found_plugin found;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t news; /* for the owner: something came; for the thread: there is something to send, or the end */
  struct post post;
  struct fleet_mpi_world world;
  bool has_begun, has_post, is_closing, is_failure, has_ended;
  halotune_status status; /* of the thread */
  char reason[FAIL_TEXT_BYTES];
};

static void note_failure(struct link_mpi *link, halotune_status status) {
  if (status == HALOTUNE_OK || link->status != HALOTUNE_OK) return;
  link->status = status;
  snprintf(link->reason, sizeof link->reason, "%s", fail_text());
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

/* End the job: with the usual end if all ranks come to it. The lock is held. */
static void end_all(struct link_mpi *link) {
  const struct fleet_mpi_plugin *plugin = link->found.plugin;
  const double until_ms = clock_ms() + CLOSE_MS;
  void *barrier = NULL;
  bool is_busy = false, is_through = false;
  int error = 0;
  halotune_status status = link->status;
  while (!is_through && error == 0 && status == HALOTUNE_OK && !link->is_failure && post_is_whole(&link->post)) {
    if (link->world.rank == 0 && clock_ms() >= until_ms) break;
    status = post_step(&link->post, clock_ms(), &is_busy);
    if (!barrier && post_is_sent(&link->post)) error = plugin->barrier(&barrier);
    if (barrier && error == 0) error = plugin->has_ended(barrier, &is_through);
    if (!is_through) wait_until(link, clock_ms() + 1);
  }
  fflush(NULL);
  if (!is_through) plugin->abort(link->is_failure || status != HALOTUNE_OK ? FAILED_ABORT_CODE : 0);
  plugin->finish();
}

static void begin(struct link_mpi *link) {
  struct fleet_mpi_world world;
  char text[FLEET_MPI_TEXT_BYTES] = "";
  const int error = link->found.plugin->begin(&world);
  if (error) link->found.plugin->error_text(error, text);
  pthread_mutex_lock(&link->lock);
  link->world = world;
  if (error) {
    note_failure(link, fail(HALOTUNE_IO, "MPI cannot begin: %s", text));
  } else {
    note_failure(link, post_open(link->found.plugin, &world, clock_ms(), &link->post));
    link->has_post = link->status == HALOTUNE_OK;
  }
  link->has_begun = true;
  pthread_cond_broadcast(&link->news);
}

/* The thread. Signals go to other threads, which know what to do with them. */
static void *run(void *argument) {
  struct link_mpi *link = argument;
  double sleep_us = SHORTEST_SLEEP_US;
  begin(link);
  while (link->status == HALOTUNE_OK && !link->is_closing) {
    bool is_busy = false;
    note_failure(link, post_step(&link->post, clock_ms(), &is_busy));
    if (is_busy || link->status != HALOTUNE_OK) {
      pthread_cond_broadcast(&link->news);
      sleep_us = SHORTEST_SLEEP_US;
    } else if (sleep_us < LONGEST_SLEEP_US) {
      sleep_us *= 1.2;
    }
    wait_until(link, clock_ms() + sleep_us * 1e-3);
  }
  while (!link->is_closing) pthread_cond_wait(&link->news, &link->lock);
  if (link->has_post) end_all(link);
  link->has_ended = true;
  pthread_mutex_unlock(&link->lock);
  return NULL;
}

static halotune_status link_send(void *state, int to, const void *bytes, size_t count, int timeout_ms) {
  struct link_mpi *link = state;
  if (count == 0 || count > FLEET_MESSAGE_MOST || to < 0 || to >= link->world.size || to == link->world.rank) {
    return fail(HALOTUNE_ARGUMENT, "a message of %zu bytes to rank %d of %d: it may have 1 to %d bytes", count, to,
                link->world.size, FLEET_MESSAGE_MOST);
  }
  pthread_mutex_lock(&link->lock);
  halotune_status status = failure_of(link);
  if (status == HALOTUNE_OK) status = post_send(&link->post, to, bytes, count, clock_ms() + timeout_ms);
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

static void link_free(struct link_mpi *link) {
  if (link->has_post) post_free(&link->post);
  found_plugin_free(&link->found);
  pthread_cond_destroy(&link->news);
  pthread_mutex_destroy(&link->lock);
  free(link);
}

static void link_close(void *state, bool is_failure) {
  struct link_mpi *link = state;
  pthread_mutex_lock(&link->lock);
  link->is_closing = true;
  link->is_failure = is_failure;
  pthread_cond_broadcast(&link->news);
  pthread_mutex_unlock(&link->lock);
  pthread_join(link->thread, NULL);
  link_free(link);
}

static const struct fleet_link_table table = {"mpi", link_send, link_receive, link_drop, link_close};

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
  const int error = pthread_create(&link->thread, NULL, run, link);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error ? fail(HALOTUNE_IO, "MPI's thread cannot be started: %s", strerror(error)) : HALOTUNE_OK;
}

/* Wait until MPI has begun. */
static halotune_status await_begin(struct link_mpi *link, int begin_ms) {
  const double until_ms = clock_ms() + begin_ms;
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

halotune_status link_mpi_open(const struct launcher *launcher, int begin_ms, struct fleet_link *out,
                              struct fleet_mpi_world *world) {
  struct link_mpi *link = calloc(1, sizeof *link);
  if (!link) return fail_memory();
  halotune_status status = find_plugin(launcher, &link->found);
  if (status == HALOTUNE_OK) status = thread_start(link);
  if (status != HALOTUNE_OK) {
    found_plugin_free(&link->found);
    free(link);
    return status;
  }
  status = await_begin(link, begin_ms);
  if (status == HALOTUNE_OK) status = worlds_compare(link, launcher);
  /* After a failure the thread may be in MPI for ever, so that its memory stays until the process ends. */
  if (status != HALOTUNE_OK) return status;
  *world = link->world;
  *out = (struct fleet_link){&table, link, link->world.rank, link->world.size};
  return HALOTUNE_OK;
}
