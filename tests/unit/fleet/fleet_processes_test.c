/* fleet_processes_test.c: messages between a leader and its forks: sizes, order, ends of all kinds. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "tuner/fleet/processes.h"

enum { LIMIT_MS = 600000 };

/* A member that sends back what it gets. Its first byte may be an order: 'd' die, 'h' hang, 's' say half a message. */
__attribute__((noreturn)) static void echo(struct fleet_link *link) {
  struct text text = {0};
  for (;;) {
    int from;
    bool is_gone;
    if (link->table->receive(link->state, LIMIT_MS, &from, &is_gone, &text) != HALOTUNE_OK || is_gone) _exit(1);
    if (from < 0) continue;
    const char order = text.bytes[0];
    if (order == 'd') raise(SIGKILL);
    if (order == 'h') {
      for (;;) pause();
    }
    link->table->send(link->state, 0, text.bytes, text.length, LIMIT_MS);
    if (order == 'q') break;
  }
  text_free(&text);
  link->table->close(link->state, false, 0);
  _exit(0);
}

/* Open a leader with members that echo. Only the leader returns. */
static void leader_open(int members, struct fleet_link *link) {
  CHECK_OK(processes_open(members, link));
  if (link->rank > 0) echo(link);
}

static void send_char(struct fleet_link *link, int to, char order) {
  CHECK_OK(link->table->send(link->state, to, &order, 1, LIMIT_MS));
}

static void receive(struct fleet_link *link, int *from, bool *is_gone, struct text *out) {
  do CHECK_OK(link->table->receive(link->state, 1000, from, is_gone, out));
  while (*from < 0);
}

/* The first member has echoed 'a', and ended. */
static void receive_last_words(struct fleet_link *link, struct text *text) {
  int from;
  bool is_gone;
  receive(link, &from, &is_gone, text);
  CHECK(from == 1 && !is_gone && text->bytes[0] == 'a', "its last message");
  receive(link, &from, &is_gone, text);
  CHECK(from == 1 && is_gone, "then its end");
}

TEST(messages_of_all_sizes_keep_their_order) {
  static const size_t sizes[] = {1, 7, 8, 4096, 65536, 65537, 1 << 20, FLEET_MESSAGE_MOST};
  struct fleet_link link;
  struct text text = {0};
  int from;
  bool is_gone;
  leader_open(3, &link);
  char *bytes = malloc(FLEET_MESSAGE_MOST);
  CHECK(bytes, "memory");
  for (size_t i = 0; i < FLEET_MESSAGE_MOST; i++) bytes[i] = (char)('A' + i % 23);
  for (size_t i = 0; i < COUNT(sizes); i++) {
    CHECK_OK(link.table->send(link.state, 2, bytes, sizes[i], LIMIT_MS));
    receive(&link, &from, &is_gone, &text);
    CHECK(from == 2 && !is_gone && text.length == sizes[i] && memcmp(text.bytes, bytes, sizes[i]) == 0, "row %zu", i);
  }
  for (int i = 0; i < 26; i++) send_char(&link, 1 + i % 3, (char)('A' + i));
  int heard[4] = {0};
  for (int i = 0; i < 26; i++) {
    receive(&link, &from, &is_gone, &text);
    CHECK_EQ('A' + (from - 1) + 3 * heard[from]++, text.bytes[0], "message %d, of rank %d", i, from);
  }
  CHECK_EQ(HALOTUNE_ARGUMENT, link.table->send(link.state, 1, bytes, 0, 0), "empty");
  CHECK_EQ(HALOTUNE_ARGUMENT, link.table->send(link.state, 1, bytes, FLEET_MESSAGE_MOST + 1, 0), "too long");
  for (int rank = 1; rank <= 3; rank++) send_char(&link, rank, 'q');
  link.table->close(link.state, false, 0);
  text_free(&text);
  free(bytes);
}

