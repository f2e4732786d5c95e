/* backend_replay.h: a backend that runs nothing. It answers in microseconds from a database of an earlier run, so that
 * strategies can be compared without a GPU. */
#ifndef MEASURE_BACKENDS_BACKEND_REPLAY_H
#define MEASURE_BACKENDS_BACKEND_REPLAY_H

#include "tuner/measure/backends/backend.h"

/* Open a recording, which is a tuning database. Its device is the one with the most results. The problem must have been
 * recorded. Variants that were not recorded are OUTCOME_PRUNED; the others have their recorded outcome. Samples are
 * drawn evenly from the stored ones. If only a summary was stored, every sample is the median.
 * Returns HALOTUNE_OK; what store_open returns; HALOTUNE_NOT_FOUND if there is no result in it. */
halotune_status backend_replay_open(const char *path, struct backend_handle *out);

#endif
