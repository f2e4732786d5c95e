/* parallel.h: one loop on several threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

enum { PARALLEL_MAX_THREADS = 256 };

/* The number of threads for a user's wish, from 1 to PARALLEL_MAX_THREADS. A wish of 0 or less means one thread for each CPU that
 * this process may use. */
int parallel_threads(int wanted);

/* The part of a loop from `first` up to and without `end`, run by thread number `thread`, which counts from 0. */
typedef void parallel_work(void *context, int thread, long first, long end);

/* Run a loop from 0 up to and without `count`, part by part, and return when all of it is done.
 *   grain    indices of one part, at least 1; a part goes to the next free thread, so it should be a few microseconds of work or more
 *   threads  as parallel_threads returned it, the caller's own included. If the system refuses some, fewer threads do the work
 * `work` must not care which thread runs which part, nor in what order. What it passes to fail() is lost with its thread. */
void parallel_for(long count, long grain, int threads, parallel_work *work, void *context);

#endif
