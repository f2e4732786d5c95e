/* recording.h: the results that a database has of a problem, for a backend that replays them. One thread uses a
 * recording. */
#ifndef MEASURE_BACKENDS_RECORDING_H
#define MEASURE_BACKENDS_RECORDING_H

#include "base/identity/hash.h"
#include "db/store/store.h"
#include "tuner/measure/backends/backend.h"

/* The newest result of one variant. */
struct record {
  struct hash key; /* hash of template and parameters, as today's template writes them */
  enum outcome outcome;
  double median_ms, rms_error, max_error, max_error_units, compile_ms; /* compile_ms: 0 if not recorded */
  bool is_compiled;                                                    /* the reader's: its compile has ended */
  float *samples;                                                      /* NULL: none were stored */
  int sample_count;
  char *reason, *template, *parameters;
  struct recorded_kernel kernel;
};

/* Start with recording_open, end with recording_close. */
struct recording {
  struct store *store;
  int64_t device;
  struct record *records; /* records of the problem */
  struct record **by_key; /* the records in the order of their keys */
  long count;
  const struct template **bound; /* templates whose records have their keys */
  int bound_count, bound_capacity;
  double copy_ms, memcpy_ms, empty_ms; /* of a run that has them; NAN if there is none */
};

/* Open a database. Its device is the one with the most results.
 *   facts  receives the device, driver and compiler
 * Returns HALOTUNE_OK; what store_open returns; HALOTUNE_NOT_FOUND if there is no result in it; HALOTUNE_DB if a row is
 * not what an import would take; HALOTUNE_ARGUMENT for a device of an unknown architecture. */
halotune_status recording_open(const char *path, struct backend_facts *facts, struct recording *out);

/* Read the records of a problem, in place of those of the problem before.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if it was not recorded; HALOTUNE_DB; HALOTUNE_MEMORY. */
halotune_status recording_set_problem(struct recording *recording, const struct backend_problem *problem);

/* Find a candidate's record.
 *   out  receives NULL if the variant was not recorded; it lives until the next problem
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status recording_find(struct recording *recording, const struct candidate *candidate, struct record **out);

void recording_close(struct recording *recording);

#endif