TEST(a_member_that_ends_is_told_once_after_what_it_said) {
  struct fleet_link link;
  struct text text = {0};
  int from;
  bool is_gone;
  leader_open(2, &link);
  send_char(&link, 1, 'a');
  send_char(&link, 1, 'd');
  receive_last_words(&link, &text);
  CHECK_OK(link.table->receive(link.state, 0, &from, &is_gone, &text));
  CHECK_EQ(-1, from, "once");
  send_char(&link, 1, 'a'); /* nobody takes it, which is no error */
  send_char(&link, 2, 'b');
  receive(&link, &from, &is_gone, &text);
  CHECK(from == 2 && text.bytes[0] == 'b', "the other one is there");
  link.table->close(link.state, true, 1); /* kills it */
  text_free(&text);
}

TEST(a_member_that_hangs_is_dropped) {
  struct fleet_link link;
  struct text text = {0};
  int from;
  bool is_gone;
  leader_open(1, &link);
  send_char(&link, 1, 'h');
  link.table->drop(link.state, 1);
  CHECK_OK(link.table->receive(link.state, 0, &from, &is_gone, &text));
  CHECK_EQ(-1, from, "without a word");
  link.table->close(link.state, false, 0);
  text_free(&text);
}

TEST(what_a_member_said_before_its_end_comes_after_a_message_to_it) {
  struct fleet_link link;
  struct text text = {0};
  siginfo_t end;
  leader_open(1, &link);
  send_char(&link, 1, 'a');
  send_char(&link, 1, 'd');
  CHECK_EQ(0, waitid(P_ALL, 0, &end, WEXITED | WNOWAIT), "its end");
  for (int i = 0; i < 2; i++) send_char(&link, 1, 'b');
  receive_last_words(&link, &text);
  link.table->close(link.state, true, 1);
  text_free(&text);
}

/* The member's side of the socket is full after a part of the message. */
TEST(a_member_that_reads_nothing_costs_the_time_of_one_send) {
  struct fleet_link link;
  struct text text = {0};
  int from;
  bool is_gone;
  CHECK_OK(processes_open(1, &link));
  if (link.rank > 0) {
    send_char(&link, 0, 'a');
    for (;;) pause();
  }
  char *bytes = calloc(1, FLEET_MESSAGE_MOST);
  CHECK(bytes, "memory");
  receive(&link, &from, &is_gone, &text); /* it runs */
  CHECK_OK(link.table->send(link.state, 1, bytes, FLEET_MESSAGE_MOST, 20));
  CHECK_OK(link.table->send(link.state, 1, bytes, FLEET_MESSAGE_MOST, LIMIT_MS)); /* it gets nothing more */
  CHECK_OK(link.table->receive(link.state, 10000, &from, &is_gone, &text));
  CHECK(from == 1 && is_gone, "it counts as gone");
  text_free(&text);
  link.table->drop(link.state, 1);
  link.table->close(link.state, false, 0);
  free(bytes);
}

/* A leader that is stopped by Ctrl-Z is like this member. */
TEST(a_message_that_may_be_dropped_costs_no_member) {
  enum { MANY = 100000 };
  struct fleet_link link;
  struct text text = {0};
  int from;
  bool is_gone;
  CHECK_OK(processes_open(1, &link));
  if (link.rank > 0) {
    for (;;) pause();
  }
  for (int i = 0; i < MANY; i++) CHECK_OK(link.table->send(link.state, 1, "a", 1, 0));
  for (int i = 0; i < 16; i++)
    CHECK_OK(link.table->send(link.state, 1, "result", 6, 10000)); /* there is room for these */
  CHECK_OK(link.table->receive(link.state, 0, &from, &is_gone, &text));
  CHECK_EQ(-1, from, "it is there");
  link.table->close(link.state, true, 1);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_of_all_sizes_keep_their_order),
      cmocka_unit_test(a_member_that_ends_is_told_once_after_what_it_said),
      cmocka_unit_test(a_member_that_hangs_is_dropped),
      cmocka_unit_test(what_a_member_said_before_its_end_comes_after_a_message_to_it),
      cmocka_unit_test(a_message_that_may_be_dropped_costs_no_member),
      cmocka_unit_test(a_member_that_reads_nothing_costs_the_time_of_one_send),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
