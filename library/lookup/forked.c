/* forked.c: counts forks, and holds a lock during each. */
#include "library/lookup/forked.h"

#include <pthread.h>

#include "base/files/locked_files.h"

atomic_uint forked_count;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) { pthread_mutex_lock(&gate); }
static void in_parent(void) { pthread_mutex_unlock(&gate); }
static void in_child(void) {
  atomic_fetch_add(&forked_count, 1);
  pthread_mutex_unlock(&gate);
}

/* If there is no memory for the handlers, a child is not told from its parent. A fork then takes the gate before the
 * lock of the open files, as those do who read a database. */
static void register_handlers(void) {
  locked_files_guard_forks();
  (void)pthread_atfork(before_fork, in_parent, in_child);
}

/* A program may hold a lock of its own while it calls the library, and take this lock before a fork. The handlers of
 * the library are registered when it is loaded, before those of the program: then a fork takes the program's lock
 * first, too. */
__attribute__((constructor)) static void register_at_load(void) { pthread_once(&once, register_handlers); }

unsigned forked_generation(void) { return atomic_load_explicit(&forked_count, memory_order_relaxed); }

halotune_status forked_fail(void) {
  return fail(HALOTUNE_ARGUMENT, "this ctx was opened before the fork; call halotune_open in the child");
}

void forked_enter(void) { pthread_mutex_lock(&gate); }
void forked_leave(void) { pthread_mutex_unlock(&gate); }
