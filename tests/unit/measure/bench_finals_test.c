/* bench_finals_test.c: the final phase: its plan, ties, the winner, and failures in the middle of it. */
#include "tests/unit/measure/bench_model.h"
#include "tests/unit/unit.h"
#include "tuner/measure/finals/finals.h"
#include "tuner/measure/finals/rounds.h"
#include "tuner/measure/finals/tie_rule.h"

enum { MOST = 100 };

struct phase {
  struct model model;
  struct backend_handle backend;
  struct final_candidate candidates[MOST];
  int count;
  int failing_load; /* the candidate that fails to load; -1: none */
  int fully;        /* number of screened variants that were fully measured */
  enum objective objective;
  int asks_to_stop;        /* from this question on the answer is to stop; 0: never */
  const double *elsewhere; /* a weight for each candidate; NULL: nothing ran elsewhere */
  const int *finalists;    /* candidates */
  struct finals finals;
};

static halotune_status load_candidate(void *state, int candidate, int slot, struct verdict *verdict) {
  struct phase *phase = state;
  if (candidate == phase->failing_load) {
    verdict->outcome = OUTCOME_LAUNCH_FAILED;
    return HALOTUNE_OK;
  }
  model_load(&phase->model, slot, candidate);
  return HALOTUNE_OK;
}

static halotune_status was_measured(void *state, int candidate, const struct measured *measured) {
  struct phase *phase = state;
  if (candidate != phase->failing_load) {
    CHECK_NEAR(phase->model.true_ms[candidate], measured->timing.median_ms, 1e-9, "candidate %d", candidate);
  }
  phase->fully++;
  return HALOTUNE_OK;
}

static bool is_stopped(void *state) {
  struct phase *phase = state;
  if (phase->asks_to_stop > 1) {
    phase->asks_to_stop--;
    return false;
  }
  return phase->asks_to_stop == 1;
}

static halotune_status keep_chosen(void *state, const int *candidates, int count) {
  (void)count;
  ((struct phase *)state)->finalists = candidates;
  return HALOTUNE_OK;
}

static halotune_status weigh(void *state, const double *adjusted_ms, double *weights) {
  const struct phase *phase = state;
  for (int i = 0; i < phase->count; i++) {
    CHECK_NEAR(phase->model.true_ms[phase->finalists[i]], adjusted_ms[i], 1e-9, "finalist %d", i);
    weights[i] = phase->elsewhere[phase->finalists[i]];
  }
  return HALOTUNE_OK;
}

/* Candidates with these times. The first one is the default. All have been measured. */
static void begin_phase(struct phase *phase, const double *times_ms, int count, enum model_noise noise) {
  *phase = (struct phase){.count = count, .failing_load = -1};
  model_make(&phase->model, noise, 3);
  phase->model.memcpy_ms = 0.9;
  phase->backend = model_handle(&phase->model);
  for (int i = 0; i < count; i++) {
    phase->model.true_ms[i] = times_ms[i];
    phase->candidates[i] = (struct final_candidate){.outcome = OUTCOME_MEASURED,
                                                    .median_ms = times_ms[i],
                                                    .minimum_ms = times_ms[i],
                                                    .scale = 1,
                                                    .registers = 64,
                                                    .order = i,
                                                    .is_default = i == 0};
  }
}

static void run_in(struct phase *phase, double budget_ms) {
  static const int roof = SLOT_MEMCPY;
  const struct finals_request request = {.backend = &phase->backend,
                                         .time = model_time(&phase->model),
                                         .seed = 11,
                                         .budget_ms = budget_ms,
                                         .objective = phase->objective,
                                         .scale = 1,
                                         .candidates = phase->candidates,
                                         .candidate_count = phase->count,
                                         .roofs = &roof,
                                         .roof_count = 1,
                                         .load = load_candidate,
                                         .measured = was_measured,
                                         .chosen = phase->elsewhere ? keep_chosen : NULL,
                                         .weigh = phase->elsewhere ? weigh : NULL,
                                         .is_stopped = is_stopped,
                                         .state = phase};
  CHECK_OK(finals_run(&request, &phase->finals));
}

static void run_phase(struct phase *phase) { run_in(phase, 5000); }

static int winner(const struct phase *phase) { return phase->finals.ranked ? phase->finals.entries[0].candidate : -1; }

static const struct final_entry *entry_of(const struct phase *phase, int candidate) {
  for (int i = 0; i < phase->finals.count; i++) {
    if (phase->finals.entries[i].candidate == candidate) return &phase->finals.entries[i];
  }
  return NULL;
}

