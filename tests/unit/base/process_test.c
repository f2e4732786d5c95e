/* process_test.c: starting other programs, replacing files, counting cores. */
#include "base/system/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/files/replace.h"
#include "base/system/clock.h"
#include "base/system/cores.h"
#include "base/system/transfer.h"
#include "tests/unit/unit.h"

static int open_descriptors(void) {
  int count = 0;
  for (int fd = 0; fd < 64; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

/* No descriptor from 10 on is free, so a pipe can be made but not passed on. */
TEST(a_failed_start_leaves_no_descriptor) {
  static const char *const arguments[] = {"/bin/true", NULL};
  const struct text nothing = {0};
  struct process_guard guard = {.lifeline = -1};
  struct process_result result;
  struct text output = {0};
  struct rlimit before, few;
  CHECK_EQ(0, getrlimit(RLIMIT_NOFILE, &before), "limit");
  few = before;
  few.rlim_cur = 10;
  const int open_before = open_descriptors();
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &few), "fewer descriptors");
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(HALOTUNE_IO, process_guard_start("true", "", &guard), "guard %d", i);
    CHECK_EQ(HALOTUNE_IO, process_run(arguments, NULL, &nothing, -1, 1000, NULL, &output, &result), "program %d", i);
  }
  CHECK_EQ(0, setrlimit(RLIMIT_NOFILE, &before), "as before");
  CHECK_EQ(open_before, open_descriptors(), "descriptors");
  text_free(&output);
}

/* A Ctrl-C that comes before the program has left the terminal's process group stays pending. */
TEST(ctrl_c_does_not_end_a_program) {
  static const char *const arguments[] = {"/bin/sh", "-c", "kill -INT $$; echo alive", NULL};
  const struct text nothing = {0};
  struct process_result result;
  struct text output = {0};
  CHECK_OK(process_run(arguments, NULL, &nothing, -1, 60000, NULL, &output, &result));
  CHECK_TEXT("alive\n", text_string(&output), "output");
  text_free(&output);
}

TEST(a_program_gets_our_environment_and_a_variable_in_place_of_ours) {
  static const char *const arguments[] = {"/bin/sh", "-c", "echo $TMPDIR $OTHER; env | grep -c ^TMPDIR=", NULL};
  const struct text nothing = {0};
  struct process_result result;
  struct text output = {0};
  setenv("TMPDIR", "/ours", 1);
  setenv("OTHER", "other", 1);
  CHECK_OK(process_run(arguments, "TMPDIR=/theirs", &nothing, -1, 60000, NULL, &output, &result));
  CHECK_OK(process_run(arguments, NULL, &nothing, -1, 60000, NULL, &output, &result));
  CHECK_TEXT("/theirs other\n1\n/ours other\n1\n", text_string(&output), "output");
  unsetenv("TMPDIR");
  text_free(&output);
}

/* Each program is silent in its own way: its output stays open, or it closes the output and goes on running. */
TEST(a_silent_program_is_ended) {
  static const char *const scripts[] = {"sleep 100000", "exec >&- 2>&-; sleep 100000", "exec sleep 100000 >&- 2>&-"};
  const struct text nothing = {0};
  for (size_t i = 0; i < COUNT(scripts); i++) {
    const char *const arguments[] = {"/bin/sh", "-c", scripts[i], NULL};
    struct process_result result;
    struct text output = {0};
    CHECK_OK(process_run(arguments, NULL, &nothing, -1, 50, NULL, &output, &result));
    CHECK(result.timed_out, "row %zu", i);
    CHECK(WIFSIGNALED(result.wait_status), "row %zu", i);
    text_free(&output);
  }
}

static bool is_over(const void *context) {
  const char *path = context;
  return access(path, F_OK) == 0;
}

