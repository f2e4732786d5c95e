/* backend_replay.h: a backend that runs nothing: it answers from what a database has of an earlier run, in microseconds, so that
 * strategies can be compared without a GPU. */
#ifndef MEASURE_BACKENDS_BACKEND_REPLAY_H
#define MEASURE_BACKENDS_BACKEND_REPLAY_H

#include "tuner/measure/backends/backend.h"

/* Open a recording: a tuning database. Its device is the one with the most results.
 * A problem has to be one that was recorded. Variants that were not are OUTCOME_PRUNED; the others come to what they came to then.
 * Their samples are drawn, evenly, from those that were stored; where only a summary is, every sample is the median.
 * Returns HALOTUNE_OK; what store_open returns; HALOTUNE_NOT_FOUND where there is no result in it. */
halotune_status backend_replay_open(const char *path, struct backend_handle *out);

#endif
