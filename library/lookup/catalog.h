/* catalog.h: what lookups answer from: the current, trusted rows of `best` of several databases and what they refer to, copied into
 * memory. Filled once, not changed afterwards. */
#ifndef LIBRARY_LOOKUP_CATALOG_H
#define LIBRARY_LOOKUP_CATALOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/texts.h"
#include "db/store/store.h"
#include "library/lookup/known_wrong.h"
#include "library/lookup/names.h"
#include "stencil/template/template.h"

/* A stencil, read from its text. */
struct parsed_stencil {
  struct stencil *stencil;
  struct analysis *analysis;
};

struct known_stencil {
  char hash[IDENTITY_HEX_BYTES];
  const char *name, *text;
  int database;                            /* the first that has a row of it; without any, the first that has it */
  const char *newest;                      /* date of its newest row there; "" without one */
  _Atomic(struct parsed_stencil *) parsed; /* NULL until it is first needed */
};

struct known_template {
  char hash[IDENTITY_HEX_BYTES];
  const char *name, *yaml, *cuda;
  int database;
  bool has_file;                 /* one of its name is installed */
  bool is_superseded;            /* another one of its name is newer, or installed */
  bool is_trusted;               /* it is the installed one, or has rows, which are all trusted: its code may run */
  int wins;                      /* rows that it has */
  unsigned char parameter_count; /* once it has one */
  _Atomic(struct template *) parsed;
};

/* A GPU that rows were measured on, or one that is asked for. */
struct known_device {
  const char *name, *uuid;
  bool is_emulation;
  int model; /* the first device of the same name, capability and number of multiprocessors; -1: no row is of this model */
  int capability, sm_count, memory_clock_khz, bus_bits, l2_bytes;
  struct device_limits limits;
};

/* A row of `best`: two cache lines, since what a lookup waits for is memory. What it reads stands in front of what only
 * catalogs and kernels do. */
struct served {
  uint32_t n[MAX_DIMS];
  int stencil, model;
  int template_at, device;
  unsigned char dtype, launch, cache, parameter_count;
  double time_ms, low_ms, high_ms, roof_share;
  long long bytes;
  double date_s; /* since 1970 */
  const char *parameters, *date, *driver, *nvrtc;
  int64_t id;
  int database;
  bool reproducible;
  bool has_problem; /* while it is read */
};
_Static_assert(sizeof(struct served) == 128, "a row is two cache lines");

/* Start with {0}, end with catalog_free. Rows that answer alike stand together: by stencil, model and element type. */
struct catalog {
  char **paths; /* of the databases, absolute */
  int database_count;
  struct known_stencil *stencils;
  int stencil_count, stencil_room;
  struct known_template *templates;
  int template_count, template_room;
  struct known_device *devices;
  int device_count, device_room;
  struct served *rows;
  int row_count, row_room;
  struct refuted_list refuted;
  struct names stencil_names; /* names and hashes */
  struct names device_names;  /* names and uuids */
  struct texts texts;         /* parameters of rows */
  struct arena arena;
};

/* Add what a database holds. Where two have a row for one problem, both are kept, and the earlier database's counts.
 * Returns HALOTUNE_OK, or what store_open returns. */
halotune_status catalog_add(struct catalog *catalog, const char *path);

/* After the last database: find names, superseded templates, rows that another database knows to be wrong, which go, and the
 * order of rows. HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_finish(struct catalog *catalog);

/* Find the templates that rows were made with and that are superseded, and those whose code may run. Part of catalog_finish. */
void catalog_find_stale(struct catalog *catalog);

void catalog_free(struct catalog *catalog);

#endif
