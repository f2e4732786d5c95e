/* post_test.c: letters over an MPI that the test plays, with a clock that the test advances. */
#include "tuner/fleet/mpi/post.h"

#include <stdlib.h>

#include "tests/unit/unit.h"
#include "tuner/fleet/link.h"

enum { MOST = 128 };

/* A message on its way. Its address serves as its request. */
struct message {
  int rank;
  size_t count;
  const char *bytes; /* what is sent, or what will be received */
  char *place;
  bool may_end, is_found, was_begun;
};

static struct {
  struct message sent[MOST], come[MOST];
  int sent_count, come_count;
  int send_error, look_error, test_error;
  bool ends_at_once;
} mpi;

static int mpi_send(int to, const void *bytes, size_t count, void **request) {
  struct message *message = &mpi.sent[mpi.sent_count];
  *request = NULL;
  if (mpi.send_error) return mpi.send_error;
  *message = (struct message){.rank = to, .count = count, .bytes = bytes, .may_end = mpi.ends_at_once};
  *request = message;
  mpi.sent_count++;
  return 0;
}

static int mpi_look(int *from, size_t *count) {
  *from = -1;
  *count = 0;
  for (int i = 0; i < mpi.come_count && !mpi.look_error; i++) {
    if (mpi.come[i].is_found) continue;
    *from = mpi.come[i].rank;
    *count = mpi.come[i].count;
    return 0;
  }
  return mpi.look_error;
}

static int mpi_receive(int from, void *bytes, size_t count, void **request) {
  for (int i = 0; i < mpi.come_count; i++) {
    struct message *message = &mpi.come[i];
    if (message->is_found || message->rank != from) continue;
    message->is_found = true;
    message->place = bytes;
    *request = message;
    if (message->count == count) return 0;
    *request = NULL;
    return 1;
  }
  return 1;
}

static int mpi_has_ended(void *request, bool *has_ended) {
  struct message *message = request;
  *has_ended = message->may_end;
  if (message->may_end && message->place && message->count > 0) memcpy(message->place, message->bytes, message->count);
  return mpi.test_error;
}

static void mpi_error_text(int error, char text[FLEET_MPI_TEXT_BYTES]) {
  snprintf(text, FLEET_MPI_TEXT_BYTES, "error %d", error);
}

static const struct fleet_mpi_plugin plugin = {.version = FLEET_MPI_VERSION,
                                               .kind = "test",
                                               .halotune = HALOTUNE_VERSION,
                                               .send = mpi_send,
                                               .look = mpi_look,
                                               .receive = mpi_receive,
                                               .has_ended = mpi_has_ended,
                                               .error_text = mpi_error_text};

static void begin_post(struct post *post, int rank, int size) {
  const struct fleet_mpi_world world = {.rank = rank, .size = size, .host = "here"};
  memset(&mpi, 0, sizeof mpi);
  mpi.ends_at_once = true;
  CHECK_OK(post_open(&plugin, &world, FLEET_MESSAGE_MOST, 0, post));
}

static struct message *come(int from, const char *bytes, bool may_end) {
  struct message *message = &mpi.come[mpi.come_count++];
  *message = (struct message){.rank = from, .count = strlen(bytes), .bytes = bytes, .may_end = may_end};
  return message;
}

/* "1 text", "2 gone", or "" for nothing. */
static const char *next(struct post *post) {
  static char words[128];
  struct text text = {0};
  int from;
  bool is_gone;
  CHECK_OK(post_take(post, &from, &is_gone, &text));
  if (from < 0) {
    words[0] = '\0';
  } else {
    snprintf(words, sizeof words, "%d %s", from, is_gone ? "gone" : text_string(&text));
  }
  text_free(&text);
  return words;
}

/* Step until a time, as often as a rank does that is not stopped. */
static void step(struct post *post, double now_ms) {
  bool is_busy;
  while (post->now_ms + POST_STEP_MS < now_ms) CHECK_OK(post_step(post, post->now_ms + POST_STEP_MS, &is_busy));
  CHECK_OK(post_step(post, now_ms, &is_busy));
}

TEST(letters_of_a_rank_stay_in_their_order) {
  struct post post;
  begin_post(&post, 0, 3);
  struct message *large = come(1, "large", false);
  come(1, "small", true);
  come(2, "other", true);
  step(&post, 1);
  CHECK_TEXT("2 other", next(&post), "the other rank's letter does not wait");
  CHECK_TEXT("", next(&post), "the small one does not overtake the large one");
  large->may_end = true;
  step(&post, 2);
  CHECK_TEXT("1 large", next(&post), "first");
  CHECK_TEXT("1 small", next(&post), "second");
  CHECK_TEXT("", next(&post), "no more");
  post_free(&post);
}

