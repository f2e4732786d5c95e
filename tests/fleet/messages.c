/* messages.c: the transport "mpi" between real ranks, for tests/fleet/mpi.sh, which starts it with mpirun.
 *
 *   messages echo    messages of all sizes in both directions at a time, each of which arrives whole and in order
 *   messages die     the last rank kills itself; rank 0 works on until it is told, or until the launcher ends the job
 *   messages idle    ranks that wait for two seconds, and the share of a core that this takes
 *   messages fail    rank 0 ends with a failure while the others wait
 *   messages gather  the records of all ranks, of which one is late
 *   messages teams   even and odd ranks form teams, which end one after the other
 *   messages lost    teams of two ranks, of which the last one hangs; its leader drops it, and ends with exit code 7
 *   messages orphan  rank 0 hangs until rank 1 ends with exit code 5
 *   messages absent  the last rank stops before teams are formed
 *   messages asleep  teams of two ranks; the leader of the second one stops, and rank 0 ends with exit code 7
 *   messages end     nothing; a plug-in of the test waits for ever somewhere */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "tuner/fleet/link_mpi.h"

enum { LIMIT_MS = 60000, IDLE_MS = 2000 };

static struct fleet_link link_;
static struct link_mpi *job;

__attribute__((noreturn)) static void give_up(const char *what) {
  fprintf(stderr, "rank %d: %s: %s\n", link_.rank, what, fail_text());
  fflush(NULL);
  _exit(1);
}

static void must(halotune_status status, const char *what) {
  if (status != HALOTUNE_OK) give_up(what);
}

/* Sizes around the limits at which MPI changes how it sends, and the largest. */
static const size_t sizes[] = {1, 7, 64, 1000, 4000, 4096, 5000, 9000, 70000, 1, 1 << 20, 3, FLEET_MESSAGE_MOST, 2};
enum { SIZE_COUNT = sizeof sizes / sizeof *sizes };

/* The bytes of message `number` from one rank to another. */
static void fill(char *bytes, size_t count, int from, int to, int number) {
  uint32_t x = (uint32_t)(from * 7919 + to * 104729 + number * 31 + 1);
  for (size_t i = 0; i < count; i++) {
    x = x * 1664525 + 1013904223;
    bytes[i] = (char)(x >> 24);
  }
}

static void send_all(int to, char *bytes) {
  for (int i = 0; i < SIZE_COUNT; i++) {
    fill(bytes, sizes[i], link_.rank, to, i);
    must(link_.table->send(link_.state, to, bytes, sizes[i], LIMIT_MS), "send");
  }
}

static void echo(void) {
  char *bytes = malloc(FLEET_MESSAGE_MOST);
  int *next = calloc((size_t)link_.size, sizeof *next), left = SIZE_COUNT * (link_.rank == 0 ? link_.size - 1 : 1);
  struct text text = {0};
  if (!bytes || !next) give_up("memory");
  for (int to = link_.rank == 0 ? 1 : 0; to < (link_.rank == 0 ? link_.size : 1); to++) send_all(to, bytes);
  for (; left > 0; left--) {
    int from;
    bool is_gone;
    must(link_.table->receive(link_.state, LIMIT_MS, &from, &is_gone, &text), "receive");
    if (from < 0 || is_gone) give_up("nothing came");
    const size_t count = sizes[next[from]];
    fill(bytes, count, from, link_.rank, next[from]++);
    if (text.length != count || memcmp(text.bytes, bytes, count) != 0) give_up("another message came");
  }
  if (link_.table->send(link_.state, link_.rank == 0, bytes, 0, 1) != HALOTUNE_ARGUMENT) give_up("an empty message");
  if (link_.table->send(link_.state, link_.rank == 0, bytes, FLEET_MESSAGE_MOST + 1, 1) != HALOTUNE_ARGUMENT)
    give_up("a message that is too long");
  if (link_.table->send(link_.state, link_.size, bytes, 1, 1) != HALOTUNE_ARGUMENT) give_up("a rank that is not there");
  text_free(&text);
  free(next);
  free(bytes);
}

static double processor_ms(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec * 1e3 + (double)used.tv_nsec * 1e-6;
}

static void idle(void) {
  struct text text = {0};
  int from;
  bool is_gone;
  const double start_ms = processor_ms();
  must(link_.table->receive(link_.state, IDLE_MS, &from, &is_gone, &text), "receive");
  const struct fleet_mpi_world *world = link_mpi_world(job);
  printf("rank %d of %d on %s (%d of %d there), %.20s: %.1f %% of a core while idle\n", link_.rank, link_.size,
         world->host, world->local_rank, world->local_size, world->library,
         (processor_ms() - start_ms) / IDLE_MS * 100);
  text_free(&text);
}

