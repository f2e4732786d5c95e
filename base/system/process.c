/* process.c: starts programs with posix_spawn, which is safe in a program with threads, unlike fork. */
#include "base/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/transfer.h"

enum { FIRST_HIGH_DESCRIPTOR = 10 };

int process_high_descriptor(int descriptor) {
  if (descriptor < 0) return -1;
  int high = fcntl(descriptor, F_DUPFD_CLOEXEC, FIRST_HIGH_DESCRIPTOR), reason = errno;
  close(descriptor);
  errno = reason;
  return high;
}

int process_input(const char *bytes, size_t length) {
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (!write_all(fd, bytes, length) || lseek(fd, 0, SEEK_SET) != 0) {
    close(fd);
    return -1;
  }
  return process_high_descriptor(fd);
}

static bool is_listed(const struct process_descriptor *descriptors, int count, int theirs) {
  for (int i = 0; i < count; i++) {
    if (descriptors[i].theirs == theirs) return true;
  }
  return false;
}

static int add_actions(posix_spawn_file_actions_t *actions, const struct process_descriptor *descriptors, int count) {
  int error = 0;
  for (int theirs = 0; theirs <= 2 && error == 0; theirs++) {
    if (is_listed(descriptors, count, theirs)) continue;
    error = posix_spawn_file_actions_addopen(actions, theirs, "/dev/null", theirs == 0 ? O_RDONLY : O_WRONLY, 0);
  }
  for (int i = 0; i < count && error == 0; i++) {
    error = posix_spawn_file_actions_adddup2(actions, descriptors[i].ours, descriptors[i].theirs);
  }
  return error;
}

/* In the started program no signal is ignored, and none but SIGINT is blocked, whatever the mask of this thread. A
 * Ctrl-C that comes before the program has left the terminal's process group reaches it; blocked, it does no harm. */
static int set_attributes(posix_spawnattr_t *attributes, pid_t group) {
  sigset_t blocked, all;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigfillset(&all);
  int error =
      posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  if (error == 0) error = posix_spawnattr_setpgroup(attributes, group);
  if (error == 0) error = posix_spawnattr_setsigmask(attributes, &blocked);
  return error == 0 ? posix_spawnattr_setsigdefault(attributes, &all) : error;
}

/* The environment of this process with one variable set. Returns a list from malloc, or NULL when memory is out. Its
 * texts are not copies. */
static const char **environment_with(const char *variable) {
  const size_t name = strcspn(variable, "=") + 1;
  int count = 0, used = 0;
  while (environ[count]) count++;
  const char **list = calloc((size_t)count + 2, sizeof *list);
  if (!list) return NULL;
  list[used++] = variable;
  for (int i = 0; i < count; i++) {
    if (strncmp(environ[i], variable, name) != 0) list[used++] = environ[i];
  }
  return list;
}

/* Like process_start, in an existing process group, or in a new one if `group` is 0, and with a variable if it is not
 * NULL. */
