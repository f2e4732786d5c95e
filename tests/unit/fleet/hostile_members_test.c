/* hostile_members_test.c: members that say anything. Whole sessions in which words and bytes of members' messages are
 * exchanged: the leader neither fails nor waits, and what it takes has times, and words that a terminal can show.
 * SEED (1) and ROUNDS (400) of the environment say which and how many. */
#include <math.h>
#include <stdlib.h>

#include "base/numbers/random.h"
#include "base/text/utf8.h"
#include "tests/unit/fleet/fake_members.h"
#include "tests/unit/stores.h"
#include "tests/unit/template/templates.h"

enum { SIZE = 3, FINALISTS = 2, MOST_TAKES = 100 };

static uint64_t key, drawn;

static uint64_t draw(uint64_t below) { return random_bits(key, drawn++) % below; }

/* A value that takes the place of a number in a message. */
static uint64_t odd_word(void) {
  static const double reals[] = {0, -1, 1e-300, 1e300, (double)INFINITY, -(double)INFINITY, (double)NAN};
  static const uint64_t wholes[] = {1, 2, UINT64_MAX, INT64_MAX, UINT32_MAX, (uint64_t)1 << 31, (uint64_t)1 << 20};
  uint64_t word;
  if (draw(2)) return wholes[draw(COUNT(wholes))];
  memcpy(&word, &reals[draw(COUNT(reals))], sizeof word);
  return word;
}

/* Change none to three words or bytes of the message that was said last, or cut it. */
static void change_newest(struct fake_link *fake) {
  struct text *text = &fake->said[fake->said_count - 1].text;
  for (uint64_t count = draw(4); count > 0 && text->length >= sizeof(uint64_t); count--) {
    const uint64_t word = odd_word();
    const size_t words = text->length / sizeof word;
    switch (draw(8)) {
    case 0: text->length = draw(text->length); break;
    case 1:
    case 2: text->bytes[draw(text->length)] = (char)draw(256); break;
    default: memcpy(text->bytes + draw(words) * sizeof word, &word, sizeof word);
    }
  }
}

static void say_message(struct fake_link *fake, int rank, enum fleet_kind kind, long ticket) {
  static const float samples[] = {2, 2};
  const struct fleet_hello hello = fake_hello(rank);
  struct text *text = fake_say(fake, rank, kind, kind == FLEET_HELLO ? 0 : 1);
  struct trial trial = {.proposal.ticket = ticket, .result = measurement_none()};
  trial.result.outcome = OUTCOME_MEASURED;
  trial.result.timing = (struct timing){
      .sample_count = 2, .median_ms = 2, .minimum_ms = 2, .low_ms = 2, .high_ms = 2, .samples = samples};
  switch ((int)kind) {
  case FLEET_HELLO: fleet_hello_write(text, &hello); break;
  case FLEET_READY: pack_u64(text, draw(8) > 0), pack_text(text, "words of a member"); break;
  case FLEET_ANCHORED: pack_double(text, 2); break;
  case FLEET_RESULT: fleet_result_write(text, &trial, 1); break;
  case FLEET_SETTLED:
    pack_u64(text, 1), pack_u64(text, (uint64_t)ticket), pack_double(text, 1), pack_u64(text, 0);
    break;
  case FLEET_TIMES: pack_u64(text, FINALISTS), pack_double(text, 2), pack_double(text, 3); break;
  case FLEET_LEAVING: pack_text(text, "words of a member"); break;
  default: break;
  }
  change_newest(fake);
}

/* Both members say what they should, or something else, and more. */
static void say_all(struct fake_link *fake, enum fleet_kind kind) {
  for (int rank = 1; rank < SIZE; rank++) {
    if (draw(8) == 0) say_message(fake, rank, (enum fleet_kind)(1 + draw(FLEET_KIND_END)), 1 + (long)draw(6));
    say_message(fake, rank, kind, 1 + (long)draw(6));
  }
}

static void check_words(const char *words, uint64_t round) {
  for (const char *at = words; *at; at++)
    CHECK((unsigned char)*at >= ' ' || *at == '\n' || *at == '\t', "round %lu: \"%s\"", round, words);
}

static void check_result(const struct trial *trial, uint64_t round) {
  const struct timing *timing = &trial->result.timing;
  CHECK(is_printable_line(trial->result.gpu), "round %lu: a GPU's name", round);
  if (!outcome_has_time(trial->result.outcome)) return;
  CHECK(isfinite(timing->median_ms) && timing->minimum_ms > 0, "round %lu: its time", round);
  CHECK(!(timing->low_ms > timing->median_ms) && !(timing->high_ms < timing->median_ms), "round %lu: bounds", round);
  for (int i = 0; i < timing->sample_count && timing->samples; i++)
    CHECK(isfinite(timing->samples[i]) && timing->samples[i] > 0, "round %lu: sample %d", round, i);
}

