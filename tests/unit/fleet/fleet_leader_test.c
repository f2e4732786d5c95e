/* fleet_leader_test.c: how a leader treats members that come, answer, hang, die, talk nonsense or are slow. */
#include <stdlib.h>

#include "base/numbers/random.h"
#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"

struct team {
  struct fake_link *fake;
  struct fleet_link link;
  struct leader *leader;
  struct crew crew;
  struct bench_case bench;
  struct template *templates[1];
  struct search_space space;
  struct task task;
  volatile sig_atomic_t stop;
};

static void team_open(struct team *team, int size) {
  *team = (struct team){.fake = calloc(1, sizeof *team->fake)};
  CHECK(team->fake, "memory");
  case_load(&team->bench);
  team->templates[0] = team->bench.template;
  team->space = (struct search_space){.templates = team->templates, .count = 1};
  team->task = (struct task){.stencil = team->bench.stencil,
                             .analysis = team->bench.analysis,
                             .stencil_text = "name: test",
                             .grid = {{64, 48, 40}},
                             .coefficients = case_coefficients,
                             .launch_steps = 1};
  team->link = (struct fleet_link){.table = &fake_table, .state = team->fake, .size = size};
  const struct leader_options options = {.link = &team->link,
                                         .own = fake_hello(0),
                                         .patience_ms = 1000,
                                         .stop = &team->stop,
                                         .time = {fake_now_ms, team->fake}};
  CHECK_OK(leader_open(&options, &team->leader));
  team->crew = leader_crew(team->leader);
}

static void team_close(struct team *team) {
  leader_close(team->leader);
  fake_free(team->fake);
  free(team->fake);
  case_free(&team->bench);
}

static void say_hello(struct team *team, int rank, const struct fleet_hello *hello) {
  fleet_hello_write(fake_say(team->fake, rank, FLEET_HELLO, 0), hello);
}

/* Bring members to the point where they want variants.
 *   anchors_ms  of the device and of each member */
static void team_begin_as(struct team *team, const double *anchors_ms, bool is_emulation) {
  const int size = team->link.size;
  struct text words = {0};
  for (int rank = 1; rank < size; rank++) {
    struct fleet_hello hello = fake_hello(rank);
    hello.is_emulation = is_emulation;
    if (is_emulation) snprintf(hello.uuid, sizeof hello.uuid, "GPU-0"); /* all emulations have one name */
    say_hello(team, rank, &hello);
  }
  CHECK_EQ(size - 1, leader_gather(team->leader, 100, &words), "all take part: %s", text_string(&words));
  const struct crew_task task = {.task = &team->task, .templates = team->templates, .template_count = 1};
  const struct crew_start start = {.space = &team->space};
  struct trial *trial;
  bool is_lost;
  CHECK_OK(team->crew.table->begin(team->crew.state, &task));
  CHECK_OK(team->crew.table->start(team->crew.state, &start));
  team->crew.table->anchored(team->crew.state, anchors_ms[0]);
  for (int rank = 1; rank < size; rank++) {
    struct text *ready = fake_say(team->fake, rank, FLEET_READY, 1);
    pack_u64(ready, 1);
    pack_text(ready, "");
    pack_double(fake_say(team->fake, rank, FLEET_ANCHORED, 1), anchors_ms[rank]);
  }
  CHECK_OK(team->crew.table->take(team->crew.state, 0, &trial, &is_lost));
  CHECK(!trial, "nothing was given yet");
  text_free(&words);
}

static void team_begin(struct team *team, const double *anchors_ms) { team_begin_as(team, anchors_ms, false); }

static void give(struct team *team) {
  struct proposal proposal;
  struct trial *trial;
  memset(&proposal, 0, sizeof proposal);
  CHECK_OK(trial_begin_away(team->bench.template, &proposal, &trial));
  CHECK_OK(team->crew.table->put(team->crew.state, trial, INFINITY));
}

