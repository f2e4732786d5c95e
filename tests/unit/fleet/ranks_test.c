/* ranks_test.c: jobs of three ranks, of which one differs. */
#include "tuner/fleet/ranks.h"

#include "tests/unit/unit.h"

enum { RANKS = 3 };

static void rank_make(union rank_record *ranks) {
  memset(ranks, 0, RANKS * sizeof *ranks);
  for (int i = 0; i < RANKS; i++) {
    struct rank_entry *entry = &ranks[i].entry;
    snprintf(entry->halotune, sizeof entry->halotune, "0.2.0");
    snprintf(entry->host, sizeof entry->host, "node%d", i);
    snprintf(entry->device, sizeof entry->device, "NVIDIA H200");
    snprintf(entry->uuid, sizeof entry->uuid, "GPU-%d", i);
    ranks_enter_database(entry, "site.db");
    entry->capability = 90;
    entry->sm_count = 132;
    entry->time_s = 1000000000;
  }
}

static void other_version(union rank_record *ranks) { snprintf(ranks[2].entry.halotune, 32, "0.1.0"); }
static void other_command(union rank_record *ranks) { ranks[1].entry.command[0] = 'x'; }
static void other_stencils(union rank_record *ranks) { ranks[2].entry.stencils[0] = 'x'; }
static void other_database(union rank_record *ranks) { ranks_enter_database(&ranks[1].entry, "/scratch/1.db"); }
/* Their first 300 characters are the same, or their last ones: all but the first.
 *   differs  the place of the character in which rank 1 has another path; -1: all have the same */
static void long_databases(union rank_record *ranks, int differs) {
  char path[512];
  memset(path, 'a', sizeof path);
  path[sizeof path - 1] = '\0';
  for (int i = 0; i < RANKS; i++) {
    if (differs >= 0) path[differs] = i == 1 ? 'b' : 'a';
    ranks_enter_database(&ranks[i].entry, path);
  }
}
static void other_beginning(union rank_record *ranks) { long_databases(ranks, 0); }
static void other_end(union rank_record *ranks) { long_databases(ranks, 510); }
static void same_long_database(union rank_record *ranks) { long_databases(ranks, -1); }
static void same_gpu(union rank_record *ranks) { snprintf(ranks[2].entry.uuid, 32, "GPU-1"); }
static void no_gpus(union rank_record *ranks) {
  for (int i = 0; i < RANKS; i++) ranks[i].entry.uuid[0] = '\0';
}
static void no_driver(union rank_record *ranks) {
  ranks[1].entry.status = HALOTUNE_NO_GPU;
  snprintf(ranks[1].entry.reason, sizeof ranks[1].entry.reason, "no CUDA driver");
}
static void no_drivers(union rank_record *ranks) {
  no_driver(ranks);
  ranks[2].entry = ranks[1].entry;
}
/* Another version may lay out its record differently, so that only its version is read. */
static void other_version_without_driver(union rank_record *ranks) {
  other_version(ranks);
  ranks[2].entry.status = 77;
}
static void nothing(union rank_record *ranks) { (void)ranks; }

static const struct {
  void (*change)(union rank_record *ranks);
  bool may_share;
  halotune_status want;
  const char *words; /* NULL: long ones */
} rows[] = {
    {nothing, false, HALOTUNE_OK, ""},
    {other_version, false, HALOTUNE_IO,
     "rank 2 has Halotune 0.1.0, and rank 0 on node0 has 0.2.0: install one version on all hosts"},
    {other_version_without_driver, false, HALOTUNE_IO,
     "rank 2 has Halotune 0.1.0, and rank 0 on node0 has 0.2.0: install one version on all hosts"},
    {no_driver, false, HALOTUNE_NO_GPU, "rank 1 on node1: no CUDA driver"},
    {no_drivers, false, HALOTUNE_NO_GPU, "rank 1 on node1 (and 1 more of 3 ranks): no CUDA driver"},
    {other_command, false, HALOTUNE_ARGUMENT,
     "rank 1 on node1 was started with another command than rank 0: start all with the same one"},
    {other_stencils, false, HALOTUNE_ARGUMENT,
     "rank 2 on node2 has other stencils than rank 0 on node0: give all hosts the same files"},
    {other_database, false, HALOTUNE_ARGUMENT,
     "rank 1 on node1 would store into /scratch/1.db, and rank 0 on node0 into site.db: name one with --db"},
    {other_beginning, false, HALOTUNE_ARGUMENT, NULL},
    {other_end, false, HALOTUNE_ARGUMENT, NULL},
    {same_long_database, false, HALOTUNE_OK, ""},
    {same_gpu, false, HALOTUNE_ARGUMENT,
     "ranks 1 and 2 use the same GPU, GPU-1 of host node2: start one rank for each GPU, in Slurm with --gpus-per-task=1; or let ranks share GPUs with --members 3"},
    {same_gpu, true, HALOTUNE_OK, ""},
    {no_gpus, false, HALOTUNE_OK, ""},
};

