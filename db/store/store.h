/* store.h: the tuning database: opened, written one result a transaction, read. db/schema.sql says what lies in it.
 *
 * Ids are positive row numbers of the open file. Texts in rows that are read are valid until the next call with the
 * same store. */
#ifndef DB_STORE_STORE_H
#define DB_STORE_STORE_H

#include <sqlite3.h>
#include <stdint.h>
#include <sys/types.h>

#include "db/store/outcome.h"
#include "gpu/compile/compile.h"
#include "gpu/driver/device.h"
#include "gpu/driver/nvml.h"
#include "stencil/generate/generate.h"

struct store;

enum store_mode {
  STORE_READ,      /* no file is made or changed; a file of an older version is copied into memory, migrated there and
                 read */
  STORE_READ_SOON, /* the same, but waits only two seconds for a lock of another program, and opens no file of version 4
                      or older, whose texts are parsed; opened by store_open_soon */
  STORE_READ_UNTRUSTED, /* as STORE_READ, and also opens a file with untrusted rows, to show or import them */
  STORE_IMPORT, /* the same, and takes all rows of a file of version 4 or older for rows of one kind: up to this version rows
                   had marks of trust, and whoever imports the file decides about all of it */
  STORE_GLANCE, /* as STORE_IMPORT, but does not wait for a lock of another program, plays no journal or WAL that lies
                   beside the file, and opens a file of an older version only up to 1 MiB, because all of it is
                   migrated */
  STORE_WRITE,  /* the file and its folder (0700) are made where they are missing, an older version is migrated. Up to
                  version 4 a database held rows that were not trusted: a copy, PATH.version-4, keeps them */
};

/* Open a database.
 *   path  NULL: store_default_path
 *   out   receives the store; the caller ends it with store_close; NULL on failure
 * Returns
 *   HALOTUNE_OK
 *   HALOTUNE_NOT_FOUND  there is no such file to read, or nothing in it yet
 *   HALOTUNE_DB         the file is not a database, is damaged, cannot be written, or is from a newer Halotune; or it
 *                       is from an older one, and too large to be copied for reading (1 GiB). The detail says what to
 *                       do.
 *                       The file does not change.
 *   HALOTUNE_MEMORY
 * WAL is used if the file lies on a local filesystem.
 * Threads: one at a time for one store; any number of processes. */
halotune_status store_open(const char *path, enum store_mode mode, struct store **out);

/* Open a database with STORE_READ_SOON. Ask `is_over` often, as after store_ask. */
halotune_status store_open_soon(const char *path, bool (*is_over)(const void *context), const void *context,
                                struct store **out);

/* Make an empty database in memory. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_open_memory(struct store **out);

/* The same with the tables of version 4. Fill it through store_connection, then call store_bring_up_to_date before all
 * else. */
halotune_status store_open_memory_4(struct store **out);
halotune_status store_bring_up_to_date(struct store *store);

void store_close(struct store *store);

/* Replace a store that was opened for reading by a copy in memory, before it is checked and then used. So nobody who
 * can write the file can exchange rows in between. A file of more than 1 GiB is not copied. Instead, a transaction
 * keeps out programs that respect SQLite's locks.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_hold(struct store *store);

/* Whether the rows are read from a file; else they are in memory. */
bool store_has_file(const struct store *store);

/* Look at each page of a copy once, before its rows are read: pages that several rows share would be read for each of
 * them. Returns HALOTUNE_OK, or HALOTUNE_DB with what is damaged. */
halotune_status store_pages_check(struct store *store);

/* Make all indexes of a copy anew, after store_pages_check. SQLite may read rows from an index alone, and its
 * integrity_check does not find every index that has other rows than its table.
 * Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_indexes_make(struct store *store);

/* From this time of clock_ms() on, no statement waits longer than 2 s for the lock of another program. Before it, and
 * without this call, the limit is 30 s. */
void store_wait_until(struct store *store, double until_ms);