/* A member answers a ticket with a time. */
static void answer(struct team *team, int rank, long ticket, double time_ms, double scale) {
  const float samples[] = {(float)time_ms, (float)time_ms};
  struct trial trial = {.proposal.ticket = ticket, .result = measurement_none()};
  trial.result.outcome = OUTCOME_MEASURED;
  trial.result.timing = (struct timing){.sample_count = 2,
                                        .median_ms = time_ms,
                                        .minimum_ms = time_ms,
                                        .low_ms = time_ms,
                                        .high_ms = time_ms,
                                        .samples = samples};
  fleet_result_write(fake_say(team->fake, rank, FLEET_RESULT, 1), &trial, scale);
}

/* The ticket of the newest variant that a rank got. */
static long newest_ticket(const struct team *team, int rank) {
  struct unpack in;
  struct proposal proposal;
  if (fake_count(team->fake, rank, FLEET_VARIANT, &in) == 0) return 0;
  return fleet_proposal_read(&in, &proposal) ? proposal.ticket : 0;
}

/* Take the results that come in time. Gives the numbers of results and of lost variants. */
static void take_results(struct team *team, int timeout_ms, int *results, int *lost) {
  struct trial *trial;
  bool is_lost;
  *results = *lost = 0;
  for (;;) {
    CHECK_OK(team->crew.table->take(team->crew.state, timeout_ms, &trial, &is_lost));
    if (!trial) return;
    CHECK_EQ(!is_lost, trial->is_over, "a lost variant is as it was");
    *results += !is_lost;
    *lost += is_lost;
    trial_free(trial);
  }
}

TEST(members_that_do_not_fit_are_refused_with_the_reason) {
  static const struct {
    const char *what, *why;
  } rows[] = {{"version", "has Halotune 0.1.9, and the leader 0.2.0"},
              {"device", "has the GPU GPU of a friend, and the leader GPU of a test"},
              {"driver", "has driver 570, and the leader 580"},
              {"nvrtc", "has NVRTC (unknown), and the leader 13.0"},
              {"sms", "has a GPU with 3 multiprocessors of sm_90, and the leader 4 of sm_90"},
              {"leader's uuid", "it has the same GPU as rank 0, GPU-0"},
              {"member's uuid", "it has the same GPU as rank 1, GPU-1"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    struct text words = {0};
    struct unpack in;
    team_open(&team, 3);
    const struct fleet_hello first = fake_hello(1);
    struct fleet_hello hello = fake_hello(2);
    if (i == 0) snprintf(hello.version, sizeof hello.version, "0.1.9");
    if (i == 1) snprintf(hello.device, sizeof hello.device, "GPU of a friend");
    if (i == 2) snprintf(hello.driver, sizeof hello.driver, "570");
    if (i == 3) hello.nvrtc[0] = '\0';
    if (i == 4) hello.sm_count = 3;
    if (i == 5) snprintf(hello.uuid, sizeof hello.uuid, "GPU-0");
    if (i == 6) snprintf(hello.uuid, sizeof hello.uuid, "GPU-1");
    say_hello(&team, 1, &first);
    say_hello(&team, 2, &hello);
    CHECK_EQ(1, leader_gather(team.leader, 100, &words), "%s: one takes part", rows[i].what);
    CHECK(strstr(text_string(&words), rows[i].why), "%s: \"%s\"", rows[i].what, text_string(&words));
    CHECK_EQ(1, fake_count(team.fake, 2, FLEET_REFUSED, &in), "%s: and it is told", rows[i].what);
    CHECK(strstr(unpack_text(&in), rows[i].why), "%s: why", rows[i].what);
    CHECK_EQ(1, fake_count(team.fake, 1, FLEET_WELCOME, NULL), "%s: the other is welcome", rows[i].what);
    text_free(&words);
    team_close(&team);
  }
}

TEST(a_member_that_never_says_who_it_is_takes_no_part) {
  struct team team;
  struct text words = {0};
  team_open(&team, 3);
  const struct fleet_hello hello = fake_hello(1);
  say_hello(&team, 1, &hello);
  CHECK_EQ(1, leader_gather(team.leader, 100, &words), "one takes part");
  CHECK_TEXT("member 2 takes no part: it has not said who it is in time\n", text_string(&words), "words");
  CHECK_EQ(100, team.fake->now_ms, "the limit");
  text_free(&words);
  team_close(&team);
}

TEST(a_leader_that_is_to_stop_waits_for_nobody) {
  struct team team;
  struct text words = {0};
  team_open(&team, 2);
  team.stop = 1;
  CHECK_EQ(0, leader_gather(team.leader, 60000, &words), "nobody takes part");
  CHECK_TEXT("", text_string(&words), "nobody is late");
  CHECK_EQ(0, team.fake->now_ms, "no time");
  text_free(&words);
  team_close(&team);
}

TEST(variants_go_where_there_is_room_and_results_come_back_corrected) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2.02, 2};
  struct team team;
  struct trial *trial;
  bool is_lost;
  team_open(&team, 3);
  team_begin(&team, anchors_ms);
  CHECK_EQ(6, team.crew.table->room(team.crew.state), "three for each");
  for (int i = 0; i < 6; i++) give(&team);
  CHECK_EQ(0, team.crew.table->room(team.crew.state), "no room is left");
  CHECK_EQ(6, team.crew.table->away(team.crew.state), "all are away");
  CHECK_EQ(3, fake_count(team.fake, 1, FLEET_VARIANT, NULL), "half of them");
  answer(&team, 1, newest_ticket(&team, 1), 5.05, 1.02);
  CHECK_OK(team.crew.table->take(team.crew.state, 0, &trial, &is_lost));
  CHECK(trial && !is_lost && trial->is_over, "a result");
  CHECK_NEAR(5, trial->result.timing.median_ms, 1e-9, "in the device's time");
  CHECK_NEAR(5, trial->samples[1], 1e-6, "and the samples, too");
  CHECK_NEAR(1.02, trial->away_scale, 0, "the member's drift");
  CHECK_TEXT("GPU-1", trial->result.gpu, "it carries its GPU");
  CHECK_EQ(1, team.crew.table->room(team.crew.state), "there is room again");
  trial_free(trial);
  team_close(&team);
}

