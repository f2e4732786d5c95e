/* store.h: the tuning database: opened, written one result a transaction, read. db/schema.sql says what lies in it.
 *
 * Ids are positive row numbers of the open file. Texts in rows that are read are valid until the next call with the
 * same store. */
#ifndef DB_STORE_STORE_H
#define DB_STORE_STORE_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/store/outcome.h"
#include "gpu/compile/compile.h"
#include "gpu/driver/device.h"
#include "gpu/driver/nvml.h"
#include "stencil/generate/generate.h"

struct store;

enum store_mode {
  STORE_READ, /* no file is made, none is changed; of an older version, a copy in memory is migrated and read */
  STORE_READ_UNTRUSTED, /* the same, also of a file that keeps what is not trusted: for those who show or import it */
  STORE_GLANCE, /* as STORE_READ_UNTRUSTED, for a remark: of an older version only a file of at most 1 MiB, since all of
                   it is migrated */
  STORE_WRITE,  /* the file and its folder (0700) are made where they are missing, an older version is migrated. Up to
                  version 4 a database held rows that were not trusted: a copy, PATH.version-4, keeps them */
};

/* Open a database.
 *   path  NULL: store_default_path
 *   out   the caller's, ended with store_close; NULL on failure
 * Returns
 *   HALOTUNE_OK
 *   HALOTUNE_NOT_FOUND  there is no such file to read, or nothing in it yet
 *   HALOTUNE_DB         the file is no database, is damaged, cannot be written, or is of a newer Halotune; or it is of
 *                       an older one, and too large to be copied for reading (1 GiB). The detail says what to do. The
 *                       file does not change.
 *   HALOTUNE_MEMORY
 * WAL is used where the file lies on a local filesystem.
 * Threads: one at a time for one store; any number of processes. */
halotune_status store_open(const char *path, enum store_mode mode, struct store **out);

/* An empty database in memory. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_open_memory(struct store **out);

/* The same with the tables of version 4, to be filled through store_connection, and then brought up to date. Nothing
 * else can be done with it before. */
halotune_status store_open_memory_4(struct store **out);
halotune_status store_bring_up_to_date(struct store *store);

void store_close(struct store *store);

/* Replace a store that was opened for reading by a copy in memory, before it is checked and then used. Whoever can
 * write the file cannot exchange rows in between. A file of more than 1 GiB is not copied. A transaction then keeps out
 * those who respect SQLite's locks.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_hold(struct store *store);

/* Look at each page of a copy once, before its rows are read: pages that several rows share would be read for each of
 * them. Returns HALOTUNE_OK, or HALOTUNE_DB with what is damaged. */
halotune_status store_pages_check(struct store *store);

/* A reader may take only so many steps (db/store/guard.h). Let one that stays open begin to count again. */
void store_renew(struct store *store);

/* End what is read from now on after so many steps of SQLite, where the answer is worth no more. */
void store_limit(struct store *store, long steps);

/* $HALOTUNE_DB, else $XDG_DATA_HOME/halotune/halotune.db, else ~/.local/share/halotune/halotune.db.
 *   path  from malloc, the caller's; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_IO where there is no home; HALOTUNE_MEMORY. */
halotune_status store_default_path(char **path);

/* starter.db, the database that comes with Halotune, in the first of the data folders (data_folders.h) where it is
 * usable; else in the first where it is; else where it would lie.
 *   path  from malloc, the caller's; NULL on failure, and where there is no data folder
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status store_starter_path(char **path);

/* Whether a starter.db is there, and neither belongs to another user nor can be written by all. One that is not usable
 * is not opened. NULL is not usable. */
bool store_starter_is_usable(const char *path);

/* The version of the file that was opened: SCHEMA_VERSION, or an older one that is only read. */
int store_version(const struct store *store);

/* The path that was opened, and SQLite's connection for those who only read. Valid as long as the store. */
const char *store_path(const struct store *store);

/* Whether the database is no file. */
bool store_is_in_memory(const struct store *store);
sqlite3 *store_connection(const struct store *store);

