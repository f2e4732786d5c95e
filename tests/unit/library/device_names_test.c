/* device_names_test.c: which GPU a name means, where documents brought GPUs with names that look like it. */
#include "db/store/query.h"
#include "library/lookup/context.h"
#include "tests/unit/library/tuned.h"

enum { H200_MULTIPROCESSORS = 132, THEIR_MULTIPROCESSORS = 7 };

/* Make a database with a GPU that a document brought. `change` changes its row. */
static void database_make(const char *path, bool has_own, const char *change) {
  struct store *store;
  char sql[512];
  struct device_facts own = tuned_device(GPU_H200), theirs = tuned_device(GPU_H100);
  CHECK_OK(store_open(path, STORE_WRITE, &store));
  theirs.sm_count = THEIR_MULTIPROCESSORS;
  CHECK(store_device(store, &theirs, false) > 0, "%s", fail_text());
  snprintf(
      sql, sizeof sql,
      "insert into origin (id, kind, name, signer, date) values (99, 'imported', 'm.json', 'mallory', '2026-01-01');"
      " update device set origin_id = 99, %s",
      change);
  CHECK_OK(query_script(store_connection(store), sql));
  if (has_own) CHECK(store_device(store, &own, false) > 0, "%s", fail_text());
  store_close(store);
}

/* The multiprocessors of the device that a name means; 0 if it means none. */
static int multiprocessors_of(const char *path, const char *asked) {
  const char *paths[] = {path};
  halotune_ctx *ctx;
  struct known_device room;
  const struct known_device *found;
  CHECK_OK(halotune_open(paths, 1, &ctx));
  const int count = context_device(ctx, asked, &room, &found) == HALOTUNE_OK ? found->sm_count : 0;
  halotune_close(ctx);
  return count;
}

TEST(an_imported_gpu_hides_no_known_one) {
  static const struct {
    const char *change, *asked;
    int want;
  } rows[] = {
      {"name = 'h200'", "h200", H200_MULTIPROCESSORS},
      {"name = 'H200'", "H200", H200_MULTIPROCESSORS},
      {"name = 'NVIDIA  H200'", "h200", H200_MULTIPROCESSORS},
      {"name = 'NVIDIA  H200'", "NVIDIA  H200", H200_MULTIPROCESSORS},
      {"name = 'nvidia h200'", "nvidia h200", H200_MULTIPROCESSORS},
      {"name = 'NVIDIA H200'", "NVIDIA H200", H200_MULTIPROCESSORS},
      {"name = 'NVIDIA H200'", "h200", H200_MULTIPROCESSORS},
      {"uuid = 'h200'", "h200", H200_MULTIPROCESSORS},
      {"name = 'h200', is_emulation = 1", "h200", H200_MULTIPROCESSORS},
      {"name = 'sm_80', capability = 80", "sm_80", 108},
      /* what no known GPU fits */
      {"name = 'NVIDIA Z9'", "NVIDIA Z9", THEIR_MULTIPROCESSORS},
      {"name = 'NVIDIA Z9'", "z9", THEIR_MULTIPROCESSORS},
      {"name = 'h200'", "GPU-100", THEIR_MULTIPROCESSORS},
      {"name = 'emulation of sm_90', is_emulation = 1", "emulation of sm_90", THEIR_MULTIPROCESSORS},
      {"name = 'NVIDIA Z9'", "z8", 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    for (int has_own = 0; has_own < 2; has_own++) {
      struct work work = work_begin();
      database_make(work.path, has_own, rows[i].change);
      CHECK_EQ(rows[i].want, multiprocessors_of(work.path, rows[i].asked), "row %zu: %s, '%s'%s", i, rows[i].change,
               rows[i].asked, has_own ? ", with an H200 of the user" : "");
      work_end(&work);
    }
  }
}

/* A document gave its GPU the UUID of another document's GPU as a name. */
TEST(an_imported_uuid_goes_before_a_name) {
  struct work work = work_begin();
  struct store *store;
  struct device_facts other = tuned_device(GPU_A100);
  database_make(work.path, false, "name = 'GPU-a100'");
  CHECK_OK(store_open(work.path, STORE_WRITE, &store));
  CHECK(store_device(store, &other, false) > 0, "%s", fail_text());
  CHECK_OK(query_script(store_connection(store), "update device set origin_id = 99"));
  store_close(store);
  CHECK_EQ(other.sm_count, multiprocessors_of(work.path, "GPU-a100"), "the GPU with this UUID");
  work_end(&work);
}

/* A recording that was replayed first has the name of an architecture, or the UUID of the user's GPU for a name, or
 * other limits than a GPU of its model. */
TEST(a_recorded_gpu_hides_no_gpu) {
  static const struct {
    const char *name, *asked;
    int multiprocessors, max_threads;
  } rows[] = {{"sm_90", "sm_90", H200_MULTIPROCESSORS, 1024},
              {"GPU-200", "GPU-200", H200_MULTIPROCESSORS, 1024},
              {"NVIDIA H200", "NVIDIA H200", H200_MULTIPROCESSORS, 1024},
              {"NVIDIA Z9", "NVIDIA Z9", THEIR_MULTIPROCESSORS, 32}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct work work = work_begin();
    const char *paths[] = {work.path};
    struct store *store;
    struct device_facts recorded = tuned_device(GPU_H200);
    const struct device_facts own = recorded;
    halotune_ctx *ctx;
    struct known_device room;
    const struct known_device *found;
    snprintf(recorded.name, sizeof recorded.name, "%s", rows[i].name);
    recorded.limits.max_threads = 32;
    if (strcmp(recorded.name, own.name) != 0) recorded.sm_count = THEIR_MULTIPROCESSORS;
    recorded = device_recorded(&recorded);
    CHECK_OK(store_open(work.path, STORE_WRITE, &store));
    CHECK(store_device(store, &recorded, false) != store_device(store, &own, false), "two devices");
    store_close(store);
    CHECK_OK(halotune_open(paths, 1, &ctx));
    CHECK_OK(context_device(ctx, rows[i].asked, &room, &found));
    CHECK_EQ(rows[i].multiprocessors, found->sm_count, "%s", rows[i].name);
    CHECK_EQ(rows[i].max_threads, found->limits.max_threads, "%s", rows[i].name);
    halotune_close(ctx);
    work_end(&work);
  }
}

/* An imported GPU that is as the table has it is meant by its name: its results answer, and a lookup finds the name in
 * the index. */
TEST(an_imported_gpu_of_the_table_is_known) {
  struct work work = work_begin();
  const char *paths[] = {work.path};
  halotune_ctx *ctx;
  struct known_device room;
  const struct known_device *found;
  database_make(work.path, false, "name = 'NVIDIA H200', sm_count = 132");
  CHECK_OK(halotune_open(paths, 1, &ctx));
  CHECK_OK(context_device(ctx, "h200", &room, &found));
  CHECK_TEXT("GPU-100", found->uuid, "the device of the database");
  CHECK(names_find(&ctx->catalog.device_names, "NVIDIA H200") >= 0, "the name is in the index");
  CHECK(names_find(&ctx->catalog.device_names, "GPU-100") < 0, "the UUID is not, which a document may claim");
  halotune_close(ctx);
  work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_imported_gpu_hides_no_known_one),
      cmocka_unit_test(an_imported_uuid_goes_before_a_name),
      cmocka_unit_test(a_recorded_gpu_hides_no_gpu),
      cmocka_unit_test(an_imported_gpu_of_the_table_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
