/* tune_ranks.c: forms teams of a launcher's ranks. */
#include "tuner/cli/tune/tune_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/identity/hash.h"
#include "base/system/cores.h"
#include "db/store/store.h"
#include "gpu/workers/probe.h"
#include "tuner/cli/output/output.h"
#include "tuner/fleet/link_mpi.h"
#include "tuner/fleet/ranks.h"

halotune_status tune_ranks_find(const struct invocation *invocation, struct launcher *out) {
  halotune_status status = launcher_find(out);
  if (status != HALOTUNE_OK) return status;
  const char *advice = launcher_advice(out), *device = option_value(invocation, "device");
  if (advice) fprintf(stderr, "halotune: %s\n", advice);
  if (!out->name) return HALOTUNE_OK;
  if (device && strcmp(device, "all") == 0)
    return fail(HALOTUNE_ARGUMENT, "under %s each rank takes one GPU: leave out --device all", out->name);
  if (option_given(invocation, "trace"))
    return fail(HALOTUNE_ARGUMENT, "--trace takes one GPU, and %s started %d ranks", out->name, out->size);
  return HALOTUNE_OK;
}

static void record_begin(union rank_record *own) {
  struct hash cores;
  memset(own, 0, sizeof *own);
  snprintf(own->entry.halotune, sizeof own->entry.halotune, "%s", HALOTUNE_VERSION);
  gethostname(own->entry.host, sizeof own->entry.host - 1);
  if (cores_hash(&cores)) hash_hex(cores, own->entry.cores);
  own->entry.time_s = (long long)time(NULL);
}

static void record_failure(union rank_record *own, halotune_status status) {
  own->entry.status = status;
  snprintf(own->entry.reason, sizeof own->entry.reason, "%s", fail_text());
}

/* Record this rank's path of the database. On local disks, the same path names another file on each host. */
static void record_database(const struct invocation *invocation, union rank_record *own) {
  const char *named = option_value(invocation, "db");
  char *standard = NULL;
  const halotune_status status = named ? HALOTUNE_OK : store_default_path(&standard);
  if (status != HALOTUNE_OK) {
    record_failure(own, status); /* for example a host without $HOME, whose path would differ from the others' */
    return;
  }
  ranks_enter_database(&own->entry, named ? named : standard);
  free(standard);
}

/* Exchange the records of all ranks, and check for differences that all must refuse.
 *   sharers  receives how many ranks have this one's cores */
static halotune_status ranks_gather(struct link_mpi *job, const union rank_record *own, bool may_share, int *team,
                                    int *sharers, bool *is_told) {
  const struct fleet_mpi_world *world = link_mpi_world(job);
  union rank_record *ranks = calloc((size_t)world->size, sizeof *ranks);
  struct text line = {0};
  if (!ranks) return fail_memory();
  halotune_status status = link_mpi_gather(job, own, sizeof *own, ranks);
  if (status == HALOTUNE_OK) {
    status = ranks_check(ranks, world->size, may_share);
    *is_told = status != HALOTUNE_OK && world->rank != 0;
  }
  if (status == HALOTUNE_OK) {
    *team = ranks_find_team(ranks, world->rank);
    *sharers = ranks_count_sharers(ranks, world->size, world->rank);
    ranks_tell_clocks(ranks, world->size, &line);
    if (world->rank == 0 && line.length > 0) fprintf(stderr, "halotune: %s", text_string(&line));
  }
  text_free(&line);
  free(ranks);
  return status;
}

/* Tell that MPI could not be begun, and end a job whose other ranks would wait for this one. */
static void tell_without_mpi(const struct launcher *launcher, halotune_status status) {
  if (launcher_speaks(launcher, HALOTUNE_OK)) report_failure(status);
  launcher_end_job(launcher, exit_code_of(status));
}