TEST(a_letter_is_sent_once_and_in_order) {
  struct post post;
  begin_post(&post, 1, 4);
  mpi.ends_at_once = false;
  CHECK_OK(post_send(&post, 0, "one", 3, 1000));
  CHECK_OK(post_send(&post, 0, "two", 3, 1000));
  for (int i = 1; i < 5; i++) step(&post, i);
  CHECK_EQ(2, mpi.sent_count, "each begins once");
  CHECK(memcmp(mpi.sent[0].bytes, "one", 3) == 0 && memcmp(mpi.sent[1].bytes, "two", 3) == 0, "order");
  CHECK(!post_is_sent(&post), "on their way");
  mpi.sent[0].may_end = mpi.sent[1].may_end = true;
  step(&post, 6);
  CHECK(post_is_sent(&post) && post_is_whole(&post), "sent");
  CHECK_TEXT("", next(&post), "nothing to tell");
  post_free(&post);
}

TEST(a_rank_that_takes_nothing_is_gone_and_told_once) {
  struct post post;
  begin_post(&post, 0, 3);
  mpi.ends_at_once = false;
  CHECK_OK(post_send(&post, 2, "task", 4, 1000));
  come(2, "before", true);
  step(&post, 999);
  CHECK(post_is_whole(&post), "in time");
  step(&post, 1000);
  CHECK(!post_is_whole(&post), "too late");
  CHECK_TEXT("2 before", next(&post), "what it sent before comes first");
  CHECK_TEXT("2 gone", next(&post), "then the word");
  CHECK_TEXT("", next(&post), "once");
  come(2, "after", true);
  step(&post, 1001);
  CHECK_TEXT("", next(&post), "what it sends later is thrown away");
  CHECK_OK(post_send(&post, 2, "more", 4, 1000));
  step(&post, 1002);
  CHECK_EQ(1, mpi.sent_count, "nothing more is sent to it");
  CHECK(post_is_sent(&post), "and nothing waits");
  mpi.sent[0].may_end = true; /* until then its bytes belong to MPI */
  step(&post, 1003);
  post_free(&post);
}

TEST(an_error_of_a_send_means_that_the_rank_is_gone) {
  struct post post;
  begin_post(&post, 0, 3);
  mpi.send_error = 7;
  CHECK_OK(post_send(&post, 1, "task", 4, 1000));
  step(&post, 1);
  CHECK_TEXT("1 gone", next(&post), "told");
  post_free(&post);
}

TEST(a_dropped_rank_is_not_told) {
  struct post post;
  begin_post(&post, 0, 3);
  come(1, "words", true);
  post_drop(&post, 1);
  step(&post, 1);
  CHECK_TEXT("", next(&post), "neither words nor the end");
  post_free(&post);
}

TEST(a_dropped_rank_still_gets_what_was_sent_before) {
  struct post post;
  begin_post(&post, 0, 3);
  CHECK_OK(post_send(&post, 1, "refused", 7, 1000));
  post_drop(&post, 1);
  CHECK_OK(post_send(&post, 1, "more", 4, 1000));
  step(&post, 1);
  CHECK_EQ(1, mpi.sent_count, "one letter");
  CHECK(mpi.sent[0].rank == 1 && mpi.sent[0].count == 7, "from before");
  step(&post, POST_BEAT_MS);
  CHECK_EQ(2, mpi.sent_count, "a sign of life goes to the other rank alone");
  CHECK(post_is_sent(&post) && !post_is_whole(&post), "nothing waits for it");
  post_free(&post);
}

TEST(a_message_that_is_too_long_ends_its_sender) {
  struct post post;
  begin_post(&post, 0, 3);
  come(1, "before", true);
  mpi.come[mpi.come_count++] = (struct message){.rank = 1, .count = FLEET_MESSAGE_MOST + 1, .bytes = ""};
  come(2, "other", true);
  step(&post, 1);
  CHECK_TEXT("1 before", next(&post), "what it sent before counts");
  CHECK_TEXT("2 other", next(&post), "the other rank goes on");
  CHECK_TEXT("1 gone", next(&post), "it is gone");
  post_free(&post);
}