static halotune_status start_in_group(const char *const *arguments, const char *variable,
                                      const struct process_descriptor *descriptors, int count, pid_t group,
                                      pid_t *pid) {
  const char **environment = variable ? environment_with(variable) : NULL;
  if (variable && !environment) return fail_memory();
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char *const *argv, **envp = environ;
  /* posix_spawn does not change the strings, although its type allows it */
  memcpy(&argv, &arguments, sizeof argv);
  if (environment) memcpy(&envp, &environment, sizeof envp);
  int error = posix_spawn_file_actions_init(&actions);
  if (error == 0) {
    if ((error = posix_spawnattr_init(&attributes)) == 0) {
      error = add_actions(&actions, descriptors, count);
      if (error == 0) error = set_attributes(&attributes, group);
      if (error == 0) error = posix_spawnp(pid, arguments[0], &actions, &attributes, argv, envp);
      posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
  }
  free(environment);
  if (error == 0) return HALOTUNE_OK;
  return fail(error == ENOENT ? HALOTUNE_NOT_FOUND : HALOTUNE_IO, "%s cannot be started: %s", arguments[0],
              strerror(error));
}

halotune_status process_start(const char *const *arguments, const struct process_descriptor *descriptors, int count,
                              pid_t *pid) {
  return start_in_group(arguments, NULL, descriptors, count, 0, pid);
}

/* The wait status of exit code 255, which is not a success. The system does not tell how a process ended if SIGCHLD is
 * ignored, or if somebody else has waited for it. */
enum { END_NOT_KNOWN = 255 << 8 };

/* Wait for the end of a process and read it. The system has no wait with a limit, so this one looks again and again.
 *   until_ms  on the clock; -INFINITY looks once
 * Returns false if the process has not ended by then. */
static bool end_await(pid_t pid, double until_ms, int *wait_status) {
  enum { LOOK_FIRST_US = 200, LOOK_LAST_US = 6400 };
  for (unsigned look_us = LOOK_FIRST_US;; look_us = look_us < LOOK_LAST_US ? 2 * look_us : LOOK_LAST_US) {
    const pid_t ended = waitpid(pid, wait_status, WNOHANG);
    if (ended > 0) return true;
    if (ended < 0 && errno != EINTR) {
      *wait_status = END_NOT_KNOWN;
      return true;
    }
    if (clock_ms() >= until_ms) return false;
    usleep(look_us);
  }
}

bool process_has_ended(pid_t pid, int *wait_status) { return end_await(pid, -INFINITY, wait_status); }

int process_wait_until(pid_t pid, double until_ms, bool *is_late) {
  int wait_status = 0;
  const bool has_ended = end_await(pid, until_ms, &wait_status);
  if (is_late) *is_late = !has_ended;
  return has_ended ? wait_status : process_kill(pid);
}

int process_kill_within(pid_t pid, int limit_ms) {
  int wait_status = PROCESS_NOT_ENDED;
  if (kill(-pid, SIGKILL) != 0) kill(pid, SIGKILL); /* a forked process need not lead a group */
  (void)end_await(pid, clock_ms() + limit_ms, &wait_status);
  return wait_status;
}

int process_kill(pid_t pid) { return process_kill_within(pid, PROCESS_KILLED_MS); }

void process_die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) raise(SIGKILL); /* it has ended before: end in the same way */
}

void process_tell_end(int wait_status, char *text, size_t bytes) {
  if (WIFSIGNALED(wait_status))
    snprintf(text, bytes, "was killed by signal %d (%s)", WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
  else if (wait_status == PROCESS_NOT_ENDED) snprintf(text, bytes, "was killed, but is not known to have ended");
  else if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0)
    snprintf(text, bytes, "ended with exit code %d", WEXITSTATUS(wait_status));
  else snprintf(text, bytes, "ended by itself");
}

halotune_status process_guard_start(const char *script, const char *argument, struct process_guard *out) {
  struct text text = {0};
  int ends[2] = {-1, -1};
  pid_t pid = 0;
  halotune_status status;
  if (pipe2(ends, O_CLOEXEC) != 0 || (ends[0] = process_high_descriptor(ends[0])) < 0) {
    status = fail(HALOTUNE_IO, "cannot create the pipe of a guard process: %s", strerror(errno));
    goto done;
  }
  /* nothing is ever written: the shell reads until the pipe is closed */
  text_printf(&text, "read -r line; %s", script);
  const char *const arguments[] = {"/bin/sh", "-c", text_string(&text), "sh", argument, NULL};
  const struct process_descriptor descriptor = {ends[0], 0};
  status = text_ok(&text) ? process_start(arguments, &descriptor, 1, &pid) : fail_memory();
  if (status != HALOTUNE_OK) goto done;
  *out = (struct process_guard){.pid = pid, .lifeline = ends[1]};
  ends[1] = -1;
done:
  text_free(&text);
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return status;
}

void process_guard_end(struct process_guard *guard, int limit_ms) {
  close(guard->lifeline);
  process_wait_until(guard->pid, clock_ms() + limit_ms, NULL);
}

/* Start a guard that kills its group, and a program in that group. Other arguments and errors are those of
 * start_in_group. */
