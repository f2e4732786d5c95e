/* compile_pool.c: the program's side of the compile workers. Only the poll in compile_pool_wait and the start and stop
 * of a worker block.
 *
 * A worker compiles the first of its jobs while the second one waits in its socket. The pool keeps the bytes of a
 * request until its result has arrived, so that it can send a job again if the job before it crashed the worker. */
#include "gpu/workers/compile_pool.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/cores.h"
#include "base/system/process.h"
#include "gpu/workers/compile_worker.h"

enum {
  JOBS_A_WORKER = 2,
  PARTS = 12 /* of a compile's limit; a time in which the program was stopped counts as one */
};

struct job {
  uint64_t id;
  struct text message;
  size_t sent; /* number of bytes of the message that are already sent */
  /* a worker died before it read this job, so that the job was not to blame; it is blamed for the next death */
  bool was_spared;
};

struct worker {
  int socket; /* -1: not running */
  pid_t pid;
  struct job jobs[JOBS_A_WORKER];
  int job_count;
  double deadline_ms; /* deadline of jobs[0] */
  struct text received;
};

struct compile_pool {
  struct spawner spawner;
  struct nvrtc nvrtc; /* the library is loaded only in the spawner's process; here only its facts are set */
  double timeout_ms;
  struct time_source clock; /* the clock of the deadlines */
  double looked_ms;         /* when the deadlines were last looked at */
  int next;                 /* the worker that is checked first; it changes, so that no worker is always last */
  int worker_count;
  struct worker workers[];
};

const char *compile_outcome_name(enum compile_outcome outcome) {
  static const char *const names[] = {
#define AS_NAME(name, text) text,
      COMPILE_OUTCOME_LIST(AS_NAME)};
  return names[outcome];
}

halotune_status compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out) {
  struct text said = {0};
  *out = NULL;
  int count = options->workers > 0 ? options->workers : cores_usable();
  struct compile_pool *pool = calloc(1, sizeof *pool + (size_t)count * sizeof *pool->workers);
  if (!pool) return fail_memory();
  pool->timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : COMPILE_POOL_TIMEOUT_MS;
  pool->clock = options->clock;
  pool->worker_count = count;
  for (int i = 0; i < count; i++) pool->workers[i].socket = -1;
  struct spawner_program program = compile_worker_program(&pool->nvrtc);
  program.memory_bytes = options->memory_bytes > 0 ? options->memory_bytes : COMPILE_POOL_MEMORY_BYTES;
  halotune_status status = spawner_open(&program, &said, &pool->spawner);
  if (status == HALOTUNE_OK && !compile_worker_facts(&said, &pool->nvrtc.facts)) status = fail_memory();
  text_free(&said);
  if (status == HALOTUNE_OK) *out = pool;
  else compile_pool_close(pool);
  return status;
}

const struct nvrtc_facts *compile_pool_nvrtc(const struct compile_pool *pool) { return &pool->nvrtc.facts; }

/* Kill the worker's process. Returns its wait status. */
static int worker_stop(struct compile_pool *pool, struct worker *worker) {
  int how = spawner_stop(&pool->spawner, worker->pid);
  close(worker->socket);
  worker->socket = -1;
  text_free(&worker->received);
  return how;
}

/* Drop the worker's jobs and kill its process. */
static void worker_clear(struct compile_pool *pool, struct worker *worker) {
  if (worker->socket >= 0) worker_stop(pool, worker);
  for (int i = 0; i < worker->job_count; i++) text_free(&worker->jobs[i].message);
  worker->job_count = 0;
}

void compile_pool_drop(struct compile_pool *pool) {
  for (int i = 0; i < pool->worker_count; i++) {
    if (pool->workers[i].job_count > 0) worker_clear(pool, &pool->workers[i]);
  }
}

void compile_pool_close(struct compile_pool *pool) {
  if (!pool) return;
  for (int i = 0; i < pool->worker_count; i++) worker_clear(pool, &pool->workers[i]);
  spawner_close(&pool->spawner);
  free(pool);
}