#define LAUNCH_MODE_LIST(X) X(STREAM, "stream") X(GRAPH, "graph")
#define CACHE_MODE_LIST(X) X(STEADY, "steady") X(COLD, "cold")
#define LAUNCH_AS_ENUMERATOR(name, text) LAUNCH_##name,
#define CACHE_AS_ENUMERATOR(name, text) CACHE_##name,
enum launch_mode { LAUNCH_MODE_LIST(LAUNCH_AS_ENUMERATOR) LAUNCH_MODE_COUNT };
enum cache_mode { CACHE_MODE_LIST(CACHE_AS_ENUMERATOR) CACHE_MODE_COUNT };
#undef LAUNCH_AS_ENUMERATOR
#undef CACHE_AS_ENUMERATOR

/* What the finals rank by: edp is energy times time. */
#define OBJECTIVE_LIST(X) X(TIME, "time") X(ENERGY, "energy") X(EDP, "edp")
#define OBJECTIVE_AS_ENUMERATOR(name, text) OBJECTIVE_##name,
enum objective { OBJECTIVE_LIST(OBJECTIVE_AS_ENUMERATOR) OBJECTIVE_COUNT };
#undef OBJECTIVE_AS_ENUMERATOR
extern const char *const objective_names[OBJECTIVE_COUNT];

extern const char *const launch_mode_names[LAUNCH_MODE_COUNT], *const cache_mode_names[CACHE_MODE_COUNT];

/* Find a row, or add it. Returns its id; 0 with HALOTUNE_DB's detail in fail_text(). Rows that are added are measured
 * here: their origin is this user on this machine. */
int64_t store_device(struct store *store, const struct device_facts *device, bool is_emulation);
int64_t store_stencil(struct store *store, const struct stencil *stencil, const struct analysis *analysis);

/* The origin of what this user finds on this machine, found or added, also within a transaction of the caller. */
int64_t store_own_origin(struct store *store);

/* The text of a stencil's YAML file, with the values of its coefficients. */
int64_t store_stencil_text(struct store *store, int64_t stencil, const char *text);
int64_t store_template(struct store *store, const struct template *template);

/* Now, in UTC, to the millisecond, which tells runs apart: "2026-11-21T12:38:50.123Z". */
enum { DATE_BYTES = 32 };
void date_now(char date[DATE_BYTES]);

/* The identity of a stencil's text, the column `hash` of stencil_text. */
struct identity stencil_text_identity(const char *text);

struct problem_key {
  int64_t device, stencil;
  enum dtype dtype;
  struct grid grid;
  enum launch_mode launch;
  enum cache_mode cache;
  bool reproducible; /* only variants that give the same bits take part */
  int steps;         /* time steps that a launch makes; 0 counts as 1 */
};
int64_t store_problem(struct store *store, const struct problem_key *key);

struct run_start {
  int64_t problem;
  const char *command, *host, *driver, *nvrtc, *strategy;
  int cuda;
  uint64_t seed;
  double budget_s; /* 0: no limit of time */
  long space;      /* variants that the rules keep */
  long long bytes; /* compulsory traffic of one application */
  int64_t text;    /* of the stencil: store_stencil_text */
  enum objective objective;
  double power_limit_w; /* of the GPU; 0: not known */
};

/* Begin a run. Returns its id, or 0. */
int64_t store_run_begin(struct store *store, const struct run_start *start);

struct run_end {
  bool is_complete;
  const char *reason;                  /* why it is not */
  double empty_ms, copy_ms, memcpy_ms; /* NaN where not measured */
  const char *warnings;                /* a line each */
  double idle_w;                       /* power of the GPU while nothing ran; NaN or 0 where not measured */
};

/* End a run that has not ended. A run into which its process stores, or which it ends, may have been ended by another
 * one, which held this process for lost (db/store/lost_run.h).
 * Returns HALOTUNE_OK; HALOTUNE_DB also for a run that has ended, as do all functions that store results of a run. */
halotune_status store_run_end(struct store *store, int64_t run, const struct run_end *end);

/* The median of samples and what is around it. */
struct timing {
  int sample_count;
  double median_ms, minimum_ms, low_ms, high_ms; /* low, high: 95 % interval of the median */
  const float *samples;                          /* sample_count of them, in order; may be NULL */
};

