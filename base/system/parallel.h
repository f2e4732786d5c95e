/* parallel.h: runs one loop on several threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

enum { PARALLEL_MAX_THREADS = 256 };

/* The number of threads to use, from 1 to PARALLEL_MAX_THREADS. If `wanted` is 0 or less, it is one thread for each CPU
 * that this process may use. */
int parallel_threads(int wanted);

/* Do the part of a loop from `first` to `end` - 1 in thread number `thread`, which counts from 0. */
typedef void parallel_work(void *context, int thread, long first, long end);

/* Run a loop from 0 to `count` - 1 in parts, and return when all parts are done.
 *   grain    indices of one part, at least 1; a part should take a few microseconds or more, since each is handed out
 *            separately
 *   threads  from parallel_threads, including the calling thread. If the system refuses some, fewer threads do the work
 * `work` must not depend on which thread runs which part, nor on their order. Error texts that it sets with fail() are
 * lost with its thread. */
void parallel_for(long count, long grain, int threads, parallel_work *work, void *context);

#endif