void compile_result_free(struct compile_result *result) { compiled_free(&result->compiled); }

static struct worker *least_busy(struct compile_pool *pool) {
  struct worker *best = &pool->workers[0];
  for (int i = 1; i < pool->worker_count; i++) {
    if (pool->workers[i].job_count < best->job_count) best = &pool->workers[i];
  }
  return best;
}

bool compile_pool_has_room(const struct compile_pool *pool) {
  return compile_pool_pending(pool) < pool->worker_count * JOBS_A_WORKER;
}

int compile_pool_pending(const struct compile_pool *pool) {
  int pending = 0;
  for (int i = 0; i < pool->worker_count; i++) pending += pool->workers[i].job_count;
  return pending;
}

pid_t compile_pool_process(const struct compile_pool *pool, uint64_t id) {
  for (int i = 0; i < pool->worker_count; i++) {
    const struct worker *worker = &pool->workers[i];
    if (worker->job_count > 0 && worker->jobs[0].id == id && worker->socket >= 0) return worker->pid;
  }
  return 0;
}

/* The deadline of a job whose compile begins now. */
static double deadline_of_job(const struct compile_pool *pool) { return time_now_ms(&pool->clock) + pool->timeout_ms; }

/* Remove the worker's first job, which is done. The worker then compiles the next one. */
static void worker_next_job(const struct compile_pool *pool, struct worker *worker) {
  text_free(&worker->jobs[0].message);
  worker->job_count--;
  memmove(worker->jobs, worker->jobs + 1, (size_t)worker->job_count * sizeof *worker->jobs);
  worker->deadline_ms = deadline_of_job(pool);
}

/* Send as much of the jobs' messages as the socket accepts. A dead worker accepts nothing; worker_receive finds that
 * out. */