TEST(a_result_names_no_gpu_if_the_problem_is_of_that_gpu) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2};
  struct team team;
  struct trial *trial;
  bool is_lost;
  team_open(&team, 2);
  team_begin_as(&team, anchors_ms, true);
  give(&team);
  answer(&team, 1, newest_ticket(&team, 1), 5, 1);
  CHECK_OK(team.crew.table->take(team.crew.state, 0, &trial, &is_lost));
  CHECK(trial && trial->is_over, "a result");
  CHECK_TEXT("", trial->result.gpu, "as store.h says");
  trial_free(trial);
  team_close(&team);
}

TEST(a_member_that_fails_costs_what_it_has) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2, 2};
  static const char *const rows[] = {"dies", "hangs", "nonsense", "another's ticket", "a time below zero", "leaves"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    struct crew_report report;
    int results, lost, taken = 0;
    team_open(&team, 3);
    team_begin(&team, anchors_ms);
    for (int k = 0; k < 6; k++) give(&team);
    answer(&team, 1, newest_ticket(&team, 1), 5, 1);
    take_results(&team, 0, &results, &lost);
    CHECK_EQ(1, results, "%s: one result", rows[i]);
    const long other = newest_ticket(&team, 2);
    if (i == 0) fake_gone(team.fake, 1);
    if (i == 2)
      text_add(&team.fake->said[team.fake->said_count++].text, "nonsense", 8),
          team.fake->said[team.fake->said_count - 1].rank = 1;
    if (i == 3) answer(&team, 1, other, 5, 1);
    if (i == 4) answer(&team, 1, newest_ticket(&team, 1) - 2, -5, 1);
    if (i == 5) pack_text(fake_say(team.fake, 1, FLEET_LEAVING, 1), "it was told to stop");
    for (double until_ms = team.fake->now_ms + 1100; i == 1 && team.fake->now_ms < until_ms;) {
      fake_say(team.fake, 2, FLEET_ALIVE, 1);
      struct trial *trial;
      CHECK_OK(team.crew.table->take(team.crew.state, 100, &trial, &(bool){false}));
      if (trial) taken++;
      trial_free(trial);
      if (team.fake->is_dropped[1]) break;
    }
    take_results(&team, 0, &results, &lost);
    lost += taken;
    CHECK_EQ(2, lost, "%s: what it had in flight", rows[i]);
    CHECK_EQ(0, results, "%s: and no result", rows[i]);
    CHECK_EQ(i > 0 && i < 5, team.fake->is_dropped[1], "%s: one that is still there is dropped", rows[i]);
    CHECK_EQ(i > 0 && i < 5, fake_count(team.fake, 1, FLEET_REFUSED, NULL), "%s: and told before", rows[i]);
    CHECK(!team.fake->is_dropped[2], "%s: the other one stays", rows[i]);
    CHECK_EQ(3, team.crew.table->away(team.crew.state), "%s: and has its variants", rows[i]);
    CHECK_OK(team.crew.table->end(team.crew.state, &report));
    CHECK_EQ(2, report.lost, "%s: the report", rows[i]);
    CHECK(report.gpus[1].left_out[0] && !report.gpus[2].left_out[0], "%s: says why: %s", rows[i],
          report.gpus[1].left_out);
    team_close(&team);
  }
}

