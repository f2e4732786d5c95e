/* proposer_test.c: what a strategy is asked and told in a thread of its own. */
#include "tuner/search/strategy/proposer.h"

#include <math.h>
#include <pthread.h>

#include "base/fail.h"
#include "tests/unit/unit.h"

/* A strategy that has a number of variants, told apart by their ticket. It may wait for a sign before one of them. */
struct slow {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int most, proposed, told, told_before_last;
  int waits_before; /* the number of the proposal that waits; 0: none */
  int fails_at;     /* the number of the proposal that fails; 0: none */
  bool is_released;
  double last_ms;
};

static halotune_status slow_next(void *state, struct proposal *out, bool *have) {
  struct slow *slow = state;
  pthread_mutex_lock(&slow->lock);
  const int number = slow->proposed + 1;
  while (slow->waits_before == number && !slow->is_released) pthread_cond_wait(&slow->changed, &slow->lock);
  *have = number <= slow->most;
  if (*have) slow->proposed++;
  if (number == slow->most) slow->told_before_last = slow->told;
  *out = (struct proposal){.ticket = number};
  pthread_mutex_unlock(&slow->lock);
  return number == slow->fails_at ? fail(HALOTUNE_MEMORY, "variant %d", number) : HALOTUNE_OK;
}

static halotune_status slow_tell(void *state, const struct proposal *proposal, double time_ms) {
  struct slow *slow = state;
  (void)proposal;
  pthread_mutex_lock(&slow->lock);
  slow->told++;
  slow->last_ms = time_ms;
  pthread_mutex_unlock(&slow->lock);
  return HALOTUNE_OK;
}

static const char *slow_why(const void *state) { return ((const struct slow *)state)->proposed == 1 ? "first" : ""; }

static const struct strategy slow_strategy = {.next = slow_next, .tell = slow_tell, .why = slow_why};

static void slow_begin(struct slow *slow, bool is_beside, struct proposer **out) {
  pthread_mutex_init(&slow->lock, NULL);
  pthread_cond_init(&slow->changed, NULL);
  CHECK_OK(proposer_make(&slow_strategy, slow, is_beside, out));
}

static void slow_release(struct slow *slow) {
  pthread_mutex_lock(&slow->lock);
  slow->is_released = true;
  pthread_cond_broadcast(&slow->changed);
  pthread_mutex_unlock(&slow->lock);
}

static void slow_end(struct slow *slow, struct proposer *proposer) {
  proposer_free(proposer);
  pthread_cond_destroy(&slow->changed);
  pthread_mutex_destroy(&slow->lock);
}

/* The next answer that is not "thinking"; a minute at most, against hanging. */
static enum proposer_answer answer_of(struct proposer *proposer, struct proposed *out) {
  enum { TURNS = 60, TURN_MS = 1000 };
  enum proposer_answer answer = PROPOSER_THINKING;
  for (int i = 0; i < TURNS && answer == PROPOSER_THINKING; i++) {
    CHECK_OK(proposer_next(proposer, out, &answer));
    if (answer == PROPOSER_THINKING) proposer_wait(proposer, TURN_MS);
  }
  return answer;
}

TEST(nobody_waits_while_a_strategy_thinks) {
  struct slow slow = {.most = 2, .waits_before = 2};
  struct proposer *proposer;
  struct proposed proposed;
  enum proposer_answer answer;
  slow_begin(&slow, true, &proposer);
  CHECK_EQ(PROPOSER_HAS, answer_of(proposer, &proposed), "one more");
  CHECK_EQ(1, proposed.proposal.ticket, "the first one");
  CHECK_TEXT("first", proposed.why, "why it was proposed");
  CHECK_OK(proposer_next(proposer, &proposed, &answer));
  CHECK_EQ(PROPOSER_THINKING, answer, "it waits for the sign");
  CHECK_OK(proposer_tell(proposer, &proposed.proposal, 7));
  proposer_wait(proposer, 0);
  slow_release(&slow);
  CHECK_EQ(PROPOSER_HAS, answer_of(proposer, &proposed), "one more");
  CHECK_EQ(2, proposed.proposal.ticket, "the second one");
  CHECK_EQ(PROPOSER_DRY, answer_of(proposer, &proposed), "no more");
  slow_end(&slow, proposer);
  CHECK_EQ(1, slow.told, "what is told meanwhile arrives before the strategy counts as dry");
  CHECK(slow.last_ms == 7, "%g", slow.last_ms);
}