static halotune_status start_guarded(const char *const *arguments, const char *variable,
                                     const struct process_descriptor *descriptors, int count,
                                     struct process_guard *guard, pid_t *pid) {
  halotune_status status = process_guard_start("kill -9 0", "", guard);
  if (status == HALOTUNE_OK) status = start_in_group(arguments, variable, descriptors, count, guard->pid, pid);
  if (status != HALOTUNE_OK) process_group_end(guard);
  return status;
}

halotune_status process_start_guarded(const char *const *arguments, const char *variable,
                                      const struct process_descriptor *descriptors, int count,
                                      struct process_guard *guard, pid_t *pid) {
  *guard = (struct process_guard){.lifeline = -1};
  return start_guarded(arguments, variable, descriptors, count, guard, pid);
}

void process_group_end(struct process_guard *guard) {
  if (guard->pid > 0) process_kill(guard->pid);
  if (guard->lifeline >= 0) close(guard->lifeline);
  *guard = (struct process_guard){.lifeline = -1};
}

/* How long a program may still run. A wait ends after ASK_MS, so that the ending is seen. */
enum { ASK_MS = 50, STOPPED_MS = 1000 };
struct patience {
  double left_ms, seen_ms; /* the time that was left at this time of clock_ms() */
  const struct ending *ending;
};

/* Whether a program may still run; if not, `out` receives why. A time in which this process was stopped counts as
 * STOPPED_MS at most. */
static bool may_run(struct patience *patience, struct process_result *out) {
  const double now_ms = clock_ms();
  patience->left_ms -= fmin(now_ms - patience->seen_ms, STOPPED_MS);
  patience->seen_ms = now_ms;
  out->was_ended = patience->ending && ending_has_come(patience->ending);
  out->timed_out = !out->was_ended && patience->left_ms <= 0;
  return !out->was_ended && !out->timed_out;
}

static double next_wait_ms(const struct patience *patience) { return fmin(ASK_MS, patience->left_ms); }

/* Read until the end of the output, as long as the program may run. */
static void output_read(int fd, struct patience *patience, struct text *output, struct process_result *out) {
  char chunk[4096];
  while (may_run(patience, out)) {
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    if (poll(&waiting, 1, (int)ceil(next_wait_ms(patience))) <= 0) continue;
    ssize_t got = read(fd, chunk, sizeof chunk);
    if (got == 0 || (got < 0 && errno != EINTR)) return;
    if (got > 0) text_add(output, chunk, (size_t)got);
  }
}

halotune_status process_run(const char *const *arguments, const char *variable, const struct text *input, int inherited,
                            int timeout_ms, const struct ending *ending, struct text *output,
                            struct process_result *out) {
  struct patience patience = {.left_ms = timeout_ms, .ending = ending};
  struct process_guard guard = {.lifeline = -1};
  int in = -1, ends[2] = {-1, -1};
  pid_t pid = 0;
  halotune_status status;
  *out = (struct process_result){0};
  if (pipe2(ends, O_CLOEXEC) != 0 || (ends[1] = process_high_descriptor(ends[1])) < 0 ||
      (in = process_input(text_string(input), input->length)) < 0) {
    status = fail(HALOTUNE_IO, "%s cannot be started: %s", arguments[0], strerror(errno));
    goto done;
  }
  const struct process_descriptor descriptors[] = {{in, 0}, {ends[1], 1}, {ends[1], 2}, {inherited, inherited}};
  const int count = inherited >= 0 ? 4 : 3;
  /* A compiler starts other programs. All are in the guard's group, which is killed as a whole. */
  if ((status = start_guarded(arguments, variable, descriptors, count, &guard, &pid)) != HALOTUNE_OK) goto done;
  close(ends[1]);
  ends[1] = -1;
  patience.seen_ms = clock_ms();
  output_read(ends[0], &patience, output, out);
  /* A program can close its output and go on running. */
  bool has_ended = false;
  while (!has_ended && may_run(&patience, out))
    has_ended = end_await(pid, clock_ms() + next_wait_ms(&patience), &out->wait_status);
  if (!has_ended) {
    kill(-guard.pid, SIGKILL);
    out->wait_status = process_kill(pid);
  }
done:
  process_group_end(&guard);
  if (in >= 0) close(in);
  if (ends[0] >= 0) close(ends[0]);
  if (ends[1] >= 0) close(ends[1]);
  return status;
}
