/* limited_call.c: one thread for each call. A call that is late is forgotten by its caller, and frees itself. */
#include "base/system/limited_call.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The wait has so many parts. If the process is stopped during a part, that part still counts once. */
enum { PARTS = 12, STACK_BYTES = 8 << 20 };

/* What caller and thread share. The one that comes last frees it. */
struct call {
  struct limited_call how;
  void *job;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool has_ended, is_left;
  halotune_status status;
  struct fail_kept detail;
};

static atomic_int calls_left;

bool limited_call_is_left(void) { return atomic_load(&calls_left) > 0; }

static void call_free(struct call *call) {
  pthread_cond_destroy(&call->changed);
  pthread_mutex_destroy(&call->lock);
  free(call);
}

static void *thread_run(void *argument) {
  struct call *call = argument;
  const halotune_status status = call->how.work(call->job);
  pthread_mutex_lock(&call->lock);
  call->status = status;
  fail_keep(&call->detail);
  call->has_ended = true;
  const bool is_left = call->is_left;
  pthread_cond_signal(&call->changed);
  pthread_mutex_unlock(&call->lock);
  if (!is_left) return NULL; /* the caller frees it */
  call->how.drop(call->job);
  atomic_fetch_sub(&calls_left, 1);
  call_free(call);
  return NULL;
}

/* Start the thread. Compilers need the stack of a main thread. */
static bool thread_start(struct call *call, pthread_t *thread) {
  pthread_attr_t attributes;
  sigset_t all, before;
  size_t stack_bytes = 0;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_getstacksize(&attributes, &stack_bytes);
  if (stack_bytes < STACK_BYTES) pthread_attr_setstacksize(&attributes, STACK_BYTES);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool is_started = pthread_create(thread, &attributes, thread_run, call) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return is_started;
}

static struct timespec after_ms(int wait_ms) {
  enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000 };
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_sec += wait_ms / MS_PER_S;
  at.tv_nsec += (long)(wait_ms % MS_PER_S) * NS_PER_MS;
  if (at.tv_nsec >= NS_PER_S) at.tv_sec++, at.tv_nsec -= NS_PER_S;
  return at;
}

/* Wait for the end, with the lock held. Returns whether it came. */
static bool end_await(struct call *call) {
  for (int part = 0; part < PARTS; part++) {
    const struct timespec until = after_ms(call->how.limit_ms / PARTS + 1);
    int error = 0;
    while (!call->has_ended && error == 0) error = pthread_cond_timedwait(&call->changed, &call->lock, &until);
    if (call->has_ended) return true;
  }
  return false;
}

static struct call *call_make(const struct limited_call *how, void *job) {
  struct call *call = calloc(1, sizeof *call);
  pthread_condattr_t attributes;
  if (!call) return NULL;
  call->how = *how;
  call->job = job;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_mutex_init(&call->lock, NULL);
  pthread_cond_init(&call->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return call;
}

halotune_status limited_call(const struct limited_call *how, void *job, bool *is_late) {
  struct call *call = call_make(how, job);
  pthread_t thread;
  *is_late = false;
  if (!call) return fail_memory();
  if (!thread_start(call, &thread)) {
    call_free(call);
    return fail(HALOTUNE_MEMORY, "the system gives no thread for a call with a limit");
  }
  pthread_mutex_lock(&call->lock);
  *is_late = !end_await(call);
  call->is_left = *is_late;
  if (*is_late) atomic_fetch_add(&calls_left, 1);
  const halotune_status status = call->status;
  pthread_mutex_unlock(&call->lock);
  if (*is_late) {
    const void *function;
    memcpy(&function, &how->work, sizeof function); /* C has no cast from a function pointer to an object pointer */
    limited_call_keep(function);
    pthread_detach(thread);
    return HALOTUNE_CANCELLED;
  }
  pthread_join(thread, NULL); /* until the thread has left this library, which the program may unload next */
  if (status != HALOTUNE_OK) fail_put_back(&call->detail);
  call_free(call);
  return status;
}

void limited_call_keep(const void *function) {
  Dl_info info;
  /* No dlclose follows: RTLD_NODELETE holds for the rest of the program. */
  if (dladdr(function, &info) != 0 && info.dli_fname)
    (void)dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}