static void die(void) {
  struct text text = {0};
  int from = -1;
  bool is_gone = false;
  if (link_.rank == link_.size - 1) {
    must(link_.table->send(link_.state, 0, "last words", 10, LIMIT_MS), "send");
    usleep(300000);
    raise(SIGKILL);
  }
  while (!is_gone) must(link_.table->receive(link_.state, 2 * LIMIT_MS, &from, &is_gone, &text), "receive");
  printf("rank %d was told that rank %d is gone\n", link_.rank, from);
  text_free(&text);
}

static void wait_for_end(void) {
  struct text text = {0};
  int from;
  bool is_gone;
  if (link_.rank > 0) must(link_.table->receive(link_.state, LIMIT_MS, &from, &is_gone, &text), "receive");
  text_free(&text);
}

enum { RECORD_BYTES = 3000 };

static void gather(void) {
  char own[RECORD_BYTES], want[RECORD_BYTES], *all = malloc((size_t)link_.size * RECORD_BYTES);
  if (!all) give_up("memory");
  if (link_.rank == 1) usleep(300000);
  fill(own, RECORD_BYTES, link_.rank, 0, 1);
  must(link_mpi_gather(job, own, RECORD_BYTES, all), "gather");
  for (int i = 0; i < link_.size; i++) {
    fill(want, RECORD_BYTES, i, 0, 1);
    if (memcmp(all + (size_t)i * RECORD_BYTES, want, RECORD_BYTES) != 0) give_up("another record");
  }
  free(all);
}

static void teams(void) {
  const struct fleet_mpi_world *world = link_mpi_world(job);
  if (link_.rank != world->rank / 2 || link_.size != (world->size + 1 - world->rank % 2) / 2) give_up("another team");
  if (world->rank % 2) usleep(500000);
  if (link_.size > 1) echo();
}

/* The rank that hangs ends at last, so that a job without an end fails. */
static void lost(void) {
  const struct fleet_mpi_world *world = link_mpi_world(job);
  if (world->rank == world->size - 1) {
    sleep(LIMIT_MS / 1000);
    give_up("the job has not ended");
  }
  if (link_.rank == 0 && world->rank % 2) link_.table->drop(link_.state, 1);
}

/* The member behaves as if it had heard nothing of rank 0 for too long. */
static void orphan(void) {
  if (link_.rank == 0) {
    sleep(LIMIT_MS / 1000);
    give_up("the job has not ended");
  }
  link_.table->drop(link_.state, 0);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } modes[] = {{"echo", echo},     {"die", die},     {"idle", idle}, {"fail", wait_for_end},
               {"gather", gather}, {"teams", teams}, {"lost", lost}, {"orphan", orphan}};
  struct launcher launcher;
  const char *mode = argc == 2 ? argv[1] : "";
  const bool is_asleep = strcmp(mode, "asleep") == 0, is_lost = strcmp(mode, "lost") == 0;
  const bool has_teams = strcmp(mode, "teams") == 0 || is_lost || is_asleep;
  const halotune_status found = launcher_find(&launcher);
  halotune_status status = found;
  if (status == HALOTUNE_OK && !launcher.name) return fprintf(stderr, "no launcher\n"), 2;
  if (status == HALOTUNE_OK) status = link_mpi_open(&launcher, &job);
  if (status == HALOTUNE_OK && strcmp(mode, "absent") == 0 && launcher.rank == launcher.size - 1) raise(SIGSTOP);
  if (status == HALOTUNE_OK) status = link_mpi_team(job, has_teams ? launcher.rank % 2 : 0, &link_);
  if (status != HALOTUNE_OK) {
    if (launcher_speaks(&launcher, found)) fprintf(stderr, "halotune: %s\n", fail_text());
    fflush(NULL);
    _exit(1);
  }
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(mode, modes[i].name) == 0) modes[i].run();
  }
  if (is_asleep && launcher.rank == 1) raise(SIGSTOP);
  const bool has_failed = strcmp(mode, "fail") == 0 && launcher.rank == 0;
  const bool is_seven = is_lost ? launcher.rank == 1 : is_asleep && launcher.rank == 0;
  const int code = is_seven ? 7 : strcmp(mode, "orphan") == 0 ? 5 : has_failed;
  link_.table->close(link_.state, has_failed, code);
  return 0;
}