/* From now on, ask `is_over` often while a statement of a reader runs. It ends when the answer is true, and fails with
 * HALOTUNE_DB.
 *   is_over  NULL: nobody is asked */
void store_ask(struct store *store, bool (*is_over)(const void *context), const void *context);

/* Begin to count the steps of a reader again (db/store/guard.h), for a store that stays open from one question to the
 * next. */
void store_renew(struct store *store);

/* End reads from now on after so many steps of SQLite, or earlier (guard_glance), for an answer that is not worth more
 * time. */
void store_limit(struct store *store, long steps);

/* $HALOTUNE_DB, else $XDG_DATA_HOME/halotune/halotune.db, else ~/.local/share/halotune/halotune.db.
 *   path  from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_IO if there is no home folder; HALOTUNE_MEMORY. */
halotune_status store_default_path(char **path);

/* Find the path of a database's file without links (exchange_real_path in base/files/exchange.h). A link that another
 * user has put into a folder of all users is refused: it could lead to another database of this user. store_open does
 * the same.
 *   out  from malloc, for the caller to free; NULL on failure
 * Returns HALOTUNE_OK, also if there is no such file; HALOTUNE_DB, whose detail names the link; HALOTUNE_MEMORY. */
halotune_status store_real_path(const char *path, char **out);

/* Find starter.db, the database that comes with Halotune. The path is in the first of the data folders (data_folders.h)
 * with a usable starter.db; else in the first with any; else in the last one.
 *   path  from malloc, for the caller to free; NULL on failure, or if there is no data folder
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status store_starter_path(char **path);

/* Whether a starter.db is there, and neither belongs to another user nor can be written by all. A starter.db that is
 * not usable must not be opened. NULL is not usable. */
bool store_starter_is_usable(const char *path);

/* Open the starter.db of store_starter_path to read it, if it is usable.
 *   out  NULL if there is none, and on failure
 * Returns HALOTUNE_OK, also if there is none; what store_open returns; HALOTUNE_DB if another user has put a file in
 * its place. */
halotune_status store_open_starter(struct store **out);

/* The version of the file that was opened: SCHEMA_VERSION, or an older one that is only read. */
int store_version(const struct store *store);

/* The path that was opened, and SQLite's connection for callers that only read. Valid as long as the store. */
const char *store_path(const struct store *store);

/* Which file a database is, and whose. A path may lead to another one later. */
struct store_file {
  dev_t device;
  ino_t inode;
  uid_t owner, folder_owner; /* folder_owner: of the folder through which it was opened */
};

/* The path by which the file was opened, without links. A file without a name has the path that the caller gave.
 *   out  from malloc, for the caller to free; NULL when memory is out */
char *store_opened_path(const struct store *store);

/* The file that was opened, wherever it is by now. All 0 for a database that is no file. */
struct store_file store_file_of(const struct store *store);

/* Whether two are one file. The folders do not count. */
bool store_file_is_same(const struct store_file *a, const struct store_file *b);

/* Whether the database is not a file. */
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

/* What the final rounds rank by: edp is energy times time. */
#define OBJECTIVE_LIST(X) X(TIME, "time") X(ENERGY, "energy") X(EDP, "edp")
#define OBJECTIVE_AS_ENUMERATOR(name, text) OBJECTIVE_##name,
enum objective { OBJECTIVE_LIST(OBJECTIVE_AS_ENUMERATOR) OBJECTIVE_COUNT };
#undef OBJECTIVE_AS_ENUMERATOR
extern const char *const objective_names[OBJECTIVE_COUNT];

extern const char *const launch_mode_names[LAUNCH_MODE_COUNT], *const cache_mode_names[CACHE_MODE_COUNT];

/* Find a row, or add it. Returns its id; 0 on failure, with the detail in fail_text(). The origin of an added row is
 * this user on this machine. */
int64_t store_device(struct store *store, const struct device_facts *device, bool is_emulation);
int64_t store_stencil(struct store *store, const struct stencil *stencil, const struct analysis *analysis);

