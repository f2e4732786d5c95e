/* launcher_test.c: environments of launchers, and who prints an error. */
#include "tuner/fleet/launcher.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

static const char *const names[] = {
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "HYDI_CONTROL_FD",
    "PMIX_RANK",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_LOCALID",
    "SLURM_NTASKS",
    "HALOTUNE_MPI",
};

enum { VARIABLES_MOST = 8 };

/* An environment: "NAME=VALUE", up to a NULL. */
static void environment_set(const char *const *variables) {
  for (size_t i = 0; i < COUNT(names); i++) unsetenv(names[i]);
  for (int i = 0; i < VARIABLES_MOST && variables[i]; i++) {
    char name[64];
    const size_t length = strcspn(variables[i], "=");
    snprintf(name, sizeof name, "%.*s", (int)length, variables[i]);
    setenv(name, variables[i] + length + 1, 1);
  }
}

static const struct {
  const char *variables[VARIABLES_MOST];
  halotune_status want;
  const char *name, *plugin; /* "" for NULL */
  int rank, size, local_rank;
} rows[] = {
    {{NULL}, HALOTUNE_OK, "", "", 0, 1, 0},
    {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1"},
     HALOTUNE_OK,
     "Open MPI's mpirun",
     "openmpi",
     3,
     4,
     1},
    {{"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=0", "HYDI_CONTROL_FD=7"},
     HALOTUNE_OK,
     "MPICH's mpiexec",
     "mpich",
     1,
     2,
     0},
    /* a single rank is alone, and so is a task of a job that no launcher started */
    {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=1"}, HALOTUNE_OK, "", "", 0, 1, 0},
    {{"SLURM_PROCID=0", "SLURM_NTASKS=4"}, HALOTUNE_OK, "", "", 0, 1, 0},
    /* srun, with both interfaces and with none */
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=1", "PMIX_RANK=2"},
     HALOTUNE_OK,
     "srun",
     "openmpi",
     2,
     4,
     1},
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=1", "PMI_RANK=2", "PMI_SIZE=4"},
     HALOTUNE_OK,
     "srun",
     "mpich",
     2,
     4,
     1},
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=1"}, HALOTUNE_ARGUMENT, "srun", "", 2, 4, 1},
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "HALOTUNE_MPI=none"}, HALOTUNE_OK, "", "", 0, 1, 0},
    {{"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=4", "HALOTUNE_MPI=mpich"}, HALOTUNE_OK, "srun", "mpich", 2, 4, 2},
    /* mpirun within a job of Slurm, whose helpers srun started */
    {{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"},
     HALOTUNE_OK,
     "Open MPI's mpirun",
     "openmpi",
     3,
     4,
     3},
    {{"PMI_RANK=3", "PMI_SIZE=4", "HYDI_CONTROL_FD=7", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"},
     HALOTUNE_OK,
     "MPICH's mpiexec",
     "mpich",
     3,
     4,
     3},
    /* the user decides */
    {{"PMI_RANK=0", "PMI_SIZE=2", "HALOTUNE_MPI=openmpi"}, HALOTUNE_OK, "MPICH's mpiexec", "openmpi", 0, 2, 0},
    {{"PMI_RANK=0", "PMI_SIZE=2", "HALOTUNE_MPI=/a/b.so"}, HALOTUNE_OK, "MPICH's mpiexec", "/a/b.so", 0, 2, 0},
    {{"PMI_RANK=1", "PMI_SIZE=2", "HALOTUNE_MPI=lam"}, HALOTUNE_ARGUMENT, "MPICH's mpiexec", "mpich", 1, 2, 1},
    {{"HALOTUNE_MPI=openmpi"}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
    /* what no launcher writes */
    {{"PMI_RANK=2", "PMI_SIZE=2"}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
    {{"PMI_RANK=-1", "PMI_SIZE=2"}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
    {{"PMI_RANK=0", "PMI_SIZE=two"}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
    {{"PMI_RANK=0", "PMI_SIZE="}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
    {{"PMI_RANK=0", "PMI_SIZE=99999999999"}, HALOTUNE_ARGUMENT, "", "", 0, 1, 0},
};

TEST(the_environment_tells_the_launcher) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct launcher launcher;
    environment_set(rows[i].variables);
    CHECK_EQ(rows[i].want, launcher_find(&launcher), "row %zu: %s", i, fail_text());
    CHECK_TEXT(rows[i].name, launcher.name ? launcher.name : "", "row %zu", i);
    CHECK_TEXT(rows[i].plugin, launcher.plugin ? launcher.plugin : "", "row %zu", i);
    CHECK_EQ(rows[i].rank, launcher.rank, "row %zu", i);
    CHECK_EQ(rows[i].size, launcher.size, "row %zu", i);
    CHECK_EQ(rows[i].local_rank, launcher.local_rank, "row %zu", i);
  }
}

TEST(a_job_of_several_tasks_without_srun_is_told) {
  static const struct {
    const char *variables[VARIABLES_MOST];
    bool has_advice;
  } jobs[] = {
      {{NULL}, false},
      {{"SLURM_NTASKS=1"}, false},
      {{"SLURM_NTASKS=4"}, true},
      {{"SLURM_NTASKS=4", "HALOTUNE_MPI=none"}, false},
      {{"SLURM_NTASKS=4", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1"}, false},
      {{"SLURM_NTASKS=4", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4"}, false},
  };
  for (size_t i = 0; i < COUNT(jobs); i++) {
    struct launcher launcher;
    environment_set(jobs[i].variables);
    CHECK_OK(launcher_find(&launcher));
    CHECK_EQ(jobs[i].has_advice, launcher_advice(&launcher) != NULL, "row %zu", i);
  }
}

TEST(one_rank_prints_an_error_that_all_have) {
  const struct launcher first = {.name = "x", .rank = 0, .size = 4}, other = {.name = "x", .rank = 2, .size = 4};
  CHECK(launcher_speaks(&first, HALOTUNE_ARGUMENT), "rank 0");
  CHECK(launcher_speaks(&first, HALOTUNE_OK), "rank 0");
  CHECK(!launcher_speaks(&other, HALOTUNE_ARGUMENT), "rank 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_environment_tells_the_launcher),
      cmocka_unit_test(a_job_of_several_tasks_without_srun_is_told),
      cmocka_unit_test(one_rank_prints_an_error_that_all_have),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
