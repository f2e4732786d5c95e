/* parallel.h: one loop on several threads. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

enum { PARALLEL_MAX_THREADS = 256 };

/* The number of threads that a user's wish stands for, from 1 to PARALLEL_MAX_THREADS: the wish itself, or where it is not
 * positive one for each CPU that this process may use. */
int parallel_threads(int wanted);

/* The part of a loop from `first` up to and without `end`, run by thread number `thread`, which counts from 0. */
typedef void parallel_work(void *context, int thread, long first, long end);

/* Run a loop from 0 up to and without `count`, part by part, and return when all of it is done.
 *   grain    indices of one part, at least 1; parts go to whichever thread is free, so make them no smaller than what a
 *            few microseconds of work are
 *   threads  as parallel_threads returned it; the caller's own is the first of them. Where the system refuses more, fewer
 *            do the work
 * `work` must not care which thread runs which part, nor in what order. What it passes to fail() is lost with its thread. */
void parallel_for(long count, long grain, int threads, parallel_work *work, void *context);

#endif