TEST(ties_are_decided_in_order) {
  static const struct {
    struct contender contenders[3];
    int want;
  } rows[] = {
      {{{true, false, 40, 0, 2}, {true, false, 32, 100, 3}, {true, false, 48, 0, 1}}, 1}, /* fewer registers win */
      /* then less shared memory */
      {{{true, false, 32, 200, 1}, {true, false, 32, 100, 3}, {true, false, 33, 0, 2}}, 1},
      {{{true, false, 32, 100, 3}, {true, false, 32, 100, 1}, {true, false, 32, 100, 2}}, 1}, /* then the first */
      {{{true, false, 32, 100, 3}, {false, false, 16, 0, 1}, {true, false, 40, 0, 2}}, 0},    /* only among ties */
      {{{true, false, 32, 0, 1}, {true, true, 255, 9, 9}, {true, false, 16, 0, 2}}, 1}, /* nothing beats the default */
      /* another one beats the default */
      {{{true, false, 32, 0, 1}, {false, true, 16, 0, 0}, {true, false, 40, 0, 2}}, 0},
      {{{false, true, 32, 0, 1}, {false, false, 16, 0, 0}, {false, false, 40, 0, 2}}, -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) CHECK_EQ(rows[i].want, tie_winner(rows[i].contenders, 3), "row %zu", i);
}

/* The size of a plan. */
struct counts {
  int entrants, entry_rounds, finalists, final_rounds;
};

static void check_plan(const struct finals_plan *got, double sample_ms, const struct counts *want, bool is_scaled,
                       const char *what) {
  CHECK_NEAR(sample_ms, got->sample_ms, 1e-9, "%s", what);
  CHECK_EQ(want->entrants, got->entrants, "%s", what);
  CHECK_EQ(want->entry_rounds, got->entry_rounds, "%s", what);
  CHECK_EQ(want->finalists, got->finalists, "%s", what);
  CHECK_EQ(want->final_rounds, got->final_rounds, "%s", what);
  CHECK_EQ(is_scaled, got->is_scaled, "%s", what);
}

TEST(less_time_makes_a_smaller_plan_in_the_documented_order) {
  static const struct {
    double time_ms, recheck_ms, budget_ms;
    int available, roofs;
    double sample_ms;
    struct counts counts;
    bool is_scaled;
  } rows[] = {
      {1, 0, 5000, 100, 2, 1, {64, 5, 12, 20}, false},
      {1, 0, 5000, 10, 2, 1, {10, 5, 10, 20}, false},
      /* 65*5 + 15*20 = 625 samples of 0.1 + 1 ms take 688 ms, and 80 % of 800 ms are 640 ms, so shorter samples
       * suffice. */
      {0.1, 0, 800, 100, 2, 0.8, {64, 5, 12, 20}, true},
      /* Samples cannot be shorter than 1 ms: (e+1)*5 + 300 samples of 2 ms within 1000 ms leave 39 entrants. */
      {1, 0, 1250, 100, 2, 0.2, {39, 5, 12, 20}, true},
      /* The fewest entrants take 17*5*2 = 170 ms; 15*r*2 within 310 ms: 10 rounds. */
      {1, 0, 600, 100, 2, 0.2, {16, 5, 12, 10}, true},
      /* 170 + (f+3)*8*2 within 320 ms: 6 finalists. */
      {1, 0, 400, 100, 2, 0.2, {16, 5, 6, 8}, true},
      /* 17*r*2 + 7*8*2 = 112 within 240 ms: 3 rounds. */
      {1, 0, 300, 100, 2, 0.2, {16, 3, 4, 8}, true},
      {1, 0, 1, 100, 2, 0.2, {16, 3, 4, 8}, true},
      {1, 0, 1, 3, 0, 0.2, {3, 3, 3, 8}, true},
      /* 13 rechecks of 100 ms count as well. */
      {1, 100, 3000, 100, 2, 0.2, {49, 5, 12, 20}, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct finals_plan got;
    const struct finals_times times = {rows[i].time_ms, rows[i].time_ms, rows[i].recheck_ms, 0, 0};
    finals_plan_make(&times, rows[i].budget_ms, rows[i].available, rows[i].roofs, &got);
    CHECK(!got.standard.is_rare && !got.served.is_rare, "row %zu", i);
    char what[32];
    snprintf(what, sizeof what, "row %zu", i);
    check_plan(&got, rows[i].sample_ms, &rows[i].counts, rows[i].is_scaled, what);
  }
  CHECK_NEAR(12000, finals_budget_ms(60e3), 1e-9, "20 %%");
  CHECK_NEAR(5000, finals_budget_ms(20e3), 1e-9, "at least 5 s");
}

/* How often a slow default runs. In 5 s, of which 4 are planned, it may take 1 s. */
TEST(a_default_that_is_far_behind_is_rare) {
  static const struct {
    const char *what;
    double best_ms, default_ms, budget_ms;
    bool is_rare;
    int default_rounds;
    double sample_ms;
    struct counts counts;
    bool is_scaled;
  } rows[] = {
      {"25 rounds of 2 x 20 ms take 1 s", 1, 20, 5000, false, 20, 1, {64, 5, 12, 20}, false},
      {"of 2 x 25 ms they do not", 1, 25, 5000, true, 20, 1, {64, 5, 12, 20}, false},
      {"4 of 2 x 110 ms", 1, 110, 5000, true, 4, 1, {64, 5, 12, 20}, false},
      {"one of 2 x 700 ms, at least", 0.3, 700, 5000, true, 1, 1, {64, 5, 12, 20}, false},
      {"what could win is never rare", 50, 57, 5000, false, 8, 0.2, {2, 3, 2, 8}, true},
      /* 2 x 150 ms x 3 and a recheck of the default leave 2.95 s for 2*5 + 4*15 samples of 2 x 20 ms. */
      {"the others have what it leaves", 20, 150, 5000, true, 3, 0.2, {2, 5, 2, 15}, true},
      /* The least plan takes 3*1 + 5*3 samples of 2 x 300 ms, although that exceeds the budget. */
      {"all are long: the least", 300, 300, 5000, false, 3, 0.2, {2, 1, 2, 3}, true},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct finals_plan got;
    const struct finals_times times = {rows[i].best_ms, rows[i].default_ms, 0, 0, 0};
    const bool is_slow = rows[i].best_ms > 1;
    finals_plan_make(&times, rows[i].budget_ms, is_slow ? 2 : 100, 2, &got);
    CHECK_EQ(rows[i].is_rare, got.standard.is_rare, "%s", rows[i].what);
    CHECK_EQ(rows[i].default_rounds, got.standard.rounds, "%s", rows[i].what);
    check_plan(&got, rows[i].sample_ms, &rows[i].counts, rows[i].is_scaled, rows[i].what);
  }
}

/* Which variant wins, with these times and registers. */
TEST(the_winner_follows_from_times_and_registers) {
  static const struct {
    const char *what;
    double times_ms[4];
    int registers[4], want;
  } rows[] = {
      {"the fastest", {2, 1.2, 1, 1.1}, {64, 64, 64, 64}, 2},
      {"a tie with fewer registers", {2, 1.004, 1, 1.1}, {64, 32, 64, 64}, 1},
      {"fewer registers, but no tie", {2, 1.006, 1, 1.1}, {64, 32, 64, 64}, 2},
      {"a tie with as many registers, first in order", {2, 1.004, 1, 1.1}, {64, 64, 64, 64}, 1},
      {"the default is the fastest", {1, 1.004, 1.2, 1.1}, {64, 32, 64, 64}, 0},
      {"nothing beats the default", {1.004, 1, 1.002, 1.1}, {255, 32, 16, 64}, 0},
      {"the default is beaten", {1.01, 1, 1.1, 1.1}, {16, 64, 64, 64}, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_phase(&phase, rows[i].times_ms, 4, NOISE_NONE);
    for (int j = 0; j < 4; j++) phase.candidates[j].registers = rows[i].registers[j];
    run_phase(&phase);
    CHECK_EQ(rows[i].want, winner(&phase), "%s", rows[i].what);
    CHECK_NEAR(rows[i].times_ms[0], phase.finals.default_ms, 1e-9, "%s: the default always takes part", rows[i].what);
    CHECK_NEAR(1, phase.finals.entries[0].ratio, 0, "%s", rows[i].what);
    CHECK(phase.finals.entries[0].is_tie && phase.finals.entries[0].rank == 1, "%s", rows[i].what);
    CHECK_EQ(FINALS_ROUNDS, phase.finals.entries[0].timing.sample_count, "%s", rows[i].what);
    CHECK_NEAR(rows[i].times_ms[rows[i].want], phase.finals.entries[0].timing.median_ms, 1e-9, "%s", rows[i].what);
    finals_free(&phase.finals);
  }
}

/* What the finalists do on other GPUs decides as much as what they do here. Ranks, ties and ratios are of the means. */
TEST(finalists_are_weighed_with_their_times_on_other_gpus) {
  static const struct {
    const char *what;
    double times_ms[4], weights[4];
    int want, ranks[4];
    bool ties[4];
  } rows[] = {
      {"the same elsewhere", {2, 1.01, 1, 1.02}, {1, 1, 1, 1}, 2, {4, 2, 1, 3}, {0, 0, 1, 0}},
      {"another unit elsewhere", {2, 1.01, 1, 1.02}, {3, 3, 3, 3}, 2, {4, 2, 1, 3}, {0, 0, 1, 0}},
      {"faster elsewhere", {2, 1.01, 1, 1.02}, {1, 0.96, 1, 1}, 1, {4, 1, 2, 3}, {0, 1, 0, 0}},
      {"slower elsewhere", {2, 1.01, 1, 1.02}, {1, 1, 1.05, 1}, 1, {4, 1, 3, 2}, {0, 1, 0, 0}},
      {"a tie of the means, the first in order", {2, 1.01, 1, 1.02}, {1, 0.993, 1, 1}, 1, {4, 1, 2, 3}, {0, 1, 1, 0}},
      {"a tie here alone is none", {2, 1.003, 1, 1.02}, {1, 1.01, 1, 1}, 2, {4, 2, 1, 3}, {0, 0, 1, 0}},
      {"the default is the best of all", {1.02, 1.01, 1, 1.02}, {0.9, 1, 1, 1}, 0, {1, 3, 2, 4}, {1, 0, 0, 0}},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    const double *times_ms = rows[i].times_ms, *weights = rows[i].weights;
    const double want_ms = times_ms[rows[i].want] * weights[rows[i].want];
    begin_phase(&phase, times_ms, 4, NOISE_NONE);
    phase.elsewhere = weights;
    run_phase(&phase);
    CHECK_EQ(rows[i].want, winner(&phase), "%s", rows[i].what);
    for (int j = 0; j < 4; j++) {
      const struct final_entry *entry = entry_of(&phase, j);
      const double ratio = times_ms[j] * weights[j] / want_ms;
      CHECK_EQ(rows[i].ranks[j], entry->rank, "%s: candidate %d", rows[i].what, j);
      CHECK_EQ(rows[i].ties[j], entry->is_tie, "%s: candidate %d", rows[i].what, j);
      CHECK_NEAR(times_ms[j], entry->timing.median_ms, 1e-9, "%s: the time is of this GPU", rows[i].what);
      CHECK_NEAR(ratio, entry->ratio, 1e-9, "%s: candidate %d", rows[i].what, j);
      CHECK_NEAR(ratio, entry->ratio_low, 1e-9, "%s: candidate %d", rows[i].what, j);
      CHECK_NEAR(ratio, entry->ratio_high, 1e-9, "%s: candidate %d", rows[i].what, j);
    }
    CHECK_NEAR(0.9 / times_ms[rows[i].want], phase.finals.roof_ratio, 1e-9, "%s: roof of this GPU", rows[i].what);
    finals_free(&phase.finals);
  }
}

/* The winner is rejected this many times. The rows give the next winner, and the times to which its ratios refer. */
TEST(what_is_rejected_leaves_and_the_others_are_ranked_anew) {
  static const struct {
    const char *what;
    double times_ms[4];
    int registers[4], rejected, want;
  } rows[] = {
      {"the next one by time", {2, 1.2, 1, 1.1}, {64, 64, 64, 64}, 1, 3},
      {"the one after", {2, 1.2, 1, 1.1}, {64, 64, 64, 64}, 2, 1},
      {"and the default", {2, 1.2, 1, 1.1}, {64, 64, 64, 64}, 3, 0},
      {"ties are those of the new leader", {2, 1.103, 1, 1.1}, {64, 32, 64, 64}, 1, 1},
      {"what won as a tie leaves the leader", {2, 1.004, 1, 1.1}, {64, 32, 64, 64}, 1, 2},
      {"nothing that is left beats the default", {1.103, 1.2, 1, 1.1}, {255, 32, 64, 64}, 1, 0},
      {"the default was wrong", {1, 1.2, 1.1, 1.3}, {64, 64, 64, 64}, 1, 2},
      {"nobody is left", {2, 1.2, 1, 1.1}, {64, 64, 64, 64}, 4, -1},
  };
  const struct verdict wrong = {.outcome = OUTCOME_WRONG, .reason = "on another grid"};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_phase(&phase, rows[i].times_ms, 4, NOISE_NONE);
    for (int j = 0; j < 4; j++) {
      phase.candidates[j].registers = rows[i].registers[j];
      phase.candidates[j].median_ms = phase.candidates[j].minimum_ms = 1; /* so that all enter the rounds */
    }
    run_phase(&phase);
    for (int j = 0; j < rows[i].rejected; j++) {
      const int rejected = winner(&phase);
      CHECK_OK(finals_reject(&phase.finals, &wrong));
      const struct final_entry *entry = entry_of(&phase, rejected);
      CHECK(entry->rank == 0 && entry->verdict.outcome == OUTCOME_WRONG, "%s: %d left", rows[i].what, rejected);
    }
    const struct finals *finals = &phase.finals;
    const double want_ms = rows[i].want >= 0 ? rows[i].times_ms[rows[i].want] : NAN;
    CHECK_EQ(rows[i].want, winner(&phase), "%s", rows[i].what);
    CHECK_EQ(4 - rows[i].rejected, finals->ranked, "%s", rows[i].what);
    for (int j = 0; j < finals->ranked; j++) {
      const struct final_entry *entry = &finals->entries[j];
      CHECK_EQ(j + 1, entry->rank, "%s", rows[i].what);
      CHECK_NEAR(rows[i].times_ms[entry->candidate] / want_ms, entry->ratio, 1e-9, "%s", rows[i].what);
    }
    if (rows[i].want >= 0) CHECK_NEAR(0.9 / want_ms, finals->roof_ratio, 1e-9, "%s", rows[i].what);
    CHECK_EQ(entry_of(&phase, 0)->rank > 0, !isnan(finals->default_ms), "%s: a wrong default has no time",
             rows[i].what);
    finals_free(&phase.finals);
  }
}

/* A recording without samples has no interval. */
TEST(one_value_again_and_again_has_no_interval) {
  static const double times_ms[] = {2, 1.2, 1, 1.1};
  for (int constant = 0; constant < 2; constant++) {
    struct phase phase;
    begin_phase(&phase, times_ms, 4, NOISE_NONE);
    phase.model.is_constant = constant;
    run_phase(&phase);
    const struct final_entry *first = &phase.finals.entries[0];
    CHECK_EQ(2, winner(&phase), "the fastest all the same");
    CHECK_EQ(constant ? 1 : FINALS_ROUNDS, first->timing.sample_count, "values");
    CHECK_NEAR(1, first->timing.median_ms, 1e-9, "time");
    CHECK_EQ(constant, isnan(first->timing.low_ms) && isnan(first->timing.high_ms), "interval");
    CHECK_EQ(constant, isnan(phase.finals.roof_ratio_low) && isnan(phase.finals.roof_ratio_high), "of the share");
    CHECK_NEAR(0.9, phase.finals.roof_ratio, 1e-9, "share");
    finals_free(&phase.finals);
  }
}

TEST(sixty_four_enter_and_twelve_and_the_default_stay) {
  struct phase phase;
  double times_ms[MOST];
  for (int i = 0; i < MOST; i++) times_ms[i] = 1 + 0.0003 * i; /* all within 3 % */
  times_ms[0] = 1.5;
  begin_phase(&phase, times_ms, MOST, NOISE_NONE);
  phase.candidates[1].registers = 16;
  run_phase(&phase);
  int finalists = 0, last_rank = 0;
  CHECK_EQ(FINALS_ENTRANTS + 1, phase.finals.count, "entries");
  CHECK_EQ(FINALS_ENTRANTS + 1, phase.finals.ranked, "ranked");
  for (int i = 0; i < phase.finals.count; i++) {
    const struct final_entry *entry = &phase.finals.entries[i];
    CHECK_EQ(++last_rank, entry->rank, "entry %d", i);
    CHECK_EQ(entry->is_finalist ? FINALS_ROUNDS : FINALS_ENTRY_ROUNDS, entry->timing.sample_count, "entry %d", i);
    CHECK_NEAR(times_ms[entry->candidate] / times_ms[1], entry->ratio, 1e-9, "entry %d", i);
    CHECK_NEAR(times_ms[entry->candidate], (double)entry->samples[0], 1e-6, "entry %d", i);
    finalists += entry->is_finalist;
  }
  CHECK_EQ(FINALS_FINALISTS + 1, finalists, "finalists");
  CHECK_EQ(1, winner(&phase), "winner");
  CHECK(entry_of(&phase, 0)->is_finalist, "the default");
  CHECK(!phase.finals.is_scaled && !phase.finals.is_marked, "there was time");
  CHECK_EQ(FINALS_FINALISTS + 1, phase.model.rechecks, "rechecks");
  finals_free(&phase.finals);
}

/* A variant that is far slower was screened. It runs in few rounds if all rounds would take too long. */
TEST(what_a_lookup_serves_is_in_the_final_rounds_whatever_its_time) {
  static const struct {
    double served_ms;
    int rounds;
  } rows[] = {{1.005, FINALS_ROUNDS}, {1.10, FINALS_ROUNDS}, {1.16, FINALS_ROUNDS}, {5, FINALS_ROUNDS}, {110, 4}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    double times_ms[MOST];
    times_ms[0] = 3;
    for (int k = 1; k < MOST; k++) times_ms[k] = 1 + 1e-5 * k; /* more than there is room for */
    times_ms[MOST - 1] = rows[i].served_ms;
    begin_phase(&phase, times_ms, MOST, NOISE_NONE);
    phase.candidates[MOST - 1].is_served = true;
    if (rows[i].served_ms > MEASURE_SCREEN_RATIO) phase.candidates[MOST - 1].outcome = OUTCOME_SCREENED;
    run_phase(&phase);
    const struct final_entry *served = entry_of(&phase, MOST - 1);
    int finalists = 0;
    for (int k = 0; k < phase.finals.count; k++) finalists += phase.finals.entries[k].is_finalist;
    CHECK(served && served->is_finalist && served->rank > 0, "%g ms", rows[i].served_ms);
    CHECK_EQ(rows[i].rounds, served->timing.sample_count, "%g ms", rows[i].served_ms);
    CHECK_NEAR(rows[i].served_ms / times_ms[winner(&phase)], served->ratio, 1e-6, "%g ms", rows[i].served_ms);
    CHECK(entry_of(&phase, 0)->is_finalist, "so is the default");
    CHECK_EQ(FINALS_FINALISTS + 1 + (rows[i].served_ms > MEASURE_SCREEN_RATIO), finalists, "and as many others");
    CHECK(phase.model.now_ms < 5000, "the time is kept: %g ms", phase.model.now_ms);
    finals_free(&phase.finals);
  }
}

TEST(a_default_that_was_screened_takes_part) {
  struct phase phase;
  const double times_ms[] = {3, 1, 1.02};
  begin_phase(&phase, times_ms, 3, NOISE_NONE);
  phase.candidates[0].outcome = OUTCOME_SCREENED; /* measured again after faster ones were found */
  run_phase(&phase);
  CHECK_EQ(1, winner(&phase), "winner");
  CHECK_EQ(0, phase.fully, "it is too slow to be measured fully");
  CHECK(entry_of(&phase, 0) && entry_of(&phase, 0)->is_finalist, "the default");
  CHECK_NEAR(3, phase.finals.default_ms, 1e-9, "its time is that of the rounds");
  finals_free(&phase.finals);

  begin_phase(&phase, times_ms, 3, NOISE_NONE);
  phase.candidates[0] = (struct final_candidate){
      .outcome = OUTCOME_SCREENED, .median_ms = 1.05, .minimum_ms = 1.05, .scale = 1, .is_default = true};
  phase.failing_load = 0;
  run_phase(&phase);
  CHECK_EQ(1, phase.fully, "near enough to be measured fully");
  CHECK(!entry_of(&phase, 0), "but it fails there, and is not loaded once more");
  finals_free(&phase.finals);
}

TEST(the_roof_is_the_fastest_copy_in_the_same_rounds) {
  struct phase phase;
  const double times_ms[] = {2, 1, 1.5, 0.95};
  static const int roofs[] = {SLOT_MEMCPY, 90};
  begin_phase(&phase, times_ms, 3, NOISE_NONE);
  phase.model.true_ms[3] = times_ms[3];
  model_load(&phase.model, 90, 3); /* the tuned copy */
  struct finals_request request = {.backend = &phase.backend,
                                   .time = model_time(&phase.model),
                                   .budget_ms = 5000,
                                   .scale = 1,
                                   .candidates = phase.candidates,
                                   .candidate_count = 3,
                                   .roofs = roofs,
                                   .roof_count = 2,
                                   .load = load_candidate,
                                   .state = &phase};
  CHECK_OK(finals_run(&request, &phase.finals));
  CHECK_EQ(0, phase.finals.roof, "memcpy");
  CHECK_NEAR(0.9, phase.finals.roof_ms, 1e-9, "its time");
  CHECK_NEAR(0.9, phase.finals.roof_ratio, 1e-9, "its share");
  CHECK_NEAR(0.9, phase.finals.roof_ratio_low, 1e-9, "its share");
  CHECK_NEAR(0.95, phase.finals.roofs_ms[1], 1e-9, "the other one");
  CHECK_NEAR(0.002, phase.finals.empty_ms, 1e-9, "empty kernel");
  finals_free(&phase.finals);

  /* A variant that is faster than the roof is shown as it is. If the tuned copy fails, the driver's copy is the
   * roof. */
  phase.model.true_ms[1] = 0.8;
  phase.model.failing = 3;
  phase.model.failure = OUTCOME_HUNG;
  phase.model.samples_to_failure = 4;
  CHECK_OK(finals_run(&request, &phase.finals));
  CHECK_NEAR(0.9 / 0.8, phase.finals.roof_ratio, 1e-9, "not clamped");
  CHECK(isnan(phase.finals.roofs_ms[1]), "failed");
  CHECK_EQ(1, winner(&phase), "winner");
  finals_free(&phase.finals);

  request.roof_count = 0;
  CHECK_OK(finals_run(&request, &phase.finals));
  CHECK(phase.finals.roof == -1 && isnan(phase.finals.roof_ratio), "no roof");
  finals_free(&phase.finals);
}

TEST(screened_variants_near_the_winner_are_measured_fully) {
  struct phase phase;
  const double times_ms[] = {2, 1, 0.99, 1.06, 1.075};
  begin_phase(&phase, times_ms, 5, NOISE_NONE);
  for (int i = 2; i < 5; i++) phase.candidates[i].outcome = OUTCOME_SCREENED;
  phase.candidates[2].minimum_ms = 1.05; /* the GPU was slow when it was screened */
  run_phase(&phase);
  CHECK_EQ(2, phase.fully, "1.05 and 1.06; 1.075 is more than 1.08 times the best once that is 0.99");
  CHECK_EQ(2, winner(&phase), "winner");
  CHECK(!entry_of(&phase, 3), "not within 3 %%");
  finals_free(&phase.finals);
}

TEST(times_are_compared_over_the_anchor_s_scale) {
  struct phase phase;
  const double times_ms[] = {2, 1, 0.99};
  begin_phase(&phase, times_ms, 3, NOISE_NONE);
  phase.candidates[2].median_ms = 1.1; /* the GPU was a tenth slower then */
  phase.candidates[2].scale = 1.111;
  run_phase(&phase);
  CHECK_EQ(2, winner(&phase), "winner");
  finals_free(&phase.finals);
}

TEST(a_variant_that_fails_leaves_and_the_others_go_on) {
  const double times_ms[] = {2, 1, 1.02, 1.025};
  for (int at = 0; at < 60; at++) {
    struct phase phase;
    begin_phase(&phase, times_ms, 4, NOISE_NONE);
    phase.model.failing = 1;
    phase.model.failure = OUTCOME_CRASHED;
    phase.model.samples_to_failure = at;
    run_phase(&phase);
    const bool fails = at < FINALS_ENTRY_ROUNDS + FINALS_ROUNDS;
    CHECK_EQ(fails ? 2 : 1, winner(&phase), "sample %d", at);
    CHECK_EQ(4, phase.finals.count, "sample %d", at);
    CHECK_EQ(fails ? 3 : 4, phase.finals.ranked, "sample %d", at);
    CHECK_EQ(fails ? OUTCOME_CRASHED : OUTCOME_MEASURED, entry_of(&phase, 1)->verdict.outcome, "sample %d", at);
    CHECK_EQ(fails ? 0 : 1, entry_of(&phase, 1)->rank, "sample %d", at);
    CHECK_EQ(FINALS_ROUNDS, phase.finals.entries[0].timing.sample_count, "sample %d", at);
    finals_free(&phase.finals);
  }
}

TEST(loads_and_rechecks_may_fail) {
  struct phase phase;
  const double times_ms[] = {2, 1, 1.02, 1.025};
  begin_phase(&phase, times_ms, 4, NOISE_NONE);
  phase.failing_load = 1;
  phase.model.is_wrong[2] = true;
  run_phase(&phase);
  CHECK_EQ(3, winner(&phase), "winner");
  CHECK_EQ(OUTCOME_LAUNCH_FAILED, entry_of(&phase, 1)->verdict.outcome, "its load");
  CHECK_EQ(OUTCOME_WRONG, entry_of(&phase, 2)->verdict.outcome, "its recheck");
  finals_free(&phase.finals);

  begin_phase(&phase, times_ms, 1, NOISE_NONE);
  run_phase(&phase);
  CHECK_EQ(0, winner(&phase), "the default alone");
  finals_free(&phase.finals);
  phase.model.is_wrong[0] = true;
  run_phase(&phase);
  CHECK_EQ(-1, winner(&phase), "nobody");
  CHECK_EQ(1, phase.finals.count, "but it is told");
  finals_free(&phase.finals);
  begin_phase(&phase, times_ms, 0, NOISE_NONE);
  run_phase(&phase);
  CHECK_EQ(0, phase.finals.count, "no candidates");
  finals_free(&phase.finals);
}

TEST(when_all_finalists_are_wrong_the_next_ones_run) {
  struct phase phase;
  double times_ms[20];
  for (int i = 0; i < 20; i++) times_ms[i] = 1 + 0.001 * i;
  begin_phase(&phase, times_ms, 20, NOISE_NONE);
  for (int i = 0; i < FINALS_FINALISTS + 1; i++) phase.model.is_wrong[i] = true;
  run_phase(&phase);
  CHECK_EQ(FINALS_FINALISTS + 1, winner(&phase), "winner");
  CHECK_EQ(20 - FINALS_FINALISTS - 1, phase.finals.ranked, "ranked");
  finals_free(&phase.finals);
}

TEST(without_time_the_least_is_done) {
  struct phase phase;
  double times_ms[MOST];
  for (int i = 0; i < MOST; i++) times_ms[i] = 1 + 0.0003 * i;
  times_ms[0] = 1.5;
  begin_phase(&phase, times_ms, MOST, NOISE_NONE);
  run_in(&phase, 1);
  CHECK(phase.finals.is_scaled, "less was done");
  CHECK_EQ(1, winner(&phase), "winner");
  CHECK_EQ(FINALS_ENTRANTS_LEAST + 1, phase.finals.count, "entrants");
  CHECK_EQ(FINALS_ENTRY_ROUNDS_LEAST, phase.finals.entry_rounds, "rounds");
  CHECK_EQ(FINALS_ROUNDS_LEAST, phase.finals.final_rounds, "rounds");
  finals_free(&phase.finals);

  /* With a budget it ends in time: an application takes 4 ms and a load 5 ms. */
  for (int i = 0; i < MOST; i++) times_ms[i] *= 4;
  begin_phase(&phase, times_ms, MOST, NOISE_NONE);
  const double begin_ms = phase.model.now_ms;
  run_in(&phase, 2500);
  CHECK(phase.finals.is_scaled, "less was done");
  CHECK(phase.model.now_ms - begin_ms < 2500, "%g ms", phase.model.now_ms - begin_ms);
  CHECK_EQ(1, winner(&phase), "winner");
  finals_free(&phase.finals);
}

/* Variants that are a thousand times slower than the best, or all slow: both end within the budget. */
TEST(slow_applications_keep_the_budget) {
  static const struct {
    const char *what;
    double times_ms[4];
    int winner, default_samples, samples;
  } rows[] = {{"the default alone", {700, 0.32, 0.3, 0.305}, 2, 1, FINALS_ROUNDS},
              {"somewhat", {40, 0.32, 0.3, 0.305}, 2, 10, FINALS_ROUNDS},
              {"all of them", {140, 150, 152, 135}, 3, 3, 3}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_phase(&phase, rows[i].times_ms, 4, NOISE_INDEPENDENT);
    const double begin_ms = phase.model.now_ms;
    run_phase(&phase);
    const struct final_entry *entry = entry_of(&phase, 0);
    CHECK_EQ(rows[i].winner, winner(&phase), "%s", rows[i].what);
    CHECK(phase.model.now_ms - begin_ms < 5000, "%s: %g ms", rows[i].what, phase.model.now_ms - begin_ms);
    CHECK_EQ(rows[i].samples, phase.finals.entries[0].timing.sample_count, "%s", rows[i].what);
    CHECK(entry->is_finalist && entry->rank > 0, "%s: the default", rows[i].what);
    CHECK_EQ(rows[i].default_samples, entry->timing.sample_count, "%s: rounds of the default", rows[i].what);
    CHECK_NEAR(rows[i].times_ms[0], phase.finals.default_ms, 0.02 * rows[i].times_ms[0], "%s", rows[i].what);
    const double want_ratio = rows[i].times_ms[0] / rows[i].times_ms[rows[i].winner];
    CHECK_NEAR(want_ratio, entry->ratio, 0.03 * entry->ratio, "%s", rows[i].what);
    for (int k = 0; k < entry->timing.sample_count; k++) CHECK(entry->samples[k] > 1, "%s: sample %d", rows[i].what, k);
    CHECK_EQ(0, finals_reject(&phase.finals, &(struct verdict){.outcome = OUTCOME_WRONG}), "%s", rows[i].what);
    CHECK(winner(&phase) != rows[i].winner && phase.finals.ranked > 0, "%s: the next one", rows[i].what);
    finals_free(&phase.finals);
  }
}

/* Times of an earlier run are a ten-thousandth of the true ones: samples are not as long as these times ask for. */
TEST(false_times_of_earlier_runs_keep_the_budget) {
  static const double times_ms[] = {0.6, 0.32, 0.3, 0.305};
  struct phase phase;
  begin_phase(&phase, times_ms, COUNT(times_ms), NOISE_NONE);
  for (int i = 1; i < phase.count; i++) {
    phase.candidates[i].is_recalled = true;
    phase.candidates[i].median_ms = phase.candidates[i].minimum_ms = 3e-5;
  }
  const double begin_ms = phase.model.now_ms;
  run_phase(&phase);
  CHECK(phase.model.now_ms - begin_ms < 5000, "%g ms", phase.model.now_ms - begin_ms);
  CHECK_EQ(2, winner(&phase), "winner");
  finals_free(&phase.finals);
}

/* The only round of the default is slowed down. Its time is kept, and marked. */
TEST(the_time_of_a_rare_default_is_never_dropped) {
  struct phase phase;
  const double times_ms[] = {700, 1, 1.02, 1.025, 1.01};
  begin_phase(&phase, times_ms, 5, NOISE_NONE);
  phase.model.throttle_from_ms = 0;
  phase.model.throttle_to_ms = 6500; /* the round is repeated three times */
  run_in(&phase, 8000);
  CHECK_EQ(1, winner(&phase), "winner");
  CHECK(entry_of(&phase, 0)->timing.sample_count > 0 && phase.finals.default_ms > 0, "the default has a time");
  CHECK(phase.finals.is_marked, "marked");
  finals_free(&phase.finals);
}

TEST(loads_that_take_long_leave_fewer_entrants) {
  struct phase phase;
  double times_ms[MOST];
  for (int i = 0; i < MOST; i++) times_ms[i] = 1 + 0.0003 * i;
  begin_phase(&phase, times_ms, MOST, NOISE_NONE);
  phase.model.load_ms = 30;
  const long loads = phase.model.loads;
  const double begin_ms = phase.model.now_ms;
  run_in(&phase, 1500);
  /* 35 % of the time suffices for 18 loads; the plan then has 16 entrants. */
  CHECK_EQ(18, phase.model.loads - loads, "loads");
  CHECK_EQ(FINALS_ENTRANTS_LEAST + 1, phase.finals.count, "entries");
  CHECK(phase.model.now_ms - begin_ms < 1500, "%g ms", phase.model.now_ms - begin_ms);
  finals_free(&phase.finals);
}

TEST(a_stop_ends_it_with_what_there_is) {
  for (int asks = 1; asks < 40; asks++) {
    struct phase phase;
    const double times_ms[] = {2, 1, 1.02, 1.025};
    begin_phase(&phase, times_ms, 4, NOISE_NONE);
    phase.asks_to_stop = asks;
    run_phase(&phase);
    /* Before this question: 3 loads, 5 entry rounds, final rounds. */
    const int rounds = asks - 1 - 3 - FINALS_ENTRY_ROUNDS;
    CHECK_EQ(rounds < FINALS_ROUNDS_LEAST ? -1 : 1, winner(&phase), "question %d", asks);
    if (winner(&phase) >= 0) {
      CHECK_EQ(rounds < FINALS_ROUNDS ? rounds : FINALS_ROUNDS, phase.finals.final_rounds, "question %d", asks);
    }
    finals_free(&phase.finals);
  }
}

TEST(slow_rounds_are_repeated_dropped_or_marked) {
  static const struct {
    const char *what;
    double from_ms, to_ms;
    bool is_marked;
    int least_rounds, most_rounds;
  } rows[] = {{"a short one", 300, 320, false, FINALS_ROUNDS, FINALS_ROUNDS},
              {"one that outlasts some rounds", 300, 900, false, FINALS_ROUNDS_LEAST, FINALS_ROUNDS - 1},
              {"one without end", 0, 1e9, true, FINALS_ROUNDS, FINALS_ROUNDS}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    const double times_ms[] = {2, 1, 1.02, 1.025, 1.01};
    begin_phase(&phase, times_ms, 5, NOISE_NONE);
    phase.model.throttle_from_ms = rows[i].from_ms;
    phase.model.throttle_to_ms = rows[i].to_ms;
    run_phase(&phase);
    const int rounds = phase.finals.final_rounds;
    CHECK(rounds >= rows[i].least_rounds && rounds <= rows[i].most_rounds, "%s: %d rounds", rows[i].what, rounds);
    CHECK_EQ(rows[i].is_marked, phase.finals.is_marked, "%s", rows[i].what);
    CHECK_EQ(1, winner(&phase), "%s", rows[i].what);
    CHECK_NEAR(rows[i].is_marked ? 1.4 : 1, phase.finals.entries[0].timing.median_ms, 1e-9, "%s", rows[i].what);
    finals_free(&phase.finals);
  }
}

TEST(the_order_within_rounds_is_shuffled_and_seeded) {
  enum { PLAYERS = 5, ROUNDS = 400 };
  long first[2][PLAYERS];
  for (int run_number = 0; run_number < 2; run_number++) {
    struct model model;
    struct rounds rounds;
    model_make(&model, NOISE_NONE, 1);
    struct backend_handle backend = model_handle(&model);
    const struct time_source time = model_time(&model);
    const struct rounds_end end = {.least = ROUNDS};
    CHECK_OK(rounds_make(&backend, &time, 5, PLAYERS, ROUNDS, &rounds));
    for (int i = 0; i < PLAYERS; i++) {
      model.true_ms[i] = 1;
      model_load(&model, i, i);
      rounds.players[i] = (struct player){.slot = i, .batch = 1, .verdict = {.outcome = OUTCOME_MEASURED}};
    }
    CHECK_OK(rounds_run(&rounds, ROUNDS, &end));
    CHECK_EQ(ROUNDS, rounds.count, "rounds");
    CHECK_EQ(0, model.unwarmed_switches, "each sample follows an application of its own");
    for (int i = 0; i < PLAYERS; i++) {
      first[run_number][i] = model.first_in_round[i];
      /* 80 are expected, with a standard deviation of 8. */
      CHECK_NEAR((double)ROUNDS / PLAYERS, model.first_in_round[i], 32, "player %d is first", i);
    }
    rounds_free(&rounds);
  }
  CHECK(memcmp(first[0], first[1], sizeof first[0]) == 0, "the same seed gives the same order");
}

TEST(a_player_may_skip_rounds) {
  enum { PLAYERS = 4, ROUNDS = 20 };
  static const int skips[PLAYERS] = {0, 6, 0, ROUNDS_NONE};
  struct model model;
  struct rounds rounds;
  double adjusted_ms[PLAYERS];
  model_make(&model, NOISE_NONE, 1);
  struct backend_handle backend = model_handle(&model);
  const struct time_source time = model_time(&model);
  const struct rounds_end end = {.at_ms = INFINITY, .least = ROUNDS};
  CHECK_OK(rounds_make(&backend, &time, 5, PLAYERS, ROUNDS, &rounds));
  for (int i = 0; i < PLAYERS; i++) {
    model.true_ms[i] = 1 + i;
    model_load(&model, i, i);
    rounds.players[i] =
        (struct player){.slot = i, .batch = 1, .skips = skips[i], .verdict = {.outcome = OUTCOME_MEASURED}};
  }
  CHECK_OK(rounds_run(&rounds, ROUNDS, &end));
  CHECK_EQ(ROUNDS, rounds.count, "rounds");
  CHECK_EQ(2 * ROUNDS + 3, model.samples, "samples: all, all, rounds 0, 7 and 14, none");
  CHECK_EQ(3, rounds_times(&rounds, 1).count, "times");
  CHECK_EQ(3, rounds_ratio(&rounds, 1, 2).count, "ratios within its rounds");
  CHECK_NEAR(2.0 / 3, rounds_ratio(&rounds, 1, 2).median, 1e-9, "ratio");
  CHECK_EQ(ROUNDS, rounds_ratio(&rounds, 0, 2).count, "the others have theirs");
  CHECK_EQ(0, rounds_times(&rounds, 3).count, "no times");
  rounds_adjusted(&rounds, adjusted_ms);
  for (int i = 0; i < 3; i++) CHECK_NEAR(1 + i, adjusted_ms[i], 1e-9, "player %d", i);
  CHECK(isnan(adjusted_ms[3]), "nothing is known of it");
  rounds_free(&rounds);
}

TEST(looks_at_single_samples_are_what_is_left_out_first) {
  /* 64 variants for 5 rounds of 2 ms, 12 and two copies for 20, the default for all 25, and 13 rechecks take 1263 ms of
   * 0.8 of the time. Checks add 3 ms for 13 variants in 20 rounds: 2043 ms.
   * Where a check takes 10 ms they add 2600 ms: 3863 ms. */
  static const struct {
    double budget_ms, look_ms;
    bool checks, is_scaled;
  } rows[] = {{2600, 0, true, false}, {2500, 0, false, false}, {1620, 0, false, false}, {1500, 0, false, true},
              {2600, 2, true, false}, {4900, 10, true, false}, {4800, 10, false, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    const struct finals_times times = {.best_ms = 1, .default_ms = 1, .recheck_ms = 1, .look_ms = rows[i].look_ms};
    struct finals_plan plan;
    finals_plan_make(&times, rows[i].budget_ms, 64, 2, &plan);
    CHECK_EQ(rows[i].checks, plan.checks, "row %zu", i);
    CHECK_EQ(rows[i].is_scaled, plan.is_scaled, "row %zu", i);
  }
}

/* What a lookup serves takes part although it is far behind: 25 rounds of two applications of 1.15 ms at most, 20
 * checks of 3 ms, and a recheck of 10 ms, and one and a half times that. */
TEST(the_search_leaves_time_for_what_a_lookup_serves) {
  const double without_ms = finals_need_ms(1, 1, 0, 5, 64, 1e6), with_ms = finals_need_ms(1, 1, 3, 5, 64, 1e6);
  CHECK_NEAR(1.5 * (25 * 2 * 1.15 + 20 * 3 + 10), with_ms - without_ms, 1e-6, "%g ms without it", without_ms);
  CHECK_NEAR(with_ms, finals_need_ms(1, 1, 300, 5, 64, 1e6), 1e-6, "much slower: it is in fewer rounds");
}

/* Time, energy and power of four variants: each objective has another winner. */
static const double frugal_ms[] = {1.02, 1.0, 1.012, 1.028};
static const double frugal_w[] = {500, 500, 470, 460};

static void begin_frugal(struct phase *phase, enum objective objective) {
  begin_phase(phase, frugal_ms, COUNT(frugal_ms), NOISE_NONE);
  for (size_t i = 0; i < COUNT(frugal_ms); i++) phase->model.power_w[i] = frugal_w[i];
  phase->objective = objective;
}

TEST(the_objective_ranks_the_finalists) {
  static const struct {
    enum objective objective;
    int want, rounds;
  } rows[] = {{OBJECTIVE_TIME, 1, 0}, {OBJECTIVE_ENERGY, 3, ENERGY_ROUNDS}, {OBJECTIVE_EDP, 2, ENERGY_ROUNDS}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_frugal(&phase, rows[i].objective);
    run_in(&phase, 60e3);
    CHECK_EQ(rows[i].want, winner(&phase), "row %zu", i);
    CHECK_EQ(rows[i].rounds, phase.finals.energy_rounds, "row %zu", i);
    CHECK(!phase.finals.lacks_energy, "row %zu", i);
    for (int c = 0; c < phase.count; c++) {
      const struct final_entry *entry = entry_of(&phase, c);
      if (rows[i].rounds == 0) CHECK(isnan(entry->energy_mj) && isnan(phase.finals.idle_w), "row %zu", i);
      else CHECK_NEAR(frugal_ms[c] * frugal_w[c], entry->energy_mj, 2, "row %zu, candidate %d", i, c);
      CHECK_NEAR(frugal_ms[c] / frugal_ms[winner(&phase)], entry->ratio, 1e-6, "a ratio is of times: row %zu", i);
    }
    if (rows[i].rounds > 0) CHECK_NEAR(90, phase.finals.idle_w, 1e-9, "row %zu", i);
    for (int e = 1; e < phase.finals.count && rows[i].objective == OBJECTIVE_ENERGY; e++)
      CHECK(phase.finals.entries[e - 1].energy_mj <= phase.finals.entries[e].energy_mj, "rank %d", e);
    finals_free(&phase.finals);
  }
}

/* The winner of energy turns out to be wrong. */
TEST(the_next_by_energy_follows_a_winner_that_is_wrong) {
  const struct verdict wrong = {.outcome = OUTCOME_WRONG};
  struct phase phase;
  begin_frugal(&phase, OBJECTIVE_ENERGY);
  run_in(&phase, 60e3);
  CHECK_OK(finals_reject(&phase.finals, &wrong));
  CHECK_EQ(2, winner(&phase), "the second in energy");
  finals_free(&phase.finals);
}

/* There is no counter; it stands still; it stops in the second round, after that one and the wait. */
TEST(time_ranks_where_the_counter_fails) {
  static const struct {
    bool has_counter, stands;
    long stops_after;
  } rows[] = {{false, false, 0}, {true, true, 0}, {true, false, 1}, {true, false, 1 + COUNT(frugal_ms) + 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_frugal(&phase, OBJECTIVE_ENERGY);
    phase.model.has_counter = rows[i].has_counter;
    phase.model.counter_stands = rows[i].stands;
    phase.model.counter_stops_after = rows[i].stops_after;
    run_in(&phase, 60e3);
    CHECK(phase.finals.lacks_energy, "row %zu", i);
    CHECK_EQ(0, phase.finals.energy_rounds, "row %zu", i);
    CHECK_EQ(1, winner(&phase), "row %zu", i);
    for (int e = 0; e < phase.finals.count; e++) CHECK(isnan(phase.finals.entries[e].energy_mj), "row %zu, %d", i, e);
    finals_free(&phase.finals);
  }
}

TEST(a_finalist_that_crashes_under_the_counter_leaves) {
  struct phase phase;
  begin_frugal(&phase, OBJECTIVE_ENERGY);
  phase.model.energy_failing = 3;
  run_in(&phase, 60e3);
  CHECK_EQ(2, winner(&phase), "the next");
  CHECK_EQ(OUTCOME_CRASHED, entry_of(&phase, 3)->verdict.outcome, "it left");
  finals_free(&phase.finals);
}

/* Their applications take `factor` times as long; beside a loop are 200 ms. */
static void begin_slow(struct phase *phase, double factor) {
  begin_frugal(phase, OBJECTIVE_ENERGY);
  for (int i = 0; i < phase->count; i++) {
    phase->model.true_ms[i] *= factor;
    phase->candidates[i].median_ms = phase->candidates[i].minimum_ms = phase->model.true_ms[i];
  }
  phase->model.energy_beside_ms = 200;
}

/* A round begins only if it fits, so that the phase ends in its budget. A round takes four loops of 600 ms and there is
 * a loop of nothing before it; slow applications take 64 of their times each. */
TEST(rounds_of_energy_keep_the_budget) {
  static const struct {
    double budget_ms, factor;
    int rounds;
  } rows[] = {{1000, 1, 0}, {2900, 1, 0},  {5000, 1, 1},  {6500, 1, 2},
              {30e3, 1, 6}, {5000, 20, 0}, {30e3, 20, 4}, {120e3, 20, 6}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct phase phase;
    begin_slow(&phase, rows[i].factor);
    const double begin_ms = phase.model.now_ms;
    run_in(&phase, rows[i].budget_ms);
    CHECK_EQ(rows[i].rounds, phase.finals.energy_rounds, "row %zu: %g ms", i, phase.model.now_ms - begin_ms);
    CHECK_EQ(rows[i].rounds > 0 ? 3 : 1, winner(&phase), "row %zu: by energy, or by time", i);
    CHECK(phase.model.now_ms - begin_ms <= rows[i].budget_ms, "row %zu: %g ms", i, phase.model.now_ms - begin_ms);
    const double need_ms = phase.finals.energy_need_ms;
    CHECK_EQ(rows[i].rounds<ENERGY_ROUNDS, need_ms> rows[i].budget_ms, "row %zu: %g ms", i, need_ms);
    finals_free(&phase.finals);
    if (rows[i].rounds > 0) continue;
    begin_slow(&phase, rows[i].factor);
    run_in(&phase, need_ms);
    CHECK(phase.finals.energy_rounds > 0, "row %zu: what is needed, %g ms, is enough", i, need_ms);
    finals_free(&phase.finals);
  }
}

/* At most one sample of energy is taken between two questions, and a round that was not completed does not count. */
TEST(a_stop_ends_rounds_of_energy) {
  const int before = 3 + FINALS_ENTRY_ROUNDS + FINALS_ROUNDS, players = COUNT(frugal_ms);
  for (int questions = 1; questions < 20; questions++) {
    struct phase phase;
    begin_frugal(&phase, OBJECTIVE_ENERGY);
    phase.asks_to_stop = before + questions;
    run_in(&phase, 60e3);
    const int rounds = phase.finals.energy_rounds, samples = (int)phase.model.energy_samples;
    CHECK(samples <= questions, "question %d: %d samples", questions, samples);
    CHECK_EQ((samples - (samples > 0)) / players, rounds, "question %d: %d samples", questions, samples);
    CHECK_EQ(rounds > 0 ? 3 : 1, winner(&phase), "question %d", questions);
    finals_free(&phase.finals);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_search_leaves_time_for_what_a_lookup_serves),
      cmocka_unit_test(the_objective_ranks_the_finalists),
      cmocka_unit_test(the_next_by_energy_follows_a_winner_that_is_wrong),
      cmocka_unit_test(time_ranks_where_the_counter_fails),
      cmocka_unit_test(a_finalist_that_crashes_under_the_counter_leaves),
      cmocka_unit_test(rounds_of_energy_keep_the_budget),
      cmocka_unit_test(a_stop_ends_rounds_of_energy),
      cmocka_unit_test(ties_are_decided_in_order),
      cmocka_unit_test(less_time_makes_a_smaller_plan_in_the_documented_order),
      cmocka_unit_test(a_default_that_is_far_behind_is_rare),
      cmocka_unit_test(the_winner_follows_from_times_and_registers),
      cmocka_unit_test(finalists_are_weighed_with_their_times_on_other_gpus),
      cmocka_unit_test(what_is_rejected_leaves_and_the_others_are_ranked_anew),
      cmocka_unit_test(one_value_again_and_again_has_no_interval),
      cmocka_unit_test(sixty_four_enter_and_twelve_and_the_default_stay),
      cmocka_unit_test(what_a_lookup_serves_is_in_the_final_rounds_whatever_its_time),
      cmocka_unit_test(a_default_that_was_screened_takes_part),
      cmocka_unit_test(the_roof_is_the_fastest_copy_in_the_same_rounds),
      cmocka_unit_test(screened_variants_near_the_winner_are_measured_fully),
      cmocka_unit_test(times_are_compared_over_the_anchor_s_scale),
      cmocka_unit_test(a_variant_that_fails_leaves_and_the_others_go_on),
      cmocka_unit_test(loads_and_rechecks_may_fail),
      cmocka_unit_test(when_all_finalists_are_wrong_the_next_ones_run),
      cmocka_unit_test(without_time_the_least_is_done),
      cmocka_unit_test(slow_applications_keep_the_budget),
      cmocka_unit_test(false_times_of_earlier_runs_keep_the_budget),
      cmocka_unit_test(the_time_of_a_rare_default_is_never_dropped),
      cmocka_unit_test(loads_that_take_long_leave_fewer_entrants),
      cmocka_unit_test(a_stop_ends_it_with_what_there_is),
      cmocka_unit_test(slow_rounds_are_repeated_dropped_or_marked),
      cmocka_unit_test(the_order_within_rounds_is_shuffled_and_seeded),
      cmocka_unit_test(a_player_may_skip_rounds),
      cmocka_unit_test(looks_at_single_samples_are_what_is_left_out_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
