/* launcher.c: reads what launchers put into the environment. */
#include "tuner/fleet/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory/array.h"

/* The first row whose variables are set is the launcher. mpirun in a job of Slurm starts its own helpers by srun, so
 * that ranks see both: srun is the last row. srun --mpi=pmi2 sets what MPICH's mpiexec sets. */
static const struct row {
  const char *name, *plugin, *rank, *size, *local_rank;
} rows[] = {
    {"Open MPI's mpirun", "openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MPICH's mpiexec", "mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"srun", NULL, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
};

/* Read a whole number from the environment. Returns `missing` if the variable is not set, and -1 if it is not a
 * number. */
static int number_of(const char *name, int missing) {
  const char *text = getenv(name);
  char *end;
  if (!text) return missing;
  errno = 0;
  const long value = strtol(text, &end, 10);
  return errno || end == text || *end || value < 0 || value > INT_MAX ? -1 : (int)value;
}

static const char *text_of(const char *name) {
  const char *text = getenv(name);
  return text ? text : "";
}

static const struct row *row_find(void) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    if (getenv(rows[i].rank) && getenv(rows[i].size)) return &rows[i];
  }
  return NULL;
}

static bool is_srun_task(void) { return getenv("SLURM_STEP_NUM_TASKS") && !getenv("HYDI_CONTROL_FD"); }

/* srun --mpi=pmi2, for MPICH, sets PMI_RANK in each task; srun --mpi=pmix, for Open MPI, sets PMIX_RANK. */
static halotune_status plugin_of_srun(struct launcher *out) {
  if (getenv("PMIX_RANK")) {
    out->plugin = "openmpi";
    return HALOTUNE_OK;
  }
  return fail(
      HALOTUNE_ARGUMENT,
      "srun started %d tasks without an interface for MPI, so that they cannot work together: add --mpi=pmix for Open MPI or --mpi=pmi2 for MPICH (srun --mpi=list prints what this Slurm has); or set HALOTUNE_MPI=none to let each task tune alone",
      out->size);
}

static halotune_status row_read(const struct row *row, struct launcher *out) {
  const int rank = number_of(row->rank, 0), size = number_of(row->size, 1),
            local_rank = number_of(row->local_rank, rank);
  if (rank < 0 || size < 1 || rank >= size || local_rank < 0) {
    return fail(HALOTUNE_ARGUMENT, "the environment of %s contradicts itself: %s is \"%s\" and %s is \"%s\"", row->name,
                row->rank, text_of(row->rank), row->size, text_of(row->size));
  }
  if (size == 1) return HALOTUNE_OK;
  *out = (struct launcher){row->name, row->plugin, rank, size, local_rank};
  if (row->plugin && strcmp(row->plugin, "mpich") == 0 && is_srun_task()) {
    out->name = "srun";
    out->local_rank = number_of("SLURM_LOCALID", rank);
  }
  return HALOTUNE_OK;
}

halotune_status launcher_find(struct launcher *out) {
  const char *wanted = text_of("HALOTUNE_MPI");
  const struct row *row = row_find();
  const bool is_path = strchr(wanted, '/') != NULL;
  *out = (struct launcher){.size = 1};
  if (strcmp(wanted, "none") == 0) return HALOTUNE_OK;
  halotune_status status = row ? row_read(row, out) : HALOTUNE_OK;
  if (status != HALOTUNE_OK) return status;
  if (*wanted && !is_path && strcmp(wanted, "openmpi") != 0 && strcmp(wanted, "mpich") != 0)
    return fail(HALOTUNE_ARGUMENT,
                "HALOTUNE_MPI is \"%s\", but it may be openmpi, mpich, the path of a plug-in, or none", wanted);
  if (*wanted && !row)
    return fail(
        HALOTUNE_ARGUMENT,
        "HALOTUNE_MPI asks for MPI, but no launcher of MPI started this program: put mpirun -n 4 or srun -n 4 in front of the command, or unset HALOTUNE_MPI");
  if (!out->name) return HALOTUNE_OK;
  if (*wanted) {
    out->plugin = wanted;
    return HALOTUNE_OK;
  }
  return out->plugin ? HALOTUNE_OK : plugin_of_srun(out);
}

const char *launcher_advice(const struct launcher *launcher) {
  const int tasks = number_of("SLURM_NTASKS", 1);
  if (launcher->name || tasks < 2 || getenv("SLURM_STEP_NUM_TASKS") || *text_of("HALOTUNE_MPI")) return NULL;
  return "this job of Slurm has several tasks, but only this one tunes: put srun --mpi=pmix or --mpi=pmi2 in front of the command";
}

bool launcher_speaks(const struct launcher *launcher, halotune_status launcher_status) {
  if (launcher->rank == 0) return true;
  usleep(LAUNCHER_WAIT_MS * 1000);
  if (launcher_status != HALOTUNE_OK) return false;
  if (launcher->local_rank == 0) return true;
  usleep(LAUNCHER_WAIT_MS * 1000);
  return false;
}

/* mpiexec gives each rank a socket, on which MPICH's library speaks PMI. */
void launcher_end_job(const struct launcher *launcher, int exit_code) {
  const int socket = number_of("PMI_FD", -1);
  char command[48];
  if (socket < 0 || !launcher->name || strcmp(launcher->name, "MPICH's mpiexec") != 0) return;
  const int length = snprintf(command, sizeof command, "cmd=abort exitcode=%d\n", exit_code);
  send(socket, command, (size_t)length, MSG_NOSIGNAL); /* if it fails, the other ranks wait for their limit */
}
