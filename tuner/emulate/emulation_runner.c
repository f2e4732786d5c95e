/* emulation_runner.c: starts and stops a runner, sends it requests, and explains its death. */
#include "tuner/emulate/emulation_runner.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"

const struct emulation_runner emulation_runner_none = {.socket = -1, .log = -1};

int emulation_runner_grace_ms = 10000;

halotune_status emulation_runner_start(const char *program, const char *object, int folder,
                                       struct emulation_runner *out) {
  const char *const arguments[] = {program, object, NULL};
  struct emulation_runner runner = emulation_runner_none;
  int pair[2] = {-1, -1};
  halotune_status status;
  runner.log = process_high_descriptor(memfd_create("runner log", MFD_CLOEXEC));
  if (runner.log < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    status = fail(HALOTUNE_IO, "no socket or file for a runner: %s", strerror(errno));
    goto failed;
  }
  pair[1] = process_high_descriptor(pair[1]);
  const struct process_descriptor descriptors[] = {{runner.log, 2}, {pair[1], EMULATION_SOCKET}, {folder, folder}};
  if ((status = process_start(arguments, descriptors, folder >= 0 ? 3 : 2, &runner.pid)) != HALOTUNE_OK) goto failed;
  close(pair[1]);
  runner.socket = pair[0];
  *out = runner;
  return HALOTUNE_OK;
failed:
  if (pair[0] >= 0) close(pair[0]);
  if (pair[1] >= 0) close(pair[1]);
  if (runner.log >= 0) close(runner.log);
  return status;
}

static bool send_request(const struct emulation_runner *runner, const struct emulation_request *request,
                         const int *descriptors) {
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(EMULATION_MAX_BUFFERS * sizeof(int))];
  } extra = {0};
  struct emulation_request copy = *request; /* sendmsg needs a pointer that is not const */
  struct iovec bytes = {.iov_base = &copy, .iov_len = sizeof copy};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  size_t length = request->buffer_count * sizeof *descriptors;
  if (length > 0) {
    message.msg_control = &extra;
    message.msg_controllen = CMSG_SPACE(length);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(length);
    memcpy(CMSG_DATA(header), descriptors, length);
  }
  return sendmsg(runner->socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy;
}

/* Receive an answer. Returns false when the runner ends or the time is over. */
static bool receive_answer(const struct emulation_runner *runner, double timeout_ms, void *out, size_t bytes,
                           bool *timed_out) {
  double deadline_ms = clock_ms() + timeout_ms;
  while (true) {
    double left_ms = deadline_ms - clock_ms();
    struct pollfd wait = {.fd = runner->socket, .events = POLLIN};
    if ((*timed_out = left_ms <= 0)) return false;
    int ready = poll(&wait, 1, left_ms < 1e6 ? (int)left_ms + 1 : 1000000);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0) return recv(runner->socket, out, bytes, 0) == (ssize_t)bytes;
  }
}

/* Copy ASan's report, without the lines before its first message. */
static void read_report(const struct emulation_runner *runner, struct emulation_outcome *out) {
  char log[8192];
  ssize_t length = pread(runner->log, log, sizeof log - 1, 0);
  log[length > 0 ? length : 0] = '\0';
  const char *text = strstr(log, "ERROR: ");
  snprintf(out->text, sizeof out->text, "%.*s", EMULATION_OUTCOME_TEXT_BYTES - 1,
           text ? text + strlen("ERROR: ") : log);
}

/* Explain the end of a runner that reported nothing. */
static void explain_death(int wait_status, struct emulation_outcome *out) {
  out->kind = EMULATION_CRASHED;
  if (WIFSIGNALED(wait_status)) {
    out->signal = WTERMSIG(wait_status);
    snprintf(out->text, sizeof out->text, "the runner was ended: %s", strsignal(out->signal));
  } else {
    snprintf(out->text, sizeof out->text, "the runner ended with status %d", WEXITSTATUS(wait_status));
  }
}

halotune_status emulation_runner_ask(struct emulation_runner *runner, const struct emulation_request *request,
                                     const int *descriptors, struct emulation_outcome *out,
                                     struct emulation_counts *counts) {
  double timeout_ms = 10.0 * (double)request->timeout_ms + emulation_runner_grace_ms;
  bool timed_out;
  *out = (struct emulation_outcome){0};
  if (!send_request(runner, request, descriptors) && errno != EPIPE) {
    halotune_status status = fail(HALOTUNE_IO, "a runner cannot be reached: %s", strerror(errno));
    emulation_runner_stop(runner);
    return status;
  }
  /* The runner watches its processor time itself. The wall-clock limit is for a runner that was stopped or waits for
   * memory. */
  bool answered = receive_answer(runner, timeout_ms, out, sizeof *out, &timed_out);
  if (answered && out->kind == EMULATION_OK && counts)
    answered = receive_answer(runner, timeout_ms, counts, sizeof *counts, &timed_out);
  if (answered && out->kind == EMULATION_OK) return HALOTUNE_OK;
  if (answered) {
    if (out->text[0] == '\0') read_report(runner, out);
  } else if (timed_out) {
    out->kind = EMULATION_HUNG;
    snprintf(out->text, sizeof out->text, "the runner does not answer");
  } else {
    /* one that has only closed its socket is killed */
    explain_death(process_wait_until(runner->pid, clock_ms() + emulation_runner_grace_ms, NULL), out);
    runner->pid = 0;
  }
  emulation_runner_stop(runner);
  return HALOTUNE_OK;
}

void emulation_runner_stop(struct emulation_runner *runner) {
  if (runner->pid > 0) process_kill(runner->pid);
  if (runner->socket >= 0) close(runner->socket);
  if (runner->log >= 0) close(runner->log);
  *runner = emulation_runner_none;
}