/* The ending comes once the program has made a file: it runs, and has much time. */
TEST(a_program_is_ended_by_who_waits_for_it) {
  enum { LIMIT_MS = 300000 };
  static const char *const scripts[] = {"touch $0; sleep 100000", "exec >&- 2>&-; touch $0; sleep 100000",
                                        "touch $0; yes"};
  const struct text nothing = {0};
  for (size_t i = 0; i < COUNT(scripts); i++) {
    char folder[] = "/tmp/halotune-process-XXXXXX", path[64];
    CHECK(mkdtemp(folder), "row %zu", i);
    snprintf(path, sizeof path, "%s/runs", folder);
    const char *const arguments[] = {"/bin/sh", "-c", scripts[i], path, NULL};
    const struct ending ending = {.is_over = is_over, .context = path};
    struct process_result result;
    struct text output = {0};
    CHECK_OK(process_run(arguments, NULL, &nothing, -1, LIMIT_MS, &ending, &output, &result));
    CHECK(result.was_ended && !result.timed_out, "row %zu", i);
    CHECK(WIFSIGNALED(result.wait_status), "row %zu", i);
    text_free(&output);
    CHECK_EQ(0, unlink(path) + rmdir(folder), "row %zu: it had begun", i);
  }
}

/* Fork a child that leads no process group, and ends with this signal or exit code. */
static pid_t forked(int signal_number, int code) {
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, SIG_DFL);
    if (signal_number) raise(signal_number);
    if (code >= 0) _exit(code);
    for (;;) pause();
  }
  return pid;
}

TEST(the_end_of_a_process_is_told) {
  char text[128];
  process_tell_end(process_wait_until(forked(0, 0), INFINITY, NULL), text, sizeof text);
  CHECK_TEXT("ended by itself", text, "code 0");
  process_tell_end(process_wait_until(forked(0, 7), INFINITY, NULL), text, sizeof text);
  CHECK_TEXT("ended with exit code 7", text, "code 7");
  process_tell_end(process_wait_until(forked(SIGTERM, 0), INFINITY, NULL), text, sizeof text);
  CHECK_TEXT("was killed by signal 15 (Terminated)", text, "a signal");
  process_tell_end(process_kill(forked(0, -1)), text, sizeof text);
  CHECK_TEXT("was killed by signal 9 (Killed)", text, "a child without a group of its own");
}

TEST(a_script_that_does_not_end_is_ended) {
  struct process_guard guard;
  int how = 0;
  CHECK_OK(process_guard_start("sleep 100000", "", &guard));
  process_guard_end(&guard, 50);
  CHECK(process_has_ended(guard.pid, &how) && how == 255 << 8, "it was waited for: %d", how);
}

/* The parent of a traced child sees the child's end only after the tracer has seen it or has ended. So the child looks
 * like a process that the system does not let end. */
TEST(a_killed_process_that_does_not_end_is_left_behind) {
  int ends[2], how = 0;
  char word = 0;
  CHECK_EQ(0, pipe(ends), "pipe");
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    if (write(ends[1], "c", 1) == 1) {
      for (;;) pause();
    }
    _exit(1);
  }
  CHECK_EQ(1, read(ends[0], &word, 1), "child");
  const pid_t tracer = fork();
  if (tracer == 0) {
    word = ptrace(PTRACE_SEIZE, child, NULL, NULL) == 0 ? 'y' : 'n';
    if (write(ends[1], &word, 1) == 1) {
      for (;;) pause();
    }
    _exit(1);
  }
  CHECK_EQ(1, read(ends[0], &word, 1), "tracer");
  close(ends[0]);
  close(ends[1]);
  if (word == 'y') CHECK_EQ(PROCESS_NOT_ENDED, process_kill_within(child, 50), "it does not end");
  if (word == 'y') CHECK(!process_has_ended(child, &how), "it is left behind");
  CHECK_EQ(SIGKILL, process_kill(tracer), "tracer");
  process_wait_until(child, word == 'y' ? INFINITY : clock_ms(), NULL);
  if (word != 'y') skip(); /* no process may trace another one here */
}