TEST(one_line_tells_what_speaks_against_a_job) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    union rank_record ranks[RANKS];
    rank_make(ranks);
    rows[i].change(ranks);
    CHECK_EQ(rows[i].want, ranks_check(ranks, RANKS, rows[i].may_share), "row %zu: %s", i, fail_text());
    if (rows[i].want != HALOTUNE_OK && rows[i].words) CHECK_TEXT(rows[i].words, fail_text(), "row %zu", i);
  }
}

TEST(a_long_path_is_shown_by_its_end) {
  struct rank_entry entry;
  struct text path = {0}, want = {0};
  for (int i = 0; i < 252; i++) text_printf(&path, "\xc3\xa4"); /* a letter of two bytes */
  text_printf(&path, "site.db");                                /* 511 bytes; the last 252 begin within a letter */
  ranks_enter_database(&entry, text_string(&path));
  text_printf(&want, "...%s", text_string(&path) + 260);
  CHECK_TEXT(text_string(&want), entry.database, "the end, from a whole letter");
  text_free(&path);
  text_free(&want);
}

TEST(a_clock_that_is_far_off_is_told) {
  static const struct {
    long long off_s[RANKS];
    const char *words;
  } clocks[] = {
      {{0, 0, 0}, ""},
      {{0, 600, -600}, ""},
      {{0, 30, 3600},
       "the clock of rank 2 on node2 is 60 minutes ahead of that of rank 0 on node0, which dates all results\n"},
      {{0, -3601, 3600},
       "the clock of rank 1 on node1 is 60 minutes behind that of rank 0 on node0, which dates all results\n"},
  };
  for (size_t i = 0; i < COUNT(clocks); i++) {
    union rank_record ranks[RANKS];
    struct text line = {0};
    rank_make(ranks);
    for (int k = 0; k < RANKS; k++) ranks[k].entry.time_s += clocks[i].off_s[k];
    ranks_tell_clocks(ranks, RANKS, &line);
    CHECK_TEXT(clocks[i].words, text_string(&line), "row %zu", i);
    text_free(&line);
  }
}

TEST(ranks_of_one_model_are_a_team) {
  union rank_record ranks[RANKS];
  rank_make(ranks);
  CHECK_EQ(0, ranks_find_team(ranks, 0), "itself");
  CHECK_EQ(0, ranks_find_team(ranks, 2), "all alike");
  ranks[1].entry.sm_count = 114;
  CHECK_EQ(1, ranks_find_team(ranks, 1), "another model");
  CHECK_EQ(0, ranks_find_team(ranks, 2), "the first model again");
  snprintf(ranks[2].entry.device, sizeof ranks[2].entry.device, "NVIDIA H100");
  CHECK_EQ(2, ranks_find_team(ranks, 2), "a third model");
}

TEST(ranks_of_one_host_share_the_same_set_of_cores) {
  union rank_record ranks[RANKS];
  rank_make(ranks);
  for (int i = 0; i < RANKS; i++) {
    snprintf(ranks[i].entry.host, sizeof ranks[i].entry.host, "node");
    snprintf(ranks[i].entry.cores, sizeof ranks[i].entry.cores, "first");
  }
  CHECK_EQ(RANKS, ranks_count_sharers(ranks, RANKS, 1), "one set");
  snprintf(ranks[2].entry.cores, sizeof ranks[2].entry.cores, "second");
  CHECK_EQ(2, ranks_count_sharers(ranks, RANKS, 1), "two sets");
  CHECK_EQ(1, ranks_count_sharers(ranks, RANKS, 2), "a set of its own");
  snprintf(ranks[0].entry.host, sizeof ranks[0].entry.host, "other");
  CHECK_EQ(1, ranks_count_sharers(ranks, RANKS, 1), "two hosts");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_line_tells_what_speaks_against_a_job),
      cmocka_unit_test(a_long_path_is_shown_by_its_end),
      cmocka_unit_test(a_clock_that_is_far_off_is_told),
      cmocka_unit_test(ranks_of_one_model_are_a_team),
      cmocka_unit_test(ranks_of_one_host_share_the_same_set_of_cores),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
