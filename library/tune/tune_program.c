/* tune_program.c: the process that tunes, and its output. */
#include "library/tune/tune_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/data_folders.h"
#include "base/files/path.h"
#include "base/system/clock.h"
#include "base/system/process.h"

enum { MOST_ARGUMENTS = 40, LINE_BYTES = 512 };

/* The time that a run may take beyond its budget: for compiles that have begun, the final rounds, and the database. */
static const double grace_ms = 120e3;

/* The last line that the program wrote. */
struct last_line {
  char text[LINE_BYTES], partial[LINE_BYTES];
  size_t length;
};

static void take_bytes(struct last_line *line, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const bool is_end = bytes[i] == '\n' || bytes[i] == '\r';
    if (!is_end && line->length + 1 < sizeof line->partial) line->partial[line->length++] = bytes[i];
    if (!is_end || line->length == 0) continue;
    line->partial[line->length] = '\0';
    memcpy(line->text, line->partial, line->length + 1);
    line->length = 0;
  }
}

/* Read what the program has written, and wait for it at most so long. Returns false if nothing more will come. */
static bool read_some(int descriptor, int wait_ms, struct last_line *line) {
  struct pollfd ready = {.fd = descriptor, .events = POLLIN};
  char bytes[LINE_BYTES];
  if (poll(&ready, 1, wait_ms) <= 0) return true;
  const ssize_t count = read(descriptor, bytes, sizeof bytes);
  if (count > 0) take_bytes(line, bytes, (size_t)count);
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Read what the program writes until it ends. A program can close its output and stay, or end while one that it has
 * started keeps the output open.
 *   end  receives the wait status
 * Returns HALOTUNE_OK; or why the program has to be ended. */
static halotune_status follow_program(const struct tune_program *program, pid_t pid, int descriptor,
                                      struct last_line *line, int *end) {
  const double ms_per_s = 1e3, until_ms = clock_ms() + program->budget_s * ms_per_s + grace_ms;
  bool is_open = true;
  for (int wait_ms = 1;;) {
    if (is_open) is_open = read_some(descriptor, TUNE_TICK_MS, line);
    else poll(NULL, 0, wait_ms);
    if (process_has_ended(pid, end)) break;
    if (!is_open && wait_ms < TUNE_TICK_MS) wait_ms *= 2; /* most programs end at once then */
    if (tune_listener_cancels(program->listener, line->text))
      return fail(HALOTUNE_CANCELLED, "halotune_tune: cancelled by the callback");
    if (clock_ms() > until_ms)
      return fail(HALOTUNE_IO, "'%s tune' did not end within two minutes after its budget", program->program);
  }
  enum { MOST_LEFT = 256 }; /* a pipe holds no more pieces of LINE_BYTES */
  for (int i = 0; i < MOST_LEFT && is_open; i++) {
    struct pollfd ready = {.fd = descriptor, .events = POLLIN};
    is_open = poll(&ready, 1, 0) > 0 && read_some(descriptor, 0, line);
  }
  return HALOTUNE_OK;
}

/* What an exit code of the program means: those of tuner/cli/options/command.h, which never change. */
static halotune_status status_of_exit(int wait_status) {
  static const halotune_status statuses[] = {HALOTUNE_OK,        HALOTUNE_IO,    HALOTUNE_ARGUMENT, HALOTUNE_NO_GPU,
                                             HALOTUNE_NOT_FOUND, HALOTUNE_PARSE, HALOTUNE_DB};
  const int code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1;
  return code < (int)(sizeof statuses / sizeof *statuses) ? statuses[code] : HALOTUNE_IO;
}

/*   input, output  descriptors of 10 or higher; input -1: /dev/null */
static halotune_status start_program(const struct tune_program *program, int input, int output,
                                     struct process_guard *guard, pid_t *pid) {
  char *path = path_of_program(program->program);
  const char *arguments[MOST_ARGUMENTS] = {path, "tune"};
  const struct process_descriptor descriptors[] = {{output, 1}, {output, 2}, {input, 0}};
  for (int i = 0; program->arguments[i] && i + 3 < MOST_ARGUMENTS; i++) arguments[i + 2] = program->arguments[i];
  /* The working directory belongs to a solver, and may hold files of others: its templates would be executed. */
  halotune_status status = path ? process_start_guarded(arguments, DATA_FOUND_VARIABLE "=installed", descriptors,
                                                        input >= 0 ? 3 : 2, guard, pid)
                                : HALOTUNE_NOT_FOUND;
  free(path);
  if (status != HALOTUNE_NOT_FOUND) return status;
  return fail(status, "the program '%s' was not found: install Halotune so that it is on PATH, or set HALOTUNE_PROGRAM",
              program->program);
}

halotune_status tune_program_run(const struct tune_program *program) {
  struct last_line line = {.length = 0};
  struct process_guard guard = {.lifeline = -1};
  int ends[2] = {-1, -1}, input = -1, end = 0;
  pid_t pid = 0;
  char how[128];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(HALOTUNE_IO, "cannot create a pipe: %s", strerror(errno));
  ends[1] = process_high_descriptor(ends[1]);
  if (ends[1] >= 0 && program->input) input = process_input(program->input, strlen(program->input));
  const bool is_ready = ends[1] >= 0 && (input >= 0 || !program->input);
  halotune_status status = is_ready ? start_program(program, input, ends[1], &guard, &pid)
                                    : fail(HALOTUNE_IO, "'%s tune': %s", program->program, strerror(errno));
  if (input >= 0) close(input);
  if (ends[1] >= 0) close(ends[1]);
  if (status == HALOTUNE_OK) {
    status = follow_program(program, pid, ends[0], &line, &end);
    process_group_end(&guard);
    if (status != HALOTUNE_OK) process_kill(pid);
    process_tell_end(end, how, sizeof how);
    if (status == HALOTUNE_OK && (status = status_of_exit(end)) != HALOTUNE_OK)
      status = fail(status, "%s tune %s: %s", program->program, how, line.text);
  }
  close(ends[0]);
  return status;
}
