/* heartbeat_test.c: signs of life over an MPI that the test plays, with a clock that the test advances. */
#include "tuner/fleet/mpi/heartbeat.h"

#include "tests/unit/unit.h"

enum { RANKS = 5, LIMIT_MS = 20000, BEAT_MS = 2000 };

/* Ranks 0, 2 and 4 are led by 0; rank 1 and rank 3 lead themselves. */
static const int colours[RANKS] = {7, 0, 7, 5, 7};

static struct {
  struct fleet_mpi_sign come, sent[RANKS];
  int from, sent_count, error;
  bool ends;
} mpi;

static int mpi_sign(int to, const struct fleet_mpi_sign *sign, void **request) {
  mpi.sent[to] = *sign;
  mpi.sent_count++;
  *request = &mpi;
  return 0;
}

static int mpi_hear(int *from, struct fleet_mpi_sign *sign) {
  *from = mpi.from;
  *sign = mpi.come;
  mpi.from = -1;
  return mpi.error;
}

static int mpi_has_ended(void *request, bool *has_ended) {
  *has_ended = request && mpi.ends;
  return 0;
}

static void mpi_error_text(int error, char text[FLEET_MPI_TEXT_BYTES]) {
  snprintf(text, FLEET_MPI_TEXT_BYTES, "error %d", error);
}

static const struct fleet_mpi_plugin plugin = {
    .sign = mpi_sign, .hear = mpi_hear, .has_ended = mpi_has_ended, .error_text = mpi_error_text};

static void begin_heartbeat(struct heartbeat *heartbeat, int rank, const int *of) {
  const struct fleet_mpi_world world = {.rank = rank, .size = RANKS};
  memset(&mpi, 0, sizeof mpi);
  mpi.from = -1;
  mpi.ends = true;
  CHECK_OK(heartbeat_open(&plugin, &world, of, LIMIT_MS, 0, heartbeat));
}

/* Let time go by in steps of a tenth of a second. */
static void pass(struct heartbeat *heartbeat, double *now_ms, double by_ms) {
  const double step_ms = 100, until_ms = *now_ms + by_ms;
  while (*now_ms < until_ms) {
    *now_ms += step_ms;
    CHECK_OK(heartbeat_step(heartbeat, *now_ms, true));
  }
}

static void come(struct heartbeat *heartbeat, double now_ms, int from, struct fleet_mpi_sign sign) {
  mpi.from = from;
  mpi.come = sign;
  CHECK_OK(heartbeat_step(heartbeat, now_ms, true));
}

TEST(a_leader_sends_signs_to_all_ranks) {
  struct heartbeat heartbeat;
  double now_ms = 0;
  begin_heartbeat(&heartbeat, 0, colours);
  CHECK_EQ(3, heartbeat.leader_count, "three teams");
  pass(&heartbeat, &now_ms, 10 * BEAT_MS);
  CHECK_EQ(10 * (RANKS - 1), mpi.sent_count, "one sign each two seconds to each other rank");
  mpi.ends = false; /* ranks that take nothing get one more */
  pass(&heartbeat, &now_ms, 10 * BEAT_MS);
  CHECK_EQ(11 * (RANKS - 1), mpi.sent_count, "ranks that take nothing");
  CHECK(!heartbeat_is_sent(&heartbeat), "a sign is on its way");
  heartbeat_set_done(&heartbeat, true, 6);
  mpi.ends = true;
  pass(&heartbeat, &now_ms, 200);
  CHECK(heartbeat_is_sent(&heartbeat), "all have ended");
  CHECK(mpi.sent[4].is_done && mpi.sent[4].has_loss && mpi.sent[4].exit_code == 6, "to rank 4");
  heartbeat_free(&heartbeat);
}

TEST(members_and_jobs_of_one_team_send_none) {
  static const int one[RANKS] = {0};
  struct heartbeat heartbeat;
  for (int i = 0; i < 2; i++) {
    double now_ms = 0;
    begin_heartbeat(&heartbeat, i == 0 ? 2 : 0, i == 0 ? colours : one);
    pass(&heartbeat, &now_ms, 3 * BEAT_MS);
    CHECK_EQ(0, mpi.sent_count, "round %d", i);
    CHECK(heartbeat_is_sent(&heartbeat), "round %d", i);
    heartbeat_free(&heartbeat);
  }
}

