/* parallel.c: runs a loop on several threads, which take its parts from one counter. */
#include "base/system/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/system/cores.h"

struct team {
  long count, grain;
  parallel_work *work;
  void *context;
  atomic_long next; /* the first index that no thread has taken */
  atomic_int next_thread;
};

int parallel_threads(int wanted) {
  if (wanted <= 0) wanted = cores_usable();
  return wanted < PARALLEL_MAX_THREADS ? wanted : PARALLEL_MAX_THREADS;
}

static void *work_along(void *argument) {
  struct team *team = argument;
  int thread = atomic_fetch_add(&team->next_thread, 1);
  for (;;) {
    long first = atomic_fetch_add(&team->next, team->grain);
    if (first >= team->count) return NULL;
    long left = team->count - first;
    team->work(team->context, thread, first, first + (left < team->grain ? left : team->grain));
  }
}

void parallel_for(long count, long grain, int threads, parallel_work *work, void *context) {
  if (count <= 0) return;
  struct team team = {.count = count, .grain = grain, .work = work, .context = context};
  long parts = 1 + (count - 1) / grain;
  pthread_t helpers[PARALLEL_MAX_THREADS];
  int helper_count = 0;
  while (helper_count + 1 < threads && helper_count + 1 < parts) {
    if (pthread_create(&helpers[helper_count], NULL, work_along, &team) != 0) break;
    helper_count++;
  }
  work_along(&team);
  for (int i = 0; i < helper_count; i++) pthread_join(helpers[i], NULL);
}
