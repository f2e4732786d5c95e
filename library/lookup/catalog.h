/* catalog.h: the data that lookups use, copied into memory: the current rows of `best` of several databases, the
 * finalists that these won against, and the rows that both refer to. A catalog is filled once. Only its atomic members
 * change afterwards. */
#ifndef LIBRARY_LOOKUP_CATALOG_H
#define LIBRARY_LOOKUP_CATALOG_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/memory/arena.h"
#include "base/memory/texts.h"
#include "db/store/store.h"
#include "library/lookup/known_wrong.h"
#include "library/lookup/name_table.h"
#include "library/lookup/parsed_stencil.h"
#include "library/predict/predict.h"
#include "stencil/template/template.h"

struct kin;

/* Who brought a stencil or a device: this user, Halotune, or a document of others. */
enum giver { GIVER_USER, GIVER_HALOTUNE, GIVER_OTHERS };

/* The members that a hit reads come first. */
struct known_stencil {
  const char *name;
  int rows_of; /* the stencil that has the rows and verdicts of this meaning, once catalog_finish has given them */
  char hash[IDENTITY_HEX_BYTES];
  const char *text;
  int database;       /* the first database with a row of the stencil; without one, the first that has the stencil */
  const char *newest; /* date of its newest row in that database; "" without a row. `text` is that row's */
  enum giver giver;
  int meaning;   /* the first stencil of this meaning: verdicts name it; -1: there is none */
  int of_name;   /* the stencil of a database with this name and meaning, whose rows and verdicts name it; -1: none */
  bool has_rows; /* rows of the catalog are for it; only a stencil that is rows_of itself has some */
  bool is_kin;   /* its rows say something of other stencils */
  bool is_measured; /* this user or Halotune gave rows of a GPU under its name */
  /* this user's verdict under another name is against a row of it: it has its rows for itself, and no others */
  bool is_disputed;
  _Atomic(struct parsed_stencil *) parsed; /* NULL before the first use */
  _Atomic(struct kin *) kin;               /* NULL before the first use */
  atomic_uint turn;                        /* of an added stencil: the highest of its name counts */
};

/* The number of stencils that a program may add to a ctx. */
enum { CATALOG_MOST_ADDED = 256 };

/* Whether another template of the same name is newer, or is installed. STANDING_UNKNOWN: the installed files have not
 * been compared yet. */
enum standing { STANDING_UNKNOWN, STANDING_CURRENT, STANDING_SUPERSEDED };

struct known_template {
  char hash[IDENTITY_HEX_BYTES];
  const char *name, *yaml, *cuda;
  /* the installed files of this name, as they were at the open; the pointers above if the texts are equal; NULL if
   * nothing is installed */
  const char *installed_yaml, *installed_cuda;
  int database;
  _Atomic(enum standing) standing; /* use context_is_superseded */
  int wins;                        /* number of its rows */
  int same_name;                   /* the first template of its name */
  unsigned char parameter_count;   /* 0 before its first row */
  _Atomic(struct template *) parsed;
};

/* A GPU on which rows were measured, or for which a program asks. */
struct known_device {
  const char *name, *uuid;
  bool is_emulation;
  bool is_known_gpu; /* device_is_known_gpu says so; set by catalog_settle_devices */
  enum giver giver;
  bool has_rows; /* a winner was measured on it */
  int model;     /* the first device with the same name, capability and multiprocessors; -1: no row is of this model */
  int capability, sm_count, l2_bytes;
  double memory_gbs; /* peak rate of the memory, in GB/s; 0 if it is not known */
  struct device_limits limits;
  double copy_gbs; /* rate of the fastest copy measured beside a row of this model; 0: none. Only in a model's first
                      device */
  int fitted_by;   /* the first database with coefficients for this model; -1: none. Only in a model's first device */
  struct predict_model prediction; /* these coefficients, if fitted_by is not -1 */
};

/* A row of `best`, or a finalist of its run. It has two cache lines, because a lookup mostly waits for memory. The
 * members that a lookup compares are in the first one. */
