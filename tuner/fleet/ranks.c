/* ranks.c: compares the records of ranks. */
#include "tuner/fleet/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/identity/hash.h"
#include "base/text/utf8.h"

static bool is_same(const char *a, const char *b) { return strcmp(a, b) == 0; }

void ranks_enter_database(struct rank_entry *entry, const char *path) {
  static const char cut[] = "...";
  const size_t length = strlen(path), room = sizeof entry->database - 1;
  const char *end = length <= room ? path : path + length - (room - strlen(cut));
  while (!begins_character(*end)) end++; /* do not cut a character in the middle */
  snprintf(entry->database, sizeof entry->database, "%s%s", end == path ? "" : cut, end);
  hash_hex(hash_bytes(path, length), entry->database_hash);
}

static halotune_status check_versions(const union rank_record *ranks, int count) {
  const struct rank_entry *first = &ranks[0].entry;
  for (int i = 1; i < count; i++) {
    const struct rank_entry *other = &ranks[i].entry;
    if (is_same(first->halotune, other->halotune)) continue;
    return fail(HALOTUNE_IO, "rank %d has Halotune %.31s, and rank 0 on %s has %s: install one version on all hosts", i,
                other->halotune, first->host, first->halotune);
  }
  return HALOTUNE_OK;
}

/* The first rank that cannot work speaks for the others. */
static halotune_status check_able(const union rank_record *ranks, int count) {
  int unable = 0, first = -1;
  for (int i = 0; i < count; i++) {
    if (ranks[i].entry.status == HALOTUNE_OK) continue;
    if (first < 0) first = i;
    unable++;
  }
  if (first < 0) return HALOTUNE_OK;
  const struct rank_entry *entry = &ranks[first].entry;
  char others[64] = "";
  if (unable > 1) snprintf(others, sizeof others, " (and %d more of %d ranks)", unable - 1, count);
  return fail((halotune_status)entry->status, "rank %d on %s%s: %s", first, entry->host, others, entry->reason);
}

static halotune_status check_commands(const union rank_record *ranks, int count) {
  for (int i = 1; i < count; i++) {
    if (is_same(ranks[0].entry.command, ranks[i].entry.command)) continue;
    return fail(HALOTUNE_ARGUMENT,
                "rank %d on %s was started with another command than rank 0: start all with the same one", i,
                ranks[i].entry.host);
  }
  return HALOTUNE_OK;
}

/* Each leader stores into its own database, so ranks with several models of GPU would fill several databases. */
static halotune_status check_inputs(const union rank_record *ranks, int count) {
  const struct rank_entry *first = &ranks[0].entry;
  for (int i = 1; i < count; i++) {
    const struct rank_entry *other = &ranks[i].entry;
    if (!is_same(first->stencils, other->stencils))
      return fail(HALOTUNE_ARGUMENT,
                  "rank %d on %s has other stencils than rank 0 on %s: give all hosts the same files", i, other->host,
                  first->host);
    if (!is_same(first->database_hash, other->database_hash))
      return fail(HALOTUNE_ARGUMENT, "rank %d on %s would store into %s, and rank 0 on %s into %s: name one with --db",
                  i, other->host, other->database, first->host, first->database);
  }
  return HALOTUNE_OK;
}

static halotune_status check_shared(const union rank_record *ranks, int count) {
  for (int i = 1; i < count; i++) {
    const struct rank_entry *entry = &ranks[i].entry;
    for (int j = 0; j < i && *entry->uuid; j++) {
      if (!is_same(entry->uuid, ranks[j].entry.uuid)) continue;
      return fail(
          HALOTUNE_ARGUMENT,
          "ranks %d and %d use the same GPU, %s of host %s: start one rank for each GPU, in Slurm with --gpus-per-task=1; or let ranks share GPUs with --members %d",
          j, i, entry->uuid, entry->host, count);
    }
  }
  return HALOTUNE_OK;
}

halotune_status ranks_check(const union rank_record *ranks, int count, bool may_share) {
  halotune_status status = check_versions(ranks, count);
  if (status == HALOTUNE_OK) status = check_able(ranks, count);
  if (status == HALOTUNE_OK) status = check_commands(ranks, count);
  if (status == HALOTUNE_OK) status = check_inputs(ranks, count);
  return status == HALOTUNE_OK && !may_share ? check_shared(ranks, count) : status;
}

void ranks_tell_clocks(const union rank_record *ranks, int count, struct text *out) {
  int worst = 0;
  long long most_s = 0;
  for (int i = 1; i < count; i++) {
    const long long off_s = ranks[i].entry.time_s - ranks[0].entry.time_s;
    if (llabs(off_s) <= llabs(most_s)) continue;
    most_s = off_s;
    worst = i;
  }
  if (llabs(most_s) <= RANK_CLOCK_S) return;
  text_printf(out, "the clock of rank %d on %s is %lld minutes %s that of rank 0 on %s, which dates all results\n",
              worst, ranks[worst].entry.host, llabs(most_s) / 60, most_s > 0 ? "ahead of" : "behind",
              ranks[0].entry.host);
}

int ranks_count_sharers(const union rank_record *ranks, int count, int rank) {
  const struct rank_entry *own = &ranks[rank].entry;
  int sharers = 0;
  for (int i = 0; i < count; i++)
    sharers += is_same(own->host, ranks[i].entry.host) && is_same(own->cores, ranks[i].entry.cores);
  return sharers;
}

int ranks_find_team(const union rank_record *ranks, int rank) {
  const struct rank_entry *own = &ranks[rank].entry;
  for (int i = 0; i < rank; i++) {
    const struct rank_entry *other = &ranks[i].entry;
    if (is_same(own->device, other->device) && own->capability == other->capability && own->sm_count == other->sm_count)
      return i;
  }
  return rank;
}
