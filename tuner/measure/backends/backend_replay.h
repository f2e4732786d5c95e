/* backend_replay.h: a backend that runs nothing. It answers in microseconds from a database of an earlier run, so that
 * strategies can be compared without a GPU. */
#ifndef MEASURE_BACKENDS_BACKEND_REPLAY_H
#define MEASURE_BACKENDS_BACKEND_REPLAY_H

#include "tuner/measure/backends/backend.h"

enum { REPLAY_IN_FLIGHT = 32, REPLAY_MOST_IN_FLIGHT = 256 }; /* variants in flight by default, and at most */

/* Open a recording, which is a tuning database. Its device is the one with the most results. The problem must have been
 * recorded. Variants that were not recorded are OUTCOME_PRUNED; the others have their recorded outcome. Samples are
 * drawn evenly from the stored ones. If only a summary was stored, every sample is the median.
 *
 * Its clock starts at clock_ms(), and advances by recorded times only: each variant waits for its compile, and for the
 * GPU, which runs one variant at a time. Samples, runs that are verified, and the final rounds take their recorded
 * times. Loads, comparisons and the program itself take none, because no recording has their times.
 *   in_flight  how many variants have been proposed and have no result at a time, each with a compiler of its own; 1 to
 *              REPLAY_MOST_IN_FLIGHT
 * Returns HALOTUNE_OK; what store_open returns; HALOTUNE_NOT_FOUND if there is no result in it. */
halotune_status backend_replay_open(const char *path, int in_flight, struct backend_handle *out);

#endif