TEST(a_leader_that_was_stopped_drops_nobody_for_that_time) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2, 2};
  static const char *const rows[] = {"members went on", "members were stopped as well"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    int results, lost;
    team_open(&team, 3);
    team_begin(&team, anchors_ms);
    for (int k = 0; k < 6; k++) give(&team);
    team.fake->now_ms += 60000;
    for (int rank = 1; i == 0 && rank < 3; rank++) fake_say(team.fake, rank, FLEET_ALIVE, 1);
    take_results(&team, 0, &results, &lost);
    CHECK_EQ(0, lost, "%s: nothing is lost", rows[i]);
    take_results(&team, 900, &results, &lost);
    CHECK_EQ(0, lost, "%s: nor soon after it", rows[i]);
    take_results(&team, 200, &results, &lost);
    CHECK_EQ(6, lost, "%s: silence from then on counts", rows[i]);
    team_close(&team);
  }
}

TEST(a_slow_gpu_is_named_and_left_out) {
  static const struct {
    const char *what;
    double anchors_ms[FAKE_RANKS], scale, own_scale;
    int slow; /* rank; -1: none */
    const char *why;
  } rows[] = {{"alike", {2, 2.02, 1.99, 2.01}, 1, 1, -1, ""},
              {"a member is slow", {2, 2.2, 1.99, 2.01}, 1, 1, 1, "it is 10.0 % slower than the team's median"},
              {"a member slows down", {2, 2.01, 1.99, 2.01}, 1.2, 1, 1, "it is 20.3 % slower than the team's median"},
              {"the device is slow", {2.3, 2.01, 1.99, 2.01}, 1, 1, 0, "it is 14.4 % slower than the team's median"},
              {"the device slows down", {2, 2.01, 1.99, 2.01}, 1, 1.1, 0, "it is 9.5 % slower than the team's median"}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    struct crew_report report;
    int results, lost;
    team_open(&team, 4);
    team_begin(&team, rows[i].anchors_ms);
    while (team.crew.table->room(team.crew.state) > 0) give(&team);
    const long ticket = newest_ticket(&team, 1);
    if (ticket > 0) answer(&team, 1, ticket, 5, rows[i].scale);
    CHECK_OK(team.crew.table->device_scaled(team.crew.state, rows[i].own_scale));
    take_results(&team, 0, &results, &lost);
    CHECK_EQ(rows[i].slow == 0 ? 0 : 3, team.crew.table->device_most(team.crew.state), "%s: the device", rows[i].what);
    CHECK_OK(team.crew.table->end(team.crew.state, &report));
    for (int rank = 0; rank < 4; rank++)
      CHECK_TEXT(rank == rows[i].slow ? rows[i].why : "", report.gpus[rank].left_out, "%s: rank %d", rows[i].what,
                 rank);
    team_close(&team);
  }
}