enum { MEASUREMENT_WHY_BYTES = 256 };
struct measurement {
  enum outcome outcome;
  const char *reason;
  char gpu[DEVICE_UUID_BYTES];     /* of the GPU that measured it, where that is not the problem's own; else "" */
  long number;                     /* in the run, from 1 */
  double at_s;                     /* since the run's start */
  char why[MEASUREMENT_WHY_BYTES]; /* the search proposed it; "" where that is not known */
  struct timing timing;
  double rms_error, max_error, max_error_units; /* NaN where it was not compared */
  int registers, shared_bytes, spill_bytes;     /* -1 where it was not compiled; so the next ones */
  double occupancy;
  int blocks_per_sm;
  long threads, blocks;
  double compile_ms;
  struct gpu_reading before, after;
  int attempts;
  bool is_marked;
};

/* The variant that a result is about. */
struct variant_key {
  int64_t stencil, template_id;
  const struct template *template;
  const struct configuration *configuration;
  struct identity source;
};

/* Store one result, in one transaction unless it is one of a burst. A second result of a variant in one run takes the
 * place of the first. A variant that is wrong or touches foreign memory is served no more (db/store/refuted.h). If it
 * was the current best of the run's problem, that problem has no best from now on. The same holds for the problem in
 * other modes and on other GPUs of the model.
 *   variant  receives the variant's id; may be NULL */
halotune_status store_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                  const struct measurement *measurement, int64_t *variant);

/* A variant that has a result was looked at once more in this run, in one transaction. The result of this run is
 * changed; where only an earlier run has one, this run gets a row with all that is known from there. What is wrong is
 * served no more, as above.
 *   again  of it outcome, reason, at_s, timing, before, after, attempts (of this time alone) and is_marked */
halotune_status store_measured_again(struct store *store, int64_t run, int64_t variant,
                                     const struct measurement *again);

/* Store several results in one transaction: what is called between these two opens none of its own. No other process
 * can write until the end, so nothing in between may wait.
 *   status  of what was done: unless it is HALOTUNE_OK, nothing of the burst is stored
 * store_burst_end returns the status, or that of the commit. After a failure of store_burst_begin there is no burst. */
halotune_status store_burst_begin(struct store *store);
halotune_status store_burst_end(struct store *store, halotune_status status);

/* Mark results of this run as doubtful, in one transaction: the GPU changed around them, and they could not be measured
 * again. */
halotune_status store_mark(struct store *store, int64_t run, const int64_t *variants, long count);

/* The newest result of a variant for the same problem, by any run with the same driver and NVRTC as `run`.
 * Text and samples as said above.
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND or HALOTUNE_DB. */
halotune_status store_find_measurement(struct store *store, int64_t run, const struct variant_key *key,
                                       struct measurement *out, int64_t *variant);

struct finalist {
  int64_t variant;
  int rank; /* from 1 */
  struct timing timing;
  double ratio, ratio_low, ratio_high; /* to the winner in the same round */
  bool is_default, is_tie;
  double energy_mj, energy_low_mj, energy_high_mj; /* of one application; NaN or 0 where not measured */
};

/* What lookup serves; the columns of `best`. It was tuned with the stencil's text that its run names. */
struct best {
  int64_t problem, variant, run;
  const char *driver, *nvrtc, *arch, *second_grid;
  struct timing timing;                                                              /* without samples */
  double default_ms, roof_ms, roof_ratio, roof_ratio_low, roof_ratio_high, empty_ms; /* NaN where not measured */
  long long bytes;
  double rms_error, max_error, max_error_units;
  int registers, shared_bytes;
  double occupancy;
  const struct launch *launch;
  int steps; /* of the launch; store_final sets it */
  const double *coefficients;
  int coefficient_count;
  const char *source;
  const void *cubin;
  size_t cubin_bytes;
  const char *objective; /* one of objective_names, of its run; NULL: time */
  double energy_mj;      /* of one application; NaN or 0 where not measured */
};

/* Store the outcome of the final rounds in one transaction: all finalists, the end of the run, and the winner. The
 * winner becomes the current best of its problem in these cases:
 *   - there is no current best
 *   - the current best was measured with another driver or NVRTC, is the same variant, or has another objective
 *   - the current best is slower (for its objective: uses more energy)
 * With the same driver and NVRTC, the winner of a partial run replaces no winner of a complete run. The one of both
 * that is not current is kept as history.
 *   best        NULL where there is no winner; its timing.median_ms is the time
 *   is_current  receives whether it did; may be NULL */
halotune_status store_final(struct store *store, int64_t run, const struct finalist *finalists, int count,
                            const struct best *best, const struct run_end *end, bool *is_current);

#endif
