/* processes.c: a message is its length and its bytes on a stream socket. */
#include "tuner/fleet/processes.h"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "base/system/transfer.h"

/* The other end of one socket. */
struct peer {
  int socket; /* -1: gone */
  pid_t pid;  /* 0: it has ended and its status was collected, or it is the leader */
  int rank;
  bool is_told;     /* `receive` has reported that it is gone */
  bool is_deaf;     /* it did not read a message in time, or closed its side: nothing more is sent to it */
  struct text read; /* bytes of messages that are not yet complete */
  size_t taken;     /* of these bytes, those of messages that were returned */
};

struct processes {
  struct peer *peers; /* for the leader: all members; for a member: the leader */
  int count, next;    /* next: the peer whose messages are read first, so that no peer waits for ever */
};

static struct peer *peer_of(struct processes *team, int rank) {
  for (int i = 0; i < team->count; i++) {
    if (team->peers[i].rank == rank) return &team->peers[i];
  }
  return NULL;
}

static void peer_close(struct peer *peer) {
  if (peer->socket >= 0) close(peer->socket);
  peer->socket = -1;
}

/* Whether the other side has not yet read all that was sent to it. */
static bool has_unread(const struct peer *peer) {
  int bytes = 0;
  return ioctl(peer->socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static halotune_status processes_send(void *state, int to, const void *bytes, size_t count, int timeout_ms) {
  struct peer *peer = peer_of(state, to);
  const uint64_t length = count;
  if (count == 0 || count > FLEET_MESSAGE_MOST)
    return fail(HALOTUNE_ARGUMENT, "a message of %zu bytes cannot be sent", count);
  if (!peer || peer->socket < 0 || peer->is_deaf) return HALOTUNE_OK;
  if (timeout_ms == 0 && has_unread(peer)) return HALOTUNE_OK;
  const double until_ms = clock_ms() + timeout_ms;
  enum transfer_end end = socket_write_until(peer->socket, (const char *)&length, sizeof length, until_ms);
  if (end == TRANSFER_DONE) end = socket_write_until(peer->socket, bytes, count, until_ms);
  /* A part of a message cannot be read. Messages that the peer sent before are still received, and then its end. */
  peer->is_deaf = end != TRANSFER_DONE;
  if (peer->is_deaf) shutdown(peer->socket, SHUT_RDWR);
  return HALOTUNE_OK;
}

/* Move the first whole message of a peer to `out`. Returns whether there was one. */
static bool peer_message(struct peer *peer, struct text *out) {
  uint64_t length;
  const size_t left = peer->read.length - peer->taken;
  if (left < sizeof length) return false;
  memcpy(&length, peer->read.bytes + peer->taken, sizeof length);
  if (length == 0 || length > FLEET_MESSAGE_MOST) {
    peer_close(peer);
    peer->taken = peer->read.length;
    return false;
  }
  if (left - sizeof length < length) return false;
  text_add(out, peer->read.bytes + peer->taken + sizeof length, (size_t)length);
  peer->taken += sizeof length + (size_t)length;
  if (peer->taken == peer->read.length) peer->taken = peer->read.length = 0;
  return true;
}

/* Read all bytes that wait in a peer's socket. */
static void peer_read(struct peer *peer) {
  char bytes[1 << 16];
  if (peer->taken > 0) {
    memmove(peer->read.bytes, peer->read.bytes + peer->taken, peer->read.length - peer->taken);
    peer->read.length -= peer->taken;
    peer->taken = 0;
  }
  const ssize_t count = recv(peer->socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count > 0) text_add(&peer->read, bytes, (size_t)count);
  else if (count == 0 || (errno != EAGAIN && errno != EINTR)) peer_close(peer);
  if (!text_ok(&peer->read)) peer_close(peer);
}

/* Find a message that is there, or a peer that is gone. */
static bool find_news(struct processes *team, int *from, bool *is_gone, struct text *out) {
  for (int i = 0; i < team->count; i++) {
    struct peer *peer = &team->peers[(team->next + i) % team->count];
    const bool has_message = peer_message(peer, out);
    *is_gone = !has_message && peer->socket < 0 && !peer->is_told;
    if (!has_message && !*is_gone) continue;
    peer->is_told = peer->is_told || *is_gone;
    *from = peer->rank;
    team->next = (team->next + i + 1) % team->count;
    return true;
  }
  return false;
}

/* Wait until a socket has something, and read it. */
static halotune_status read_sockets(struct processes *team, int timeout_ms) {
  struct pollfd *polls = calloc((size_t)team->count, sizeof *polls);
  if (!polls) return fail_memory();
  for (int i = 0; i < team->count; i++) polls[i] = (struct pollfd){.fd = team->peers[i].socket, .events = POLLIN};
  const int ready = poll(polls, (nfds_t)team->count, timeout_ms);
  for (int i = 0; i < team->count && ready > 0; i++) {
    if (polls[i].revents) peer_read(&team->peers[i]);
  }
  free(polls);
  return HALOTUNE_OK;
}

static halotune_status processes_receive(void *state, int timeout_ms, int *from, bool *is_gone, struct text *out) {
  struct processes *team = state;
  const double until_ms = clock_ms() + timeout_ms;
  halotune_status status = HALOTUNE_OK;
  *from = -1;
  *is_gone = false;
  out->length = 0;
  for (int turn = 0; status == HALOTUNE_OK && !find_news(team, from, is_gone, out); turn++) {
    const double left_ms = until_ms - clock_ms();
    if (left_ms <= 0 && turn > 0) break;
    status = read_sockets(team, left_ms > 0 ? (int)left_ms + 1 : 0);
  }
  if (status == HALOTUNE_OK && !text_ok(out)) status = fail_memory();
  return status;
}

static void peer_kill(struct peer *peer) {
  if (peer->pid > 0) process_kill(peer->pid);
  peer->pid = 0;
}

static void processes_drop(void *state, int rank) {
  struct peer *peer = peer_of(state, rank);
  if (!peer) return;
  peer_close(peer);
  peer->is_told = true;
  peer->read.length = peer->taken = 0;
  peer_kill(peer);
}

static void processes_close(void *state, bool is_failure, int exit_code) {
  (void)exit_code; /* the exit code of a process does not end other processes */
  struct processes *team = state;
  const double until_ms = clock_ms() + PROCESSES_HOME_MS;
  for (int i = 0; i < team->count; i++) {
    struct peer *peer = &team->peers[i];
    if (peer->pid > 0 && !is_failure) {
      process_wait_until(peer->pid, until_ms, NULL);
      peer->pid = 0;
    }
    peer_kill(peer);
    peer_close(peer);
    text_free(&peer->read);
  }
  free(team->peers);
  free(team);
}

static const struct fleet_link_table table = {.name = "processes",
                                              .send = processes_send,
                                              .receive = processes_receive,
                                              .drop = processes_drop,
                                              .close = processes_close};

/* In a new member: forget the sockets of the others, and keep the one to the leader. */
static void become_member(struct processes *team, int socket, int rank, pid_t leader, struct fleet_link *out) {
  setpgid(0, 0);
  process_die_with(leader);
  prctl(PR_SET_NAME, "halotune member"); /* for ps and top */
  for (int i = 0; i < team->count; i++) close(team->peers[i].socket);
  team->peers[0] = (struct peer){.socket = socket, .rank = 0};
  team->count = 1;
  *out = (struct fleet_link){.table = &table, .state = team, .rank = rank, .size = out->size};
}

halotune_status processes_open(int members, struct fleet_link *out) {
  const pid_t leader = getpid();
  *out = (struct fleet_link){.size = members + 1};
  if (members < 1 || members > PROCESSES_MOST)
    return fail(HALOTUNE_ARGUMENT, "a team has 1 to %d members, not %d", PROCESSES_MOST, members);
  struct processes *team = calloc(1, sizeof *team);
  if (team) team->peers = calloc((size_t)members, sizeof *team->peers);
  if (!team || !team->peers) {
    free(team);
    return fail_memory();
  }
  for (int rank = 1; rank <= members; rank++) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) break;
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[0]);
      become_member(team, ends[1], rank, leader, out);
      return HALOTUNE_OK;
    }
    close(ends[1]);
    team->peers[team->count++] = (struct peer){.socket = ends[0], .pid = pid > 0 ? pid : 0, .rank = rank};
    if (pid < 0) break;
    setpgid(pid, pid); /* parent and child both do it, because either may run first */
  }
  *out = (struct fleet_link){.table = &table, .state = team, .rank = 0, .size = members + 1};
  if (team->count == members && team->peers[members - 1].pid > 0) return HALOTUNE_OK;
  const int code = errno;
  processes_close(team, true, 0);
  *out = (struct fleet_link){.size = 0};
  return fail(HALOTUNE_IO, "the members of a team cannot be started: %s", strerror(code));
}