TEST(a_member_that_was_lost_in_a_task_is_no_part_of_the_next_one) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2, 2};
  struct team team;
  struct crew_report report;
  struct text words = {0};
  int results, lost;
  team_open(&team, 3);
  team_begin(&team, anchors_ms);
  for (int k = 0; k < 6; k++) give(&team);
  answer(&team, 1, newest_ticket(&team, 1), 5, 1);
  fake_gone(team.fake, 1);
  take_results(&team, 0, &results, &lost);
  CHECK_EQ(1, results, "what it sent before counts");
  CHECK_EQ(2, lost, "and the rest is given back");
  CHECK_OK(team.crew.table->end(team.crew.state, &report));
  CHECK_EQ(3, report.count, "it took part in the first task");
  CHECK_TEXT("its process has ended", report.gpus[1].left_out, "until then");
  const struct crew_task task = {.task = &team.task, .templates = team.templates, .template_count = 1};
  const struct crew_start start = {.space = &team.space};
  answer(&team, 2, 1, 5, 1); /* on its way since the first task */
  CHECK_OK(team.crew.table->begin(team.crew.state, &task));
  CHECK_OK(team.crew.table->start(team.crew.state, &start));
  team.crew.table->anchored(team.crew.state, anchors_ms[0]);
  take_results(&team, 0, &results, &lost);
  CHECK_EQ(0, results, "a late result of the first task is none of the second");
  team.crew.table->won(team.crew.state, 0, 2, &words);
  CHECK_TEXT("", text_string(&words), "nothing is said of the loss again");
  CHECK_OK(team.crew.table->end(team.crew.state, &report));
  CHECK_EQ(2, report.count, "two are left");
  CHECK_EQ(0, report.gpus[1].results, "with results of this task alone");
  CHECK_EQ(0, report.lost, "none was lost in it");
  CHECK(!team.fake->is_dropped[2], "the other one stays");
  CHECK_EQ(1, fake_count(team.fake, 1, FLEET_TASK, NULL), "the lost one got the first task alone");
  CHECK_EQ(2, fake_count(team.fake, 2, FLEET_TASK, NULL), "the other one both");
  text_free(&words);
  team_close(&team);
}

TEST(a_member_that_was_late_takes_part_in_the_finals) {
  static const char *const rows[] = {"late", "never ready"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct team team;
    struct text words = {0};
    struct proposal proposals[1];
    const struct crew_settled *settled;
    long count;
    memset(proposals, 0, sizeof proposals);
    team_open(&team, 2);
    const struct fleet_hello hello = fake_hello(1);
    const struct crew_task task = {.task = &team.task, .templates = team.templates, .template_count = 1};
    const struct crew_start start = {.space = &team.space};
    say_hello(&team, 1, &hello);
    CHECK_EQ(1, leader_gather(team.leader, 100, &words), "%s", rows[i]);
    CHECK_OK(team.crew.table->begin(team.crew.state, &task));
    CHECK_OK(team.crew.table->start(team.crew.state, &start));
    CHECK_OK(team.crew.table->stop(team.crew.state));
    CHECK_EQ(0, fake_count(team.fake, 1, FLEET_STOP, NULL), "%s: its search has not begun", rows[i]);
    if (i == 0) {
      struct text *ready = fake_say(team.fake, 1, FLEET_READY, 1);
      pack_u64(ready, 1);
      pack_text(ready, "");
      pack_double(fake_say(team.fake, 1, FLEET_ANCHORED, 1), 2);
      pack_u64(fake_say(team.fake, 1, FLEET_SETTLED, 1), 0);
    }
    CHECK_OK(team.crew.table->settle(team.crew.state, &settled, &count));
    CHECK_OK(team.crew.table->finals_begin(team.crew.state, proposals, 1, 1));
    CHECK_EQ(i == 0, fake_count(team.fake, 1, FLEET_FINALS, NULL), "%s: the finals", rows[i]);
    CHECK_EQ(i == 1, team.fake->is_dropped[1], "%s: dropped after the leader's patience", rows[i]);
    text_free(&words);
    team_close(&team);
  }
}

