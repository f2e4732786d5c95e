/* query_answer_test.c: what `halotune query` says where a database changes between its two readings. */
#include "tuner/cli/query/query_answer.h"

#include <fcntl.h>

#include "tests/unit/library/tuned.h"

static const struct tuned rows[] = {
    {GPU_H200, "star7", "zmarch", "vector=4", DTYPE_F32, {512, 512, 512}, LAUNCH_STREAM, CACHE_STEADY, false, 0.27},
};
static const halotune_problem problem = {"star7", "NVIDIA H200", {512, 512, 512}, HALOTUNE_F32, 0, 0, 0, 0};

/* Read the facts again, and what stderr gets. */
static bool read_again(const struct query *query, const char *file, struct query_stored *out, char *said,
                       size_t bytes) {
  fflush(stderr);
  const int kept = dup(STDERR_FILENO), fd = open(file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  CHECK(kept >= 0 && fd >= 0 && dup2(fd, STDERR_FILENO) >= 0, "%s", file);
  const bool is_stored = query_stored(query, out);
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  const ssize_t length = pread(fd, said, bytes - 1, 0);
  said[length > 0 ? length : 0] = '\0';
  close(fd);
  return is_stored;
}

TEST(a_database_that_has_changed_is_told) {
  static const char *const changes[] = {"update best set date = '2020-01-01T00:00:00.000Z'", NULL};
  for (size_t i = 0; i < COUNT(changes); i++) {
    struct work work = work_begin();
    struct query query = {.ctx = tuned_open(work.path, rows, COUNT(rows))};
    struct query_stored stored;
    struct lookup_key key;
    char file[128], said[4096];
    snprintf(file, sizeof file, "%s/said", work.folder);
    CHECK_OK(halotune_lookup(query.ctx, &problem, &query.config));
    CHECK_OK(config_read(query.ctx, &query.config, &key, &query.answer));
    CHECK(read_again(&query, file, &stored, said, sizeof said), "%s", said);
    CHECK_TEXT("time", stored.objective, "row %zu", i);
    CHECK_TEXT("", said, "row %zu", i);
    if (changes[i]) tuned_change(work.path, changes[i]);
    else CHECK_EQ(0, unlink(work.path), "%s", work.path);
    CHECK(!read_again(&query, file, &stored, said, sizeof said), "row %zu", i);
    CHECK(strstr(said, work.path) && strstr(said, "ask again"), "row %zu: %s", i, said);
    halotune_close(query.ctx);
    work_end(&work);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_database_that_has_changed_is_told)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