TEST(transfers_end_at_their_deadline) {
  int ends[2];
  char bytes[4] = "";
  static char much[1 << 22];
  CHECK_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "sockets");
  CHECK_EQ(TRANSFER_LATE, read_until(ends[0], bytes, sizeof bytes, clock_ms()), "nothing is there");
  CHECK_EQ(TRANSFER_DONE, socket_write_until(ends[1], "abcdef", 6, clock_ms() + 60000), "six bytes go");
  CHECK_EQ(TRANSFER_DONE, read_until(ends[0], bytes, 4, clock_ms()), "four of them come");
  CHECK(memcmp(bytes, "abcd", 4) == 0, "%.4s", bytes);
  CHECK_EQ(TRANSFER_LATE, read_until(ends[0], bytes, 4, clock_ms()), "two are too few");
  CHECK_EQ(TRANSFER_LATE, socket_write_until(ends[1], much, sizeof much, clock_ms()), "nobody reads so much");
  close(ends[0]);
  CHECK_EQ(TRANSFER_BROKEN, socket_write_until(ends[1], "x", 1, clock_ms() + 60000), "nobody is there");
  CHECK_EQ(TRANSFER_BROKEN, read_until(ends[1], bytes, 1, clock_ms() + 60000), "nobody writes");
  close(ends[1]);
}

static void stop_this_process(int number) {
  (void)number;
  raise(SIGSTOP);
}

/* Ctrl-Z stops the program and its workers: a worker that could not answer meanwhile does not hang. */
TEST(a_stop_uses_up_a_part_of_a_wait_only) {
  enum { LIMIT_MS = 600, STOP_MS = 1000 };
  int silent[2], ends[2], how;
  double waited_ms = 0;
  CHECK(pipe(silent) == 0 && pipe(ends) == 0, "pipes");
  const pid_t child = fork();
  if (child == 0) {
    const struct itimerval soon = {.it_value.tv_usec = 10000};
    const double start_ms = clock_ms();
    signal(SIGALRM, stop_this_process);
    setitimer(ITIMER_REAL, &soon, NULL);
    const bool is_ready = ready_until(silent[0], POLLIN, clock_ms() + LIMIT_MS);
    waited_ms = clock_ms() - start_ms;
    _exit(!is_ready && write_all(ends[1], (const char *)&waited_ms, sizeof waited_ms) ? 0 : 1);
  }
  CHECK_EQ(child, waitpid(child, &how, WUNTRACED), "the child");
  CHECK(WIFSTOPPED(how), "it stops itself: %d", how);
  const double stop_ms = clock_ms();
  usleep(STOP_MS * 1000);
  const double stopped_ms = clock_ms() - stop_ms;
  kill(child, SIGCONT);
  close(ends[1]);
  CHECK(read_all(ends[0], (char *)&waited_ms, sizeof waited_ms), "how long it waited");
  CHECK_EQ(0, process_wait_until(child, INFINITY, NULL), "its end");
  CHECK(waited_ms >= stopped_ms + LIMIT_MS * 10 / 12., "it waited %g ms, and was stopped for %g ms", waited_ms,
        stopped_ms);
  close(ends[0]);
  close(silent[0]);
  close(silent[1]);
}

/* The steps of replacing a file, in order: f: the file is synced, r: it is renamed, d: its folder is synced. */
static char steps[16];

static void note_step(char step) {
  const size_t length = strlen(steps);
  if (length + 1 < sizeof steps) steps[length] = step;
}

int fsync(int fd) {
  struct stat facts;
  if (fstat(fd, &facts) == 0) note_step(S_ISDIR(facts.st_mode) ? 'd' : 'f');
  return 0;
}

int renameat(int oldfd, const char *old, int newfd, const char *new) {
  note_step('r');
  return renameat2(oldfd, old, newfd, new, 0);
}

static halotune_status write_old(void *context, int fd) {
  (void)context;
  return write_all(fd, "old", 3) ? HALOTUNE_OK : HALOTUNE_IO;
}