/* Find or add the origin of this user's results on this machine. The call may be within a transaction of the caller. */
int64_t store_own_origin(struct store *store);

/* Find or add the text of a stencil's YAML file, with the values of its coefficients. */
int64_t store_stencil_text(struct store *store, int64_t stencil, const char *text);
int64_t store_template(struct store *store, const struct template *template);

/* Within a transaction of the caller: give a stored template this text, which has its identity, and write the
 * parameters of its variants in the words of the text. Returns HALOTUNE_OK, HALOTUNE_DB or HALOTUNE_MEMORY. */
halotune_status store_template_replace(struct store *store, const struct template *template);

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

/* End a run that has not ended. Another process may have ended the run already, because it took this process for lost
 * (db/store/lost_member_run.h).
 * Returns HALOTUNE_OK or HALOTUNE_DB. Like all functions that store results of a run, it returns HALOTUNE_DB if the run
 * has ended. */
halotune_status store_run_end(struct store *store, int64_t run, const struct run_end *end);

/* The median of samples, their minimum, and the interval of the median. */
struct timing {
  int sample_count;
  double median_ms, minimum_ms, low_ms, high_ms; /* low, high: 95 % interval of the median */
  const float *samples;                          /* sample_count of them, in order; may be NULL */
};

enum { MEASUREMENT_WHY_BYTES = 256 };
struct measurement {
  enum outcome outcome;
  const char *reason;
  char gpu[DEVICE_UUID_BYTES];     /* UUID of the GPU that measured it, if that is not the problem's own; else "" */
  long number;                     /* in the run, from 1 */
  double at_s;                     /* since the run's start */
  char why[MEASUREMENT_WHY_BYTES]; /* why the search proposed it; "" if that is not known */
  struct timing timing;
  double rms_error, max_error, max_error_units; /* NaN where it was not compared */
  int registers, shared_bytes, spill_bytes;     /* -1 if it was not compiled, also in the next ones */
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

/* Store a new time of a variant that has a result, in one transaction. If this run has a result, it is changed. If only
 * an earlier run has one, this run gets a copy of it with the new time. A wrong variant is no longer served, as above.
 *   again  outcome, reason, timing, before, after, attempts (of this time alone) and is_marked are used; so is at_s for
 *          a copy and for a wrong variant. A result that stays right keeps the time when the search found it */
halotune_status store_measured_again(struct store *store, int64_t run, int64_t variant,
                                     const struct measurement *again);

/* Store several results in one transaction: calls between these two open no transaction of their own. No other process
 * can write until the end, so nothing in between may wait.
 *   status  of the calls in between: unless it is HALOTUNE_OK, nothing of the burst is stored
 * store_burst_end returns the status, or that of the commit. After a failure of store_burst_begin there is no burst. */
halotune_status store_burst_begin(struct store *store);
halotune_status store_burst_end(struct store *store, halotune_status status);

/* Mark results of this run as doubtful, in one transaction: the GPU changed around them, and they could not be measured
 * again. */
halotune_status store_mark(struct store *store, int64_t run, const int64_t *variants, long count);

/* Find the newest result of a variant for the same problem, by any run with the same driver and NVRTC as `run`. Its
 * text and samples are valid until the next call with this store.
 * Returns HALOTUNE_OK, HALOTUNE_NOT_FOUND, HALOTUNE_DB or HALOTUNE_MEMORY. */
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

/* What lookups serve: the columns of `best`. The best was tuned with the stencil's text that its run names. */
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
  int steps; /* time steps of a launch; store_final sets it */
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
 * With the same driver and NVRTC, the winner of a partial run replaces no winner of a complete run. Of the two, the one
 * that is not current stays as history.
 *   best        NULL where there is no winner; its timing.median_ms is the time
 *   is_current  receives whether the winner is current; may be NULL */
halotune_status store_final(struct store *store, int64_t run, const struct finalist *finalists, int count,
                            const struct best *best, const struct run_end *end, bool *is_current);

#endif