/* The strategy stops when enough proposals are ready, and hears all results before the next one. */
TEST(few_proposals_are_ready_ahead) {
  enum { MOST = PROPOSER_AHEAD + 2, RESULTS = 3 };
  struct slow slow = {.most = MOST, .waits_before = MOST};
  struct proposer *proposer;
  struct proposed proposed;
  slow_begin(&slow, true, &proposer);
  for (int i = 1; i < MOST; i++) {
    CHECK_EQ(PROPOSER_HAS, answer_of(proposer, &proposed), "one more");
    CHECK_EQ(i, proposed.proposal.ticket, "in this order");
    pthread_mutex_lock(&slow.lock);
    CHECK(slow.proposed <= i + PROPOSER_AHEAD, "%d proposals, %d taken", slow.proposed, i);
    pthread_mutex_unlock(&slow.lock);
  }
  slow_release(&slow);
  CHECK_EQ(PROPOSER_HAS, answer_of(proposer, &proposed), "one more");
  for (int i = 0; i < RESULTS; i++) CHECK_OK(proposer_tell(proposer, &proposed.proposal, i));
  CHECK_EQ(PROPOSER_DRY, answer_of(proposer, &proposed), "when all results are known");
  slow_end(&slow, proposer);
  CHECK_EQ(RESULTS, slow.told, "results");
}

TEST(without_a_thread_each_proposal_knows_all_results) {
  struct slow slow = {.most = 3};
  struct proposer *proposer;
  struct proposed proposed;
  enum proposer_answer answer;
  slow_begin(&slow, false, &proposer);
  for (int i = 0; i < slow.most; i++) {
    CHECK_OK(proposer_next(proposer, &proposed, &answer));
    CHECK_EQ(PROPOSER_HAS, answer, "variant %d", i);
    CHECK_EQ(i + 1, slow.proposed, "none ahead");
    CHECK_OK(proposer_tell(proposer, &proposed.proposal, INFINITY));
  }
  CHECK_EQ(2, slow.told_before_last, "results of those before the last one");
  CHECK_OK(proposer_next(proposer, &proposed, &answer));
  CHECK_EQ(PROPOSER_DRY, answer, "no more");
  slow_end(&slow, proposer);
}

/* With and without a thread, a failure is told each time. */
TEST(a_strategy_that_fails_is_not_asked_again) {
  for (int is_beside = 0; is_beside < 2; is_beside++) {
    struct slow slow = {.most = 9, .fails_at = 1};
    struct proposer *proposer;
    struct proposed proposed;
    enum proposer_answer answer;
    halotune_status status = HALOTUNE_OK;
    slow_begin(&slow, is_beside, &proposer);
    for (int turn = 0; turn < 60 && status == HALOTUNE_OK; turn++) {
      status = proposer_next(proposer, &proposed, &answer);
      if (status == HALOTUNE_OK) proposer_wait(proposer, 1000);
    }
    CHECK_EQ(HALOTUNE_MEMORY, status, "beside: %d", is_beside);
    CHECK_TEXT("variant 1", fail_text(), "beside: %d", is_beside);
    if (is_beside) CHECK_EQ(HALOTUNE_MEMORY, proposer_next(proposer, &proposed, &answer), "and again");
    slow_end(&slow, proposer);
    CHECK_EQ(1, slow.proposed, "beside: %d", is_beside);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_waits_while_a_strategy_thinks),
      cmocka_unit_test(few_proposals_are_ready_ahead),
      cmocka_unit_test(without_a_thread_each_proposal_knows_all_results),
      cmocka_unit_test(a_strategy_that_fails_is_not_asked_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
