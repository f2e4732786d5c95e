/* spawner.c: the spawner's process, and the program's messages to it. Each order and each answer is one message of a
 * SOCK_SEQPACKET socket. */
#include "gpu/workers/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/files/pack.h"
#include "base/memory/array.h"
#include "base/system/clock.h"
#include "base/system/process.h"
#include "base/system/transfer.h"

enum { MAX_HELLO_BYTES = 65536 };

/* The program's order: stop the worker `pid`, or start a worker if it is 0. */
struct order {
  pid_t pid;
};

/* The spawner's answer: a started worker (0: none) with its socket, or how a worker ended. */
struct answer {
  pid_t pid;
  int reason; /* errno; or a wait status, or PROCESS_NOT_ENDED */
};

/* Ignore and block the signals of a terminal, and that of the limit of file sizes, at which a write fails. They are
 * blocked as well, because NVRTC's front end installs handlers that exit while it compiles. */
static void ignore_the_terminal(void) {
  static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGXFSZ};
  sigset_t blocked;
  sigemptyset(&blocked);
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL); /* remove the program's handlers */
  for (size_t i = 0; i < COUNT(ignored); i++) {
    signal(ignored[i], SIG_IGN);
    sigaddset(&blocked, ignored[i]);
  }
  sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Make a crash cheap: write no core file, and let the kernel kill this process first when memory runs out. */
static void be_expendable(void) {
  const struct rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t ignored = write(fd, "1000", 4); /* the system may refuse it, which does no harm */
  (void)ignored;
  close(fd);
}

/* The bytes of this process that are writable and private: word 5 of statm, counted from 0, in pages. 0: not known. */
static rlim_t private_bytes(void) {
  enum { WORD = 5 };
  char line[256] = "", *at = line;
  FILE *sizes = fopen("/proc/self/statm", "r");
  if (!sizes) return 0;
  const bool is_read = fgets(line, sizeof line, sizes) != NULL;
  fclose(sizes);
  for (int i = 0; is_read && i < WORD; i++) strtoul(at, &at, 10);
  return strtoul(at, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Let malloc fail where this process wants so many bytes more than it has. A build with a sanitizer begins with
 * terabytes, which it does not use. */
static void limit_memory(size_t bytes) {
  const rlim_t most = private_bytes() + bytes;
  const struct rlimit limit = {most, most};
  setrlimit(RLIMIT_DATA, &limit);
}

/* Close the descriptors that were inherited from the program, such as sockets of other spawners. A kernel before 5.9
 * cannot do this; then some descriptors stay open, which is harmless. */
static void close_others(int control) {
  enum { FIRST = STDERR_FILENO + 1 };
  if (control > FIRST) close_range(FIRST, (unsigned)control - 1, 0);
  close_range((unsigned)control + 1, UINT_MAX, 0);
}

static void serve_as_worker(const struct spawner_program *program, pid_t parent, int socket) {
  process_die_with(parent);
  be_expendable();
  if (program->memory_bytes > 0) limit_memory(program->memory_bytes);
  program->serve(program->state, socket);
  _exit(EXIT_SUCCESS); /* without the program's exit handlers, and without flushing its buffers */
}

/* Send an answer, together with `socket` unless that is negative. */
static bool send_answer(int control, const struct answer *answer, int socket) {
  struct answer copy = *answer;
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } extra = {0};
  struct iovec bytes = {.iov_base = &copy, .iov_len = sizeof copy};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1};
  if (socket >= 0) {
    message.msg_control = &extra;
    message.msg_controllen = sizeof extra;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof socket);
    memcpy(CMSG_DATA(header), &socket, sizeof socket);
  }
  return sendmsg(control, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy;
}

static bool start_worker(const struct spawner_program *program, int control) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return send_answer(control, &(struct answer){.reason = errno}, -1);
  }
  pid_t self = getpid(), pid = fork();
  if (pid == 0) {
    close(pair[0]);
    close(control);
    serve_as_worker(program, self, pair[1]);
  }
  struct answer answer = {.pid = pid > 0 ? pid : 0, .reason = errno};
  bool sent = send_answer(control, &answer, pid > 0 ? pair[0] : -1);
  close(pair[0]);
  close(pair[1]);
  return sent;
}

static int end_ms_of(const struct spawner_program *program) {
  return program->end_ms > 0 ? program->end_ms : SPAWNER_END_MS;
}

static bool stop_worker(const struct spawner_program *program, pid_t pid, int control) {
  const struct answer answer = {.pid = pid, .reason = process_kill_within(pid, end_ms_of(program))};
  return send_answer(control, &answer, -1);
}

static void send_hello(int control, halotune_status status, const struct text *facts) {
  struct text hello = {0};
  pack_u64(&hello, (uint64_t)status);
  pack_text(&hello, fail_text());
  pack_bytes(&hello, facts->bytes, facts->length);
  if (text_ok(&hello)) send(control, hello.bytes, hello.length, MSG_NOSIGNAL);
  text_free(&hello);
}

static void spawner_main(const struct spawner_program *program, pid_t parent, int control) {
  struct text facts = {0};
  struct order order;
  ignore_the_terminal();
  process_die_with(parent);
  close_others(control);
  halotune_status status = program->prepare ? program->prepare(program->state, &facts) : HALOTUNE_OK;
  send_hello(control, status, &facts);
  text_free(&facts);
  bool going = status == HALOTUNE_OK;
  while (going) {
    ssize_t got = recv(control, &order, sizeof order, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got != (ssize_t)sizeof order) break; /* the program is gone */
    going = order.pid == 0 ? start_worker(program, control) : stop_worker(program, order.pid, control);
  }
  _exit(EXIT_SUCCESS);
}