/* Two members run two finalists.
 *   times_ms  of each member */
static void finals_run(struct team *team, const struct proposal *proposals, const double (*times_ms)[2]) {
  const struct crew_settled *settled;
  long count;
  CHECK_OK(team->crew.table->stop(team->crew.state));
  for (int rank = 1; rank < 3; rank++) pack_u64(fake_say(team->fake, rank, FLEET_SETTLED, 1), 0);
  CHECK_OK(team->crew.table->settle(team->crew.state, &settled, &count));
  CHECK_OK(team->crew.table->finals_begin(team->crew.state, proposals, 2, 1));
  for (int rank = 1; rank < 3; rank++) {
    struct text *times = fake_say(team->fake, rank, FLEET_TIMES, 1);
    pack_u64(times, 2);
    for (int i = 0; i < 2; i++) pack_double(times, times_ms[rank - 1][i]);
  }
}

/* Open a team of three whose members have timed two finalists.
 *   leader_ms  what the leader's GPU takes for what the others do in 2 ms */
static void finals_open(struct team *team, double leader_ms) {
  static const double times_ms[][2] = {{1.03, 1}, {1.04, 1}};
  static const struct proposal proposals[2];
  const double anchors_ms[FAKE_RANKS] = {leader_ms, 2, 2};
  team_open(team, 3);
  team_begin(team, anchors_ms);
  finals_run(team, proposals, times_ms);
}

TEST(the_winner_is_the_best_over_all_gpus) {
  const double own_ms[] = {0.99, 1};
  double weights[] = {1, 1};
  struct team team;
  struct text words = {0};
  struct crew_report report;
  finals_open(&team, 2);
  CHECK_OK(team.crew.table->finals_take(team.crew.state, own_ms, weights));
  CHECK_NEAR(1, weights[0], 1e-12, "all are compared to the first one");
  CHECK_NEAR((1 / 0.99 + 1 / 1.03 + 1 / 1.04) / 3 * 0.99, weights[1], 1e-12,
             "the mean over three GPUs, over the device");
  CHECK(own_ms[1] * weights[1] < own_ms[0] * weights[0], "the second one wins");
  team.crew.table->won(team.crew.state, 0, own_ms[0], &words);
  CHECK_TEXT("on 3 GPUs the winner took 0.99 to 1.04 ms, a spread of 5.05 %\n", text_string(&words), "words");
  CHECK_OK(team.crew.table->end(team.crew.state, &report));
  CHECK_NEAR(1.04, report.gpus[2].winner_ms, 0, "each GPU's time");
  text_free(&words);
  team_close(&team);
}

TEST(times_that_are_cut_short_do_not_count) {
  const double own_ms[] = {0.99, 1};
  double weights[] = {1, 1};
  struct team team;
  struct text words = {0};
  struct crew_report report;
  finals_open(&team, 2);
  team.fake->said[team.fake->said_count - 2].text.length -= sizeof(double);
  CHECK_OK(team.crew.table->finals_take(team.crew.state, own_ms, weights));
  CHECK_NEAR((1 / 0.99 + 1 / 1.04) / 2 * 0.99, weights[1], 1e-12, "the mean over two GPUs");
  team.crew.table->won(team.crew.state, 0, own_ms[0], &words);
  CHECK(strstr(text_string(&words), "on 2 GPUs the winner took 0.99 to 1.04 ms"), "%s", text_string(&words));
  CHECK_OK(team.crew.table->end(team.crew.state, &report));
  CHECK(isnan(report.gpus[1].winner_ms), "it has no time");
  CHECK_TEXT("it sent an invalid answer", report.gpus[1].left_out, "why");
  text_free(&words);
  team_close(&team);
}