struct served {
  uint32_t n[MAX_DIMS];
  int stencil, model;
  int template_at;
  int named; /* the stencil under whose name it was measured; `stencil` has the rows of its meaning */
  unsigned char dtype, launch, cache, parameter_count;
  unsigned short steps;       /* time steps of a launch */
  unsigned char occupancy_64; /* in 64ths of the threads that a multiprocessor holds; 0: not known */
  bool reproducible : 1;
  bool has_problem : 1; /* used only while the database is read */
  bool is_partial : 1;  /* its run was cut short, so that a winner of another problem may be faster */
  bool is_finalist : 1; /* it lost against the winner of its problem, and may answer for other problems only */
  bool is_foreign : 1;  /* others gave it, or for a finalist its problem's winner */
  bool is_imported : 1; /* a document of others brought it, or for a finalist its problem's winner */
  int database;
  double time_ms, low_ms, high_ms;
  /* the second line */
  double roof_share;
  long long bytes;
  double date_s;          /* since 1970 */
  const char *parameters; /* in the order of its template in the catalog */
  const char *date, *driver, *nvrtc;
  int64_t id;
};
_Static_assert(sizeof(struct served) == 128, "a row is two cache lines");

/* Start with {0}, end with catalog_free. Rows are sorted by stencil, model, element type and steps. */
struct catalog {
  struct known_database {
    char *path; /* absolute, and without links */
    struct store_file file;
  } * databases;
  int database_count, database_room;
  struct known_stencil *stencils; /* behind these there is zeroed room for CATALOG_MOST_ADDED more */
  int stencil_count, stencil_room;
  struct known_template *templates;
  int template_count, template_room;
  struct known_device *devices;
  int device_count, device_room;
  struct served *rows;
  void *row_block; /* the memory in which catalog_finish has aligned the rows; NULL: `rows` is it */
  int row_count, row_room;
  struct refuted_list refuted;
  struct set stencils_by_key, models_by_key; /* used only while databases are read */
  struct names stencil_names;                /* names and hashes */
  struct names device_names;                 /* names and uuids; of imported devices only names of known GPUs */
  struct texts texts;                        /* the parameters of rows, each text once */
  struct arena arena;
};

/* Add the contents of a database. If two databases have a row for the same problem, lookups use the row of the
 * earlier database. Returns HALOTUNE_OK, or what store_open returns. */
halotune_status catalog_add(struct catalog *catalog, const char *path);

/* The same for the database that comes with Halotune, if there is a usable one (store_open_starter). */
halotune_status catalog_add_starter(struct catalog *catalog);

/* The same for an open store, which is only read meanwhile. Machine code of its rows is not found. */
halotune_status catalog_add_store(struct catalog *catalog, struct store *store);

/* Open a database once more. Another user may have put another file at its path.
 *   out  for the caller to close; NULL on failure
 * Returns what store_open returns; HALOTUNE_NOT_FOUND if it is no longer the file that was read. */
halotune_status catalog_open_again(const struct catalog *catalog, int database, struct store **out);

/* Call this after the last database. It fills the tables of names, finds superseded templates, drops rows that
 * another database knows to be wrong, sorts the rows, and drops those that other rows make needless. Returns
 * HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_finish(struct catalog *catalog);

/* Find what names and hashes of stencils mean. Rows and verdicts then name one stencil of each meaning. This is a part
 * of catalog_finish. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_settle_stencils(struct catalog *catalog);

/* Give each row and verdict to the stencil that has the rows of its meaning, or of its name where names dispute. This
 * is a part of catalog_finish. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_give_rows(struct catalog *catalog);

/* Give all devices of a model the facts of whom this user trusts most. This is a part of catalog_finish. Returns
 * HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_settle_devices(struct catalog *catalog);

/* Drop rows of others for problems of which this user has the current winner on the same model of GPU, by the same
 * database. A database has one current best of a problem for each GPU and each name of the stencil, and a document can
 * name any. The rows are sorted. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_drop_foreign(struct catalog *catalog);

/* Read the installed files of all templates. For templates without installed files, find which ones are superseded.
 * Installed templates that no database has are added, because they give defaults. This is a part of catalog_finish.
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_find_installed(struct catalog *catalog);

/* Make one template of those that have one identity, but texts with another order of parameters or definitions: the
 * installed one, else that of the earliest database. The parameters of its rows and verdicts then stand in its order.
 * This is a part of catalog_find_installed. Returns HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status catalog_unite_templates(struct catalog *catalog);

void catalog_free(struct catalog *catalog);

#endif