enum exit_code tune_ranks_refuse(const struct launcher *launcher, halotune_status status) {
  union rank_record own;
  struct link_mpi *job = NULL;
  int team, sharers;
  bool is_told = false;
  if (!launcher->name) return report_failure(status);
  record_begin(&own);
  record_failure(&own, status);
  halotune_status opened = link_mpi_open(launcher, &job);
  if (opened != HALOTUNE_OK) {
    tell_without_mpi(launcher, opened);
    return exit_code_of(opened);
  }
  status = ranks_gather(job, &own, true, &team, &sharers, &is_told);
  const enum exit_code code = is_told ? exit_code_of(status) : report_failure(status);
  link_mpi_leave(job);
  return code;
}

/* Choose this rank's GPU. Emulations and recordings have no GPU. */
static halotune_status gpu_choose(const struct invocation *invocation, const struct probe *probe, int local_rank,
                                  struct tune_backend *which, union rank_record *own) {
  const bool is_named = option_given(invocation, "device");
  if (which->kind != TUNE_ON_CUDA) return HALOTUNE_OK;
  which->ordinal = is_named ? which->ordinals[local_rank % which->ordinal_count] : local_rank % probe->device_count;
  if (which->ordinal >= probe->device_count)
    return fail(HALOTUNE_ARGUMENT, "--device: there is no GPU %d among %d", which->ordinal, probe->device_count);
  const struct device_facts *facts = &probe->devices[which->ordinal];
  snprintf(own->entry.device, sizeof own->entry.device, "%s", facts->name);
  snprintf(own->entry.uuid, sizeof own->entry.uuid, "%s", facts->uuid);
  own->entry.capability = facts->capability;
  own->entry.sm_count = facts->sm_count;
  own->entry.ordinal = which->ordinal;
  return HALOTUNE_OK;
}

/* A launcher may have given this rank cores of its own, or the ranks of a host share theirs. Each rank keeps one core
 * for the process that launches. */
static int workers_of(int sharers) {
  const int share = (cores_usable() - sharers) / sharers;
  return share > 1 ? share : 1;
}

halotune_status tune_ranks_form(const struct invocation *invocation, const struct launcher *launcher, const char *words,
                                const char *stencils, struct tune_backend *which, int *workers, struct fleet_link *out,
                                bool *is_told) {
  struct probe *probe = calloc(1, sizeof *probe);
  struct link_mpi *job = NULL;
  union rank_record own;
  int team = 0, sharers = 1;
  if (!probe) return fail_memory();
  record_begin(&own);
  hash_hex(hash_bytes(words, strlen(words)), own.entry.command);
  hash_hex(hash_bytes(stencils, strlen(stencils)), own.entry.stencils);
  record_database(invocation, &own);
  /* The probe forks, so it has to come before MPI's thread. */
  halotune_status able = which->kind == TUNE_ON_CUDA ? probe_gpus(probe) : HALOTUNE_OK;
  if (able != HALOTUNE_OK) record_failure(&own, able);
  halotune_status status = link_mpi_open(launcher, &job);
  if (status != HALOTUNE_OK) {
    tell_without_mpi(launcher, status);
    *is_told = true;
    free(probe);
    return status;
  }
  const struct fleet_mpi_world *world = link_mpi_world(job);
  if (able == HALOTUNE_OK && (able = gpu_choose(invocation, probe, world->local_rank, which, &own)) != HALOTUNE_OK)
    record_failure(&own, able);
  status = ranks_gather(job, &own, which->may_share, &team, &sharers, is_told);
  if (!option_given(invocation, "workers")) *workers = workers_of(sharers);
  if (status == HALOTUNE_OK) status = link_mpi_team(job, team, out);
  if (status != HALOTUNE_OK) {
    /* Launchers end a job when a rank has failed. So the line is printed before any rank leaves. */
    if (!*is_told) report_failure(status);
    *is_told = true;
    link_mpi_leave(job);
  }
  free(probe);
  return status;
}