/* If all finalists fail the recheck, others follow. */
TEST(times_of_earlier_finalists_do_not_count_for_later_ones) {
  static const struct proposal proposals[2];
  const double own_ms[] = {1, 1};
  double weights[] = {1, 1};
  struct team team;
  finals_open(&team, 2);
  CHECK_OK(team.crew.table->finals_take(team.crew.state, own_ms, weights));
  fake_gone(team.fake, 1);
  CHECK_OK(leader_look(team.leader));
  CHECK_OK(team.crew.table->finals_begin(team.crew.state, proposals, 2, 1));
  struct text *times = fake_say(team.fake, 2, FLEET_TIMES, 1);
  pack_u64(times, 2);
  for (int i = 0; i < 2; i++) pack_double(times, 3);
  CHECK_OK(team.crew.table->finals_take(team.crew.state, own_ms, weights));
  CHECK_NEAR(1, weights[1], 1e-12, "the mean over the device and the member that is left");
  team_close(&team);
}

TEST(a_slow_leader_has_no_say_in_the_finals) {
  const double own_ms[] = {0.9, 1.2};
  double weights[] = {1, 1};
  struct team team;
  struct text words = {0};
  finals_open(&team, 2.3);
  CHECK_OK(team.crew.table->finals_take(team.crew.state, own_ms, weights));
  CHECK_NEAR((1 / 1.03 + 1 / 1.04) / 2 * 0.9 / 1.2, weights[1], 1e-12, "the mean over the members, over the device");
  team.crew.table->won(team.crew.state, 1, own_ms[1], &words);
  CHECK(strncmp("on 2 GPUs the winner took 1 to 1 ms, a spread of 0.00 %\nthe leader (GPU-0) was left out: ",
                text_string(&words), 88) == 0,
        "words: %s", text_string(&words));
  text_free(&words);
  team_close(&team);
}

TEST(a_factor_needs_two_gpus_that_are_compared) {
  static const double anchors_ms[FAKE_RANKS] = {2, 2.02};
  for (int is_emulation = 0; is_emulation < 2; is_emulation++) {
    struct team team;
    struct crew_report report;
    team_open(&team, 2);
    team_begin_as(&team, anchors_ms, is_emulation != 0);
    CHECK_OK(team.crew.table->end(team.crew.state, &report));
    CHECK_EQ(is_emulation, isnan(report.gpus[0].factor), "emulation %d: the first", is_emulation);
    CHECK_EQ(is_emulation, isnan(report.gpus[1].factor), "emulation %d: the second", is_emulation);
    team_close(&team);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_that_do_not_fit_are_refused_with_the_reason),
      cmocka_unit_test(a_member_that_never_says_who_it_is_takes_no_part),
      cmocka_unit_test(a_leader_that_is_to_stop_waits_for_nobody),
      cmocka_unit_test(variants_go_where_there_is_room_and_results_come_back_corrected),
      cmocka_unit_test(a_result_names_no_gpu_if_the_problem_is_of_that_gpu),
      cmocka_unit_test(a_member_that_fails_costs_what_it_has),
      cmocka_unit_test(a_leader_that_was_stopped_drops_nobody_for_that_time),
      cmocka_unit_test(a_slow_gpu_is_named_and_left_out),
      cmocka_unit_test(a_member_that_was_lost_in_a_task_is_no_part_of_the_next_one),
      cmocka_unit_test(a_member_that_was_late_takes_part_in_the_finals),
      cmocka_unit_test(the_winner_is_the_best_over_all_gpus),
      cmocka_unit_test(times_that_are_cut_short_do_not_count),
      cmocka_unit_test(times_of_earlier_finalists_do_not_count_for_later_ones),
      cmocka_unit_test(a_slow_leader_has_no_say_in_the_finals),
      cmocka_unit_test(a_factor_needs_two_gpus_that_are_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