TEST(a_file_is_on_the_disk_before_it_replaces_another) {
  char folder[] = "/tmp/halotune-replace-XXXXXX", path[64], *bytes;
  size_t length;
  CHECK(mkdtemp(folder), "%s", folder);
  snprintf(path, sizeof path, "%s/file", folder);
  memset(steps, 0, sizeof steps);
  CHECK_OK(file_replace_at(AT_FDCWD, path, path, false, write_old, NULL));
  CHECK_TEXT("frd", steps, "file, name, folder");
  memset(steps, 0, sizeof steps);
  CHECK_OK(file_replace_cached(path, "new", 3));
  CHECK_TEXT("r", steps, "a cache does not wait");
  CHECK_OK(file_read(path, 100, &bytes, &length));
  CHECK_TEXT("new", bytes, "content");
  free(bytes);
  unlink(path);
  rmdir(folder);
}

/* Simulates a kernel with 3000 CPUs, of which every third may be used. It refuses smaller sets. */
static int ask_large(pid_t pid, size_t bytes, cpu_set_t *cores) {
  (void)pid;
  if (bytes < CPU_ALLOC_SIZE(3000)) {
    errno = EINVAL;
    return -1;
  }
  CPU_ZERO_S(bytes, cores);
  for (int i = 0; i < 3000; i += 3) CPU_SET_S((size_t)i, bytes, cores);
  return 0;
}

/* The same machine. This process may use only its last CPU. */
static int ask_last(pid_t pid, size_t bytes, cpu_set_t *cores) {
  if (ask_large(pid, bytes, cores) != 0) return -1;
  CPU_ZERO_S(bytes, cores);
  CPU_SET_S(2999, bytes, cores);
  return 0;
}

static int ask_nothing(pid_t pid, size_t bytes, cpu_set_t *cores) {
  (void)pid, (void)bytes, (void)cores;
  errno = ENOSYS;
  return -1;
}

TEST(cores_are_counted_on_machines_of_any_size) {
  CHECK_EQ(1000, cores_usable_by(ask_large), "more than a cpu_set_t has room for");
  CHECK_EQ(sysconf(_SC_NPROCESSORS_ONLN), cores_usable_by(ask_nothing), "a kernel that does not tell");
  CHECK(cores_usable() >= 1, "this machine");
}

TEST(sets_of_cores_differ_on_machines_of_any_size) {
  struct hash large = {0}, again = {0}, last = {0}, here = {0}, now = {0};
  CHECK(cores_hash_by(ask_large, &large) && cores_hash_by(ask_large, &again), "more than a cpu_set_t has room for");
  CHECK(cores_hash_by(ask_last, &last), "only the last one");
  CHECK_EQ(0, hash_compare(large, again), "the same set");
  CHECK(hash_compare(large, last) != 0, "another set");
  CHECK(!cores_hash_by(ask_nothing, &last), "a kernel that does not tell");
  CHECK(cores_hash(&here) && cores_hash(&now) && hash_compare(here, now) == 0, "this machine");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_failed_start_leaves_no_descriptor),
      cmocka_unit_test(ctrl_c_does_not_end_a_program),
      cmocka_unit_test(a_program_gets_our_environment_and_a_variable_in_place_of_ours),
      cmocka_unit_test(a_silent_program_is_ended),
      cmocka_unit_test(a_program_is_ended_by_who_waits_for_it),
      cmocka_unit_test(the_end_of_a_process_is_told),
      cmocka_unit_test(a_script_that_does_not_end_is_ended),
      cmocka_unit_test(a_killed_process_that_does_not_end_is_left_behind),
      cmocka_unit_test(transfers_end_at_their_deadline),
      cmocka_unit_test(a_stop_uses_up_a_part_of_a_wait_only),
      cmocka_unit_test(a_file_is_on_the_disk_before_it_replaces_another),
      cmocka_unit_test(cores_are_counted_on_machines_of_any_size),
      cmocka_unit_test(sets_of_cores_differ_on_machines_of_any_size),
  };
  return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