TEST(signs_of_life_go_between_rank_0_and_the_members) {
  static const struct { int rank, want; } rows[] = {{0, 3}, {1, 1}, {3, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct post post;
    begin_post(&post, rows[i].rank, 4);
    step(&post, POST_BEAT_MS - 1);
    CHECK_EQ(0, mpi.sent_count, "row %zu: early", i);
    step(&post, POST_BEAT_MS);
    CHECK_EQ(rows[i].want, mpi.sent_count, "row %zu", i);
    CHECK_EQ(0, mpi.sent[0].count, "row %zu: without bytes", i);
    step(&post, POST_BEAT_MS + 1);
    CHECK_EQ(rows[i].want, mpi.sent_count, "row %zu: not again at once", i);
    post_free(&post);
  }
}

TEST(silence_means_that_a_rank_is_gone) {
  struct post post;
  begin_post(&post, 0, 3);
  come(1, "", true); /* a sign of life */
  step(&post, POST_SILENCE_MS - 1);
  CHECK_TEXT("", next(&post), "a sign of life is no message");
  step(&post, POST_SILENCE_MS);
  CHECK_TEXT("2 gone", next(&post), "rank 2 said nothing");
  CHECK_TEXT("", next(&post), "rank 1 did");
  step(&post, 2 * POST_SILENCE_MS);
  CHECK_TEXT("1 gone", next(&post), "later rank 1 is silent, too");
  post_free(&post);
}

/* A rank that was stopped for an hour has not listened, and nobody could take its letters. */
TEST(a_rank_that_was_stopped_takes_no_other_rank_for_gone) {
  const double hour_ms = 3600000;
  struct post post;
  bool is_busy;
  begin_post(&post, 0, 2);
  mpi.ends_at_once = false;
  CHECK_OK(post_send(&post, 1, "task", 4, 10000));
  step(&post, 1000);
  CHECK_OK(post_step(&post, hour_ms, &is_busy));
  CHECK(post_is_whole(&post), "stopped");
  for (int i = 0; i < mpi.sent_count; i++) mpi.sent[i].may_end = true;
  step(&post, hour_ms + 1);
  CHECK(post_is_sent(&post) && post_is_whole(&post), "taken in time");
  mpi.ends_at_once = true;
  step(&post, hour_ms + POST_SILENCE_MS - POST_STEP_MS - 1001);
  CHECK_TEXT("", next(&post), "silent, not for long enough");
  step(&post, hour_ms + POST_SILENCE_MS);
  CHECK_TEXT("1 gone", next(&post), "silent while this rank listened");
  post_free(&post);
}

/* Rank 0 may prepare a task for long, and its thread answers meanwhile. Members do not wait for signs of life of each
 * other. */
TEST(members_hear_rank_0_alone) {
  struct post post;
  begin_post(&post, 2, 4);
  step(&post, POST_SILENCE_MS);
  CHECK_TEXT("0 gone", next(&post), "rank 0");
  CHECK_TEXT("", next(&post), "no other rank");
  post_free(&post);
}

TEST(an_error_of_mpi_is_told_with_its_words) {
  struct post post;
  bool is_busy;
  begin_post(&post, 0, 2);
  mpi.look_error = 3;
  CHECK_EQ(HALOTUNE_IO, post_step(&post, 1, &is_busy), "look");
  CHECK_TEXT("rank 0 on here: MPI cannot look for messages: error 3", fail_text(), "words");
  mpi.look_error = 0;
  come(1, "words", false);
  mpi.test_error = 4;
  CHECK_EQ(HALOTUNE_IO, post_step(&post, 2, &is_busy), "receive");
  CHECK_TEXT("rank 0 on here: MPI cannot receive a message: error 4", fail_text(), "words");
  post_free(&post);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(letters_of_a_rank_stay_in_their_order),
      cmocka_unit_test(a_letter_is_sent_once_and_in_order),
      cmocka_unit_test(a_rank_that_takes_nothing_is_gone_and_told_once),
      cmocka_unit_test(an_error_of_a_send_means_that_the_rank_is_gone),
      cmocka_unit_test(a_dropped_rank_is_not_told),
      cmocka_unit_test(a_dropped_rank_still_gets_what_was_sent_before),
      cmocka_unit_test(a_message_that_is_too_long_ends_its_sender),
      cmocka_unit_test(signs_of_life_go_between_rank_0_and_the_members),
      cmocka_unit_test(silence_means_that_a_rank_is_gone),
      cmocka_unit_test(a_rank_that_was_stopped_takes_no_other_rank_for_gone),
      cmocka_unit_test(members_hear_rank_0_alone),
      cmocka_unit_test(an_error_of_mpi_is_told_with_its_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
