/* ranks.h: the records that ranks exchange before they form teams, and the checks that forbid them to work together.
 * Every rank has the same records, so that every rank comes to the same answer, and one of them prints it. */
#ifndef FLEET_RANKS_H
#define FLEET_RANKS_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/text/text.h"
#include "gpu/driver/device.h"

/* The record of a rank. The version comes first, so that other versions can read it. All versions fill the same
 * RANK_BYTES. Texts end with a NUL. */
struct rank_entry {
  char halotune[32];
  int status; /* not HALOTUNE_OK: this rank cannot work */
  char reason[512], host[256];
  char command[65];  /* the hash of the command's words */
  char stencils[65]; /* the hash of the stencils that it found */
  /* the database into which it would store, from ranks_enter_database */
  char database[256], database_hash[65];
  char cores[65];                                          /* the hash of the set of cores that it may use */
  char device[DEVICE_NAME_BYTES], uuid[DEVICE_UUID_BYTES]; /* uuid "": an emulation or a recording, no GPU */
  int capability, sm_count, ordinal;
  long long time_s; /* its wall clock */
};

enum { RANK_BYTES = 2048, RANK_CLOCK_S = 600 };
_Static_assert(sizeof(struct rank_entry) <= RANK_BYTES, "a record holds an entry");

/* The records of all ranks, by rank. */
union rank_record {
  struct rank_entry entry;
  char bytes[RANK_BYTES];
};

/* Enter the database into which a rank would store. A long path is shown by its end, but compared as a whole. */
void ranks_enter_database(struct rank_entry *entry, const char *path);

/* Check for differences that all ranks must refuse: other versions, a rank that cannot work, other commands, stencils
 * or databases, two ranks on one GPU.
 *   may_share  several ranks may use one GPU
 * Returns HALOTUNE_OK; else the status of the job, with its one line in fail_text(). */
halotune_status ranks_check(const union rank_record *ranks, int count, bool may_share);

/* Append a line if clocks differ by more than RANK_CLOCK_S from that of rank 0, which dates all results. */
void ranks_tell_clocks(const union rank_record *ranks, int count, struct text *out);

/* How many ranks share the cores of a rank: those of its host with the same set of cores, itself included. */
int ranks_count_sharers(const union rank_record *ranks, int count, int rank);

/* The team of a rank: the lowest rank whose GPU is of the same model. */
int ranks_find_team(const union rank_record *ranks, int rank);

#endif