TEST(a_leader_waits_for_leaders_as_long_as_they_live) {
  struct heartbeat heartbeat;
  struct fleet_mpi_sign all;
  double now_ms = 0;
  int silent;
  begin_heartbeat(&heartbeat, 0, colours);
  heartbeat_set_done(&heartbeat, false, 2);
  heartbeat_await(&heartbeat);
  come(&heartbeat, now_ms, 1, (struct fleet_mpi_sign){.is_done = 1, .has_loss = 1, .exit_code = 3});
  for (int i = 0; i < 5; i++) { /* rank 3 searches on, and rank 1, which is done, says nothing more */
    pass(&heartbeat, &now_ms, LIMIT_MS - 1000);
    CHECK(!heartbeat_are_done(&heartbeat, &all, &silent), "after %g ms", now_ms);
    come(&heartbeat, now_ms, 3, (struct fleet_mpi_sign){0});
  }
  pass(&heartbeat, &now_ms, LIMIT_MS + 200);
  CHECK(heartbeat_are_done(&heartbeat, &all, &silent), "rank 3 is silent");
  CHECK_EQ(3, silent, "rank 1 was done before it was silent");
  CHECK(all.has_loss && all.exit_code == 3, "of rank 1");
  come(&heartbeat, now_ms, 3, (struct fleet_mpi_sign){.is_done = 1}); /* rank 3 was only slow */
  CHECK(heartbeat_are_done(&heartbeat, &all, &silent), "all are done");
  CHECK_EQ(-1, silent, "rank 3 was only slow");
  heartbeat_free(&heartbeat);
}

TEST(a_member_waits_as_long_as_any_leader_lives) {
  struct heartbeat heartbeat;
  double now_ms = 0;
  begin_heartbeat(&heartbeat, 2, colours);
  pass(&heartbeat, &now_ms, 2 * LIMIT_MS);
  heartbeat_await(&heartbeat); /* silence counts from here on */
  CHECK(!heartbeat_is_silent(&heartbeat), "before the wait");
  pass(&heartbeat, &now_ms, LIMIT_MS - 1000);
  come(&heartbeat, now_ms, 3, (struct fleet_mpi_sign){0});
  pass(&heartbeat, &now_ms, LIMIT_MS - 1000);
  CHECK(!heartbeat_is_silent(&heartbeat), "rank 3 lives");
  pass(&heartbeat, &now_ms, 1200);
  CHECK(heartbeat_is_silent(&heartbeat), "no leader lives");
  heartbeat_free(&heartbeat);
}

TEST(a_time_in_which_the_process_was_stopped_hardly_counts) {
  struct heartbeat heartbeat;
  begin_heartbeat(&heartbeat, 2, colours);
  heartbeat_await(&heartbeat);
  CHECK_OK(heartbeat_step(&heartbeat, 100 * LIMIT_MS, true));
  CHECK(!heartbeat_is_silent(&heartbeat), "stopped for long");
  heartbeat_free(&heartbeat);
}

TEST(an_error_of_mpi_is_reported) {
  struct heartbeat heartbeat;
  begin_heartbeat(&heartbeat, 0, colours);
  mpi.error = 5;
  CHECK_EQ(HALOTUNE_IO, heartbeat_step(&heartbeat, 1, true), "of hear");
  CHECK(strstr(fail_text(), "error 5"), "%s", fail_text());
  heartbeat_free(&heartbeat);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_leader_sends_signs_to_all_ranks),
      cmocka_unit_test(members_and_jobs_of_one_team_send_none),
      cmocka_unit_test(a_leader_waits_for_leaders_as_long_as_they_live),
      cmocka_unit_test(a_member_waits_as_long_as_any_leader_lives),
      cmocka_unit_test(a_time_in_which_the_process_was_stopped_hardly_counts),
      cmocka_unit_test(an_error_of_mpi_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
