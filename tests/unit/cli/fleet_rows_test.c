/* fleet_rows_test.c: which run of a GPU is shown as running. */
#include "tuner/cli/fleet/fleet_rows.h"

#include "db/store/query.h"
#include "tests/unit/stores.h"
#include "tuner/cli/tune/tuning_lock.h"

#define GPU_1 "GPU-01234567-89ab-cdef-0123-456789abcdef" /* case_device */

/* A second GPU with the same tasks, whose runs began in the other order. */
static const char second_gpu[] =
    "create temp table d as select * from device; update d set id = 100, uuid = 'GPU-2'; insert into device select * from d;"
    "create temp table p as select * from problem; update p set id = id + 100, device_id = 100;"
    " insert into problem select * from p;"
    "update run set started = '2026-11-0' || id || 'T12:00:00.000Z';"
    "create temp table r as select * from run; update r set id = id + 100, problem_id = problem_id + 100,"
    " started = '2026-11-1' || (9 - id) || 'T12:00:00.000Z'; insert into run select * from r;";

/* Count the rows that are shown as running, and find the grid of the last one. */
static int running_of(const char *path, const char *uuid, long *nx) {
  struct fleet_rows rows = {.count = 0};
  int running = 0;
  CHECK_OK(fleet_rows_add(&rows, path));
  fleet_rows_end(&rows);
  CHECK_EQ(6, rows.count, "tasks");
  for (int i = 0; i < rows.count; i++) {
    if (rows.list[i].stage != STAGE_RUNNING || strcmp(rows.list[i].state.uuid, uuid) != 0) continue;
    running++;
    *nx = rows.list[i].state.grid.n[0];
  }
  fleet_rows_free(&rows);
  return running;
}

TEST(the_newest_run_of_a_gpu_whose_lock_is_held_is_running) {
  static const struct {
    const char *uuid, *other;
    long nx; /* of the newest run */
  } rows[] = {
      {"GPU-2", GPU_1, 256},
      {GPU_1, "GPU-2", 768},
  };
  struct work work = work_begin();
  struct store *store = NULL;
  struct bench_case c;
  long nx = 0;
  CHECK_EQ(0, setenv("XDG_CACHE_HOME", work.folder, 1), "setenv");
  case_load(&c);
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  for (int i = 1; i <= 3; i++) {
    case_put(&c, store, 256L * i);
    (void)case_run(&c, store, "580.1");
  }
  CHECK_OK(query_script(store_connection(store), second_gpu));
  store_close(store);
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct tune_lock lock = {-1};
    CHECK_EQ(0, running_of(work.path, rows[i].uuid, &nx), "%s without a lock", rows[i].uuid);
    tuning_lock_take(work.path, rows[i].uuid, &lock);
    CHECK_EQ(1, running_of(work.path, rows[i].uuid, &nx), "%s", rows[i].uuid);
    CHECK_EQ(rows[i].nx, nx, "%s", rows[i].uuid);
    CHECK_EQ(0, running_of(work.path, rows[i].other, &nx), "the other one beside %s", rows[i].uuid);
    tune_lock_release(&lock);
  }
  case_free(&c);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_newest_run_of_a_gpu_whose_lock_is_held_is_running)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