/* Wait for the message that the spawner sends when it is prepared. */
static halotune_status receive_hello(const struct spawner_program *program, int control, int answer_ms,
                                     struct text *facts) {
  const double ms_per_s = 1e3;
  if (!ready_until(control, POLLIN, clock_ms() + answer_ms))
    return fail(HALOTUNE_IO, "the process that starts the %ss did not answer in %g s while it %s", program->name,
                answer_ms / ms_per_s, program->prepares ? program->prepares : "began");
  char *bytes = malloc(MAX_HELLO_BYTES);
  if (!bytes) return fail_memory();
  ssize_t got;
  do got = recv(control, bytes, MAX_HELLO_BYTES, 0);
  while (got < 0 && errno == EINTR);
  struct unpack in = {.at = bytes, .left = got > 0 ? (size_t)got : 0};
  halotune_status status = (halotune_status)unpack_u64(&in);
  const char *detail = unpack_text(&in);
  size_t length;
  const char *said = unpack_bytes(&in, &length);
  if (in.failed)
    status = fail(HALOTUNE_IO, "the process that starts the %ss died while it %s", program->name,
                  program->prepares ? program->prepares : "began");
  else if (status != HALOTUNE_OK) fail(status, "%s", detail);
  else text_add(facts, said, length);
  free(bytes);
  return status;
}

halotune_status spawner_open(const struct spawner_program *program, struct text *facts, struct spawner *out) {
  int pair[2];
  *out = (struct spawner){.socket = -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail(HALOTUNE_IO, "cannot create a socket for the %ss: %s", program->name, strerror(errno));
  }
  pid_t self = getpid(), pid = fork();
  if (pid == 0) {
    close(pair[0]);
    spawner_main(program, self, pair[1]);
  }
  int reason = errno;
  close(pair[1]);
  if (pid < 0) {
    close(pair[0]);
    return fail(HALOTUNE_IO, "cannot start a process for the %ss: %s", program->name, strerror(reason));
  }
  *out = (struct spawner){.socket = pair[0],
                          .pid = pid,
                          .name = program->name,
                          .answer_ms = program->answer_ms > 0 ? program->answer_ms : SPAWNER_ANSWER_MS,
                          .end_ms = end_ms_of(program)};
  return receive_hello(program, out->socket, out->answer_ms, facts);
}

/* Close a spawner that was lost, and keep the reason. */
static void lose_spawner(struct spawner *spawner) {
  enum { LAST_MS = 1000 };
  const int reason = errno;
  bool is_late = false;
  const int wait_status = process_wait_until(spawner->pid, clock_ms() + LAST_MS, &is_late);
  if (is_late) snprintf(spawner->loss, sizeof spawner->loss, "cannot be asked: %s", strerror(reason));
  else process_tell_end(wait_status, spawner->loss, sizeof spawner->loss);
  close(spawner->socket);
  spawner->socket = -1;
}

/* Send one order and read its answer.
 *   socket  receives the worker's socket, -1 if there is none */
static bool send_order(struct spawner *spawner, pid_t pid, struct answer *answer, int *socket) {
  struct order order = {.pid = pid};
  union {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
  } extra;
  struct iovec bytes = {.iov_base = answer, .iov_len = sizeof *answer};
  struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &extra, .msg_controllen = sizeof extra};
  *socket = -1;
  if (spawner->socket < 0) return false;
  if (send(spawner->socket, &order, sizeof order, MSG_NOSIGNAL) != (ssize_t)sizeof order) {
    lose_spawner(spawner);
    return false;
  }
  const double ms_per_s = 1e3, limit_ms = (double)spawner->answer_ms + (pid ? spawner->end_ms : 0);
  if (!ready_until(spawner->socket, POLLIN, clock_ms() + limit_ms)) {
    spawner_close(spawner); /* a late answer would be taken for that of the next order */
    snprintf(spawner->loss, sizeof spawner->loss, "did not answer in %g s", limit_ms / ms_per_s);
    return false;
  }
  ssize_t got;
  do got = recvmsg(spawner->socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != (ssize_t)sizeof *answer) {
    lose_spawner(spawner);
    return false;
  }
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_type == SCM_RIGHTS) memcpy(socket, CMSG_DATA(header), sizeof *socket);
  return true;
}

halotune_status spawner_start(struct spawner *spawner, pid_t *pid, int *socket) {
  struct answer answer = {0};
  if (!send_order(spawner, 0, &answer, socket)) {
    return fail(HALOTUNE_IO, "the process that starts the %ss %s", spawner->name, spawner->loss);
  }
  if (answer.pid == 0) return fail(HALOTUNE_IO, "no %s could be started: %s", spawner->name, strerror(answer.reason));
  if (*socket < 0) {
    spawner_stop(spawner, answer.pid); /* the worker runs, but there is no socket to it */
    return fail(HALOTUNE_IO, "no %s could be started: too many open files", spawner->name);
  }
  *pid = answer.pid;
  return HALOTUNE_OK;
}

int spawner_stop(struct spawner *spawner, pid_t pid) {
  struct answer answer = {0};
  int socket;
  return send_order(spawner, pid, &answer, &socket) ? answer.reason : PROCESS_NOT_ENDED;
}

void spawner_close(struct spawner *spawner) {
  if (spawner->socket >= 0) {
    close(spawner->socket);
    process_kill(spawner->pid);
  }
  *spawner = (struct spawner){.socket = -1, .name = spawner->name};
}