static void worker_send(struct worker *worker) {
  for (int i = 0; i < worker->job_count; i++) {
    struct job *job = &worker->jobs[i];
    while (job->sent < job->message.length) {
      ssize_t sent = send(worker->socket, job->message.bytes + job->sent, job->message.length - job->sent,
                          MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return;
      job->sent += (size_t)sent;
    }
  }
}

static bool worker_has_unsent(const struct worker *worker) {
  for (int i = 0; i < worker->job_count; i++) {
    if (worker->jobs[i].sent < worker->jobs[i].message.length) return true;
  }
  return false;
}

/* Make sure that the worker has a process, and send its jobs. */
static halotune_status worker_feed(struct compile_pool *pool, struct worker *worker) {
  if (worker->socket < 0) {
    halotune_status status = spawner_start(&pool->spawner, &worker->pid, &worker->socket);
    if (status != HALOTUNE_OK) return status;
    worker->deadline_ms = deadline_of_job(pool);
    for (int i = 0; i < worker->job_count; i++) worker->jobs[i].sent = 0;
  }
  worker_send(worker);
  return HALOTUNE_OK;
}

/* Move the deadlines on after a long time in which nobody looked at them: the program was busy elsewhere, or it was
 * stopped, and its workers with it. */
static void forgive_gap(struct compile_pool *pool) {
  const double now_ms = time_now_ms(&pool->clock), gap_ms = now_ms - pool->looked_ms;
  const double more_ms = gap_ms - pool->timeout_ms / PARTS;
  pool->looked_ms = now_ms;
  for (int i = 0; i < pool->worker_count && more_ms > 0; i++)
    pool->workers[i].deadline_ms = fmin(pool->workers[i].deadline_ms + more_ms, now_ms + pool->timeout_ms);
}

halotune_status compile_pool_submit(struct compile_pool *pool, uint64_t id, const struct compile_request *request) {
  struct worker *worker = least_busy(pool);
  if (worker->job_count == JOBS_A_WORKER) return fail(HALOTUNE_ARGUMENT, "the compile pool has no room");
  struct job job = {.id = id};
  forgive_gap(pool);
  compile_worker_request(request, &job.message);
  if (!text_ok(&job.message)) {
    text_free(&job.message);
    return fail_memory();
  }
  if (worker->job_count == 0) worker->deadline_ms = deadline_of_job(pool);
  worker->jobs[worker->job_count++] = job;
  halotune_status status = worker_feed(pool, worker);
  if (status != HALOTUNE_OK) text_free(&worker->jobs[--worker->job_count].message);
  return status;
}

/* Read all bytes that are in the socket. Returns false if the worker is dead. */
static bool worker_receive(struct worker *worker) {
  char chunk[65536];
  for (;;) {
    ssize_t got = recv(worker->socket, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got > 0) text_add(&worker->received, chunk, (size_t)got);
    else if (got < 0 && errno == EINTR) continue;
    else return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

/* The body of the first complete message among the received bytes; NULL if there is none. */
static const char *worker_message(const struct worker *worker, uint64_t *length) {
  if (worker->received.length < MESSAGE_HEAD_BYTES) return NULL;
  memcpy(length, worker->received.bytes, sizeof *length);
  return worker->received.length - MESSAGE_HEAD_BYTES >= *length ? worker->received.bytes + MESSAGE_HEAD_BYTES : NULL;
}

/* Only two statuses of compile_source are about the request. The others say that the machine or NVRTC failed. */
static enum compile_outcome outcome_of(halotune_status status) {
  if (status == HALOTUNE_OK) return COMPILE_OK;
  return status == HALOTUNE_COMPILE || status == HALOTUNE_ARGUMENT ? COMPILE_FAILED : COMPILE_CRASHED;
}

static halotune_status take_reply(const struct compile_pool *pool, struct worker *worker, const char *body,
                                  uint64_t length, struct compile_result *out) {
  halotune_status compile_status;
  struct compile_result result = {.id = worker->jobs[0].id, .worker = (int)(worker - pool->workers)};
  halotune_status status = compile_worker_reply(body, length, &result.times, &compile_status, &result.compiled);
  if (status != HALOTUNE_OK) return status;
  result.outcome = outcome_of(compile_status);
  struct text *received = &worker->received;
  received->length -= MESSAGE_HEAD_BYTES + length;
  memmove(received->bytes, body + length, received->length + 1); /* including the NUL */
  worker_next_job(pool, worker);
  *out = result;
  return HALOTUNE_OK;
}

/* End the worker's first job without a reply. `log` says why. */
static halotune_status take_loss(const struct compile_pool *pool, struct worker *worker, enum compile_outcome outcome,
                                 struct text *log, struct compile_result *out) {
  if (!text_ok(log)) {
    text_free(log);
    return fail_memory();
  }
  *out = (struct compile_result){.id = worker->jobs[0].id, .outcome = outcome, .compiled.log = log->bytes};
  worker_next_job(pool, worker);
  return HALOTUNE_OK;
}

static halotune_status take_timeout(struct compile_pool *pool, struct worker *worker, struct compile_result *out) {
  struct text log = {0};
  worker_stop(pool, worker);
  text_printf(&log, "no result after %.0f ms; the compiler was killed", pool->timeout_ms);
  return take_loss(pool, worker, COMPILE_TIMEOUT, &log, out);
}

/* Handle a damaged reply: the compiler must have overwritten the worker's memory. */
static halotune_status take_garbage(struct compile_pool *pool, struct worker *worker, struct compile_result *out) {
  struct text log = {0};
  worker_stop(pool, worker);
  text_printf(&log, "the compiler's answer was damaged");
  return take_loss(pool, worker, COMPILE_CRASHED, &log, out);
}

/* Handle a dead worker. Its first job is to blame, unless the worker died before it had read the job. */
static halotune_status take_death(struct compile_pool *pool, struct worker *worker, struct compile_result *out,
                                  bool *have) {
  struct text log = {0};
  int how = worker_stop(pool, worker);
  if (worker->job_count == 0) return HALOTUNE_OK;
  struct job *job = &worker->jobs[0];
  if (job->sent < job->message.length && !job->was_spared) {
    job->was_spared = true;
    return HALOTUNE_OK;
  }
  if (how == PROCESS_NOT_ENDED) {
    text_printf(&log, "the compiler was killed, but is not known to have ended");
  } else if (WIFSIGNALED(how)) {
    text_printf(&log, "the compiler died of signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how)));
  } else {
    text_printf(&log, "the compiler exited with status %d", WEXITSTATUS(how));
  }
  *have = true;
  return take_loss(pool, worker, COMPILE_CRASHED, &log, out);
}

/* Send and receive bytes of one worker, and take one result if it has one. */
static halotune_status worker_tend(struct compile_pool *pool, struct worker *worker, struct compile_result *out,
                                   bool *have) {
  uint64_t length;
  if (worker->job_count > 0) {
    halotune_status status = worker_feed(pool, worker);
    if (status != HALOTUNE_OK) return status;
  }
  if (worker->socket < 0) return HALOTUNE_OK;
  bool alive = worker_receive(worker);
  if (!text_ok(&worker->received)) return fail_memory();
  const char *body = worker->job_count > 0 ? worker_message(worker, &length) : NULL;
  if (body) {
    *have = true;
    halotune_status status = take_reply(pool, worker, body, length, out);
    return status == HALOTUNE_PARSE ? take_garbage(pool, worker, out) : status;
  }
  if (!alive) return take_death(pool, worker, out, have);
  if (worker->job_count == 0 || time_now_ms(&pool->clock) < worker->deadline_ms) return HALOTUNE_OK;
  *have = true;
  return take_timeout(pool, worker, out);
}

/* Sleep until a socket is ready, a part of the limit is over, or `left_ms` are. */
static halotune_status wait_for_workers(struct compile_pool *pool, double left_ms) {
  struct pollfd *sockets = calloc((size_t)pool->worker_count, sizeof *sockets);
  if (!sockets) return fail_memory();
  double now_ms = time_now_ms(&pool->clock);
  left_ms = fmin(left_ms, pool->timeout_ms / PARTS);
  for (int i = 0; i < pool->worker_count; i++) {
    struct worker *worker = &pool->workers[i];
    sockets[i] = (struct pollfd){.fd = worker->socket, .events = POLLIN};
    if (worker->job_count == 0) continue;
    if (worker_has_unsent(worker)) sockets[i].events |= POLLOUT;
    if (worker->socket < 0) left_ms = 0; /* a worker that died while idle has new jobs */
    if (worker->deadline_ms - now_ms < left_ms) left_ms = worker->deadline_ms - now_ms;
  }
  /* Round up, otherwise the last millisecond would be a busy loop. An interrupt only shortens the wait. */
  poll(sockets, (nfds_t)pool->worker_count, left_ms > 0 ? (int)left_ms + 1 : 0);
  free(sockets);
  return HALOTUNE_OK;
}

halotune_status compile_pool_wait(struct compile_pool *pool, int timeout_ms, struct compile_result *out, bool *have) {
  double until_ms = clock_ms() + timeout_ms;
  *have = false;
  while (compile_pool_pending(pool) > 0) {
    forgive_gap(pool);
    for (int i = 0; i < pool->worker_count; i++) {
      struct worker *worker = &pool->workers[pool->next];
      pool->next = (pool->next + 1) % pool->worker_count;
      halotune_status status = worker_tend(pool, worker, out, have);
      if (status != HALOTUNE_OK) *have = false;
      if (status != HALOTUNE_OK || *have) return status;
    }
    double now_ms = clock_ms();
    if (timeout_ms >= 0 && now_ms >= until_ms) break;
    halotune_status status = wait_for_workers(pool, timeout_ms < 0 ? INFINITY : until_ms - now_ms);
    if (status != HALOTUNE_OK) return status;
  }
  return HALOTUNE_OK;
}