static void take_all(struct crew crew, uint64_t round) {
  for (int takes = 0; takes < MOST_TAKES; takes++) {
    struct trial *trial;
    bool is_lost;
    CHECK_OK(crew.table->take(crew.state, 0, &trial, &is_lost));
    if (!trial) return;
    if (!is_lost) check_result(trial, round);
    trial_free(trial);
  }
  CHECK(false, "round %lu: results without end", round);
}

static void session(struct bench_case *bench, uint64_t round) {
  struct fake_link *fake = calloc(1, sizeof *fake);
  CHECK(fake, "memory");
  const struct fleet_link link = {.table = &fake_table, .state = fake, .size = SIZE};
  const struct leader_options options = {
      .link = &link, .own = fake_hello(0), .patience_ms = 1000, .time = {fake_now_ms, fake}};
  struct template *templates[] = {bench->template};
  const struct search_space space = {.templates = templates, .count = 1};
  const struct task task = {.stencil = bench->stencil,
                            .analysis = bench->analysis,
                            .stencil_text = "name: test",
                            .grid = {{64, 48, 40}},
                            .coefficients = case_coefficients,
                            .launch_steps = 1};
  const struct crew_task crew_task = {.task = &task, .templates = templates, .template_count = 1};
  const struct crew_start start = {.space = &space};
  const double own_ms[FINALISTS] = {1, 2};
  double weights[FINALISTS] = {1, 1};
  struct proposal proposals[FINALISTS];
  struct text words = {0};
  struct leader *leader;
  struct crew_report report;
  const struct crew_settled *settled;
  long count;
  memset(proposals, 0, sizeof proposals);
  CHECK_OK(leader_open(&options, &leader));
  const struct crew crew = leader_crew(leader);
  say_all(fake, FLEET_HELLO);
  CHECK(leader_gather(leader, 100, &words) >= 0, "round %lu: %s", round, fail_text());
  CHECK_OK(crew.table->begin(crew.state, &crew_task));
  CHECK_OK(crew.table->start(crew.state, &start));
  crew.table->anchored(crew.state, 2);
  say_all(fake, FLEET_READY);
  say_all(fake, FLEET_ANCHORED);
  take_all(crew, round);
  CHECK(crew.table->room(crew.state) >= 0, "round %lu: room", round);
  for (int i = 0; i < 6 && crew.table->room(crew.state) > 0; i++) {
    struct trial *trial;
    CHECK_OK(trial_begin_away(bench->template, &proposals[0], &trial));
    CHECK_OK(crew.table->put(crew.state, trial, INFINITY));
  }
  for (int i = 0; i < 3; i++) say_all(fake, FLEET_RESULT);
  take_all(crew, round);
  CHECK_OK(crew.table->stop(crew.state));
  say_all(fake, FLEET_SETTLED);
  CHECK_OK(crew.table->settle(crew.state, &settled, &count));
  for (long i = 0; i < count; i++) CHECK(isfinite(settled[i].scale) && settled[i].scale > 0, "round %lu: scale", round);
  CHECK_OK(crew.table->finals_begin(crew.state, proposals, FINALISTS, 1));
  say_all(fake, FLEET_TIMES);
  CHECK_OK(crew.table->finals_take(crew.state, own_ms, weights));
  for (int i = 0; i < FINALISTS; i++)
    CHECK(isfinite(weights[i]) && weights[i] > 0, "round %lu: weight %g", round, weights[i]);
  crew.table->won(crew.state, 0, own_ms[0], &words);
  say_all(fake, FLEET_LEAVING);
  take_all(crew, round);
  CHECK_OK(crew.table->end(crew.state, &report));
  check_words(text_string(&words), round);
  for (int i = 0; i < report.shown; i++) {
    check_words(report.gpus[i].left_out, round);
    CHECK(is_printable_line(report.gpus[i].uuid) && is_printable_line(report.gpus[i].host), "round %lu: names", round);
  }
  leader_close(leader);
  text_free(&words);
  fake_free(fake);
  free(fake);
}

TEST(no_message_of_a_member_breaks_the_leader) {
  struct bench_case bench;
  const long seed = number_of_environment("SEED", 1), rounds = number_of_environment("ROUNDS", 400);
  case_load(&bench);
  for (uint64_t round = 0; round < (uint64_t)rounds; round++) {
    key = random_bits((uint64_t)seed, round);
    drawn = 0;
    session(&bench, round);
  }
  case_free(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_message_of_a_member_breaks_the_leader)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
