/* gpu_link.c: sends bytes to a worker and reads its replies. The worker may be dead, hang, or send garbage. */
#include "tuner/device/gpu_link.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "base/system/transfer.h"

halotune_status gpu_link_open(const struct spawner_program *program, struct gpu_link *out) {
  struct text facts = {0};
  *out = (struct gpu_link){.spawner.socket = -1, .socket = -1, .last_slot = -1};
  /* Anonymous memory: the spawner and its workers inherit it, and no other process can access it. */
  void *window = mmap(NULL, sizeof *out->window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (window == MAP_FAILED) return fail_memory();
  out->window = window;
  out->window->slot = -1;
  const struct spawner_program own = gpu_worker_program(out->window);
  halotune_status status = spawner_open(program ? program : &own, &facts, &out->spawner);
  text_free(&facts);
  return status;
}

halotune_status gpu_link_start(struct gpu_link *link) {
  gpu_link_stop(link);
  if (link->has_stuck)
    return fail(HALOTUNE_IO, "a GPU worker was killed, but is not known to have ended; it may still hold the GPU");
  link->death[0] = '\0';
  link->window->slot = -1;
  return spawner_start(&link->spawner, &link->pid, &link->socket);
}

void gpu_link_stop(struct gpu_link *link) {
  if (link->pid == 0) return;
  /* Kill the worker before closing its socket. Otherwise it might start to exit by itself, and the reported end would
   * depend on timing. */
  const size_t room = sizeof link->death - (size_t)snprintf(link->death, sizeof link->death, "its process ");
  const int wait_status = spawner_stop(&link->spawner, link->pid);
  process_tell_end(wait_status, link->death + sizeof link->death - room, room);
  if (wait_status == PROCESS_NOT_ENDED) link->has_stuck = true;
  close(link->socket);
  link->last_slot = link->window->slot;
  link->pid = 0;
  link->socket = -1;
}

void gpu_link_close(struct gpu_link *link) {
  gpu_link_stop(link);
  spawner_close(&link->spawner);
  if (link->window) munmap(link->window, sizeof *link->window);
  text_free(&link->reply);
  *link = (struct gpu_link){.spawner.socket = -1, .socket = -1, .last_slot = -1};
}

static enum gpu_link_end link_end(enum transfer_end end) {
  return end == TRANSFER_DONE ? GPU_LINK_ANSWERED : end == TRANSFER_LATE ? GPU_LINK_HUNG : GPU_LINK_DIED;
}

static enum gpu_link_end receive_reply(struct gpu_link *link, double until_ms, struct gpu_reply *reply) {
  static const char zeros[4096];
  uint64_t length = 0;
  link->reply.length = 0;
  enum gpu_link_end end = link_end(read_until(link->socket, (char *)&length, sizeof length, until_ms));
  if (end == GPU_LINK_ANSWERED && length > GPU_MESSAGE_MOST_BYTES) end = GPU_LINK_DIED;
  for (uint64_t done = 0; done < length && end == GPU_LINK_ANSWERED;) { /* allocate only as much as really arrives */
    uint64_t part = length - done < sizeof zeros ? length - done : sizeof zeros;
    text_add(&link->reply, zeros, part);
    if (!text_ok(&link->reply)) return GPU_LINK_DIED;
    end = link_end(read_until(link->socket, link->reply.bytes + done, part, until_ms));
    done += part;
  }
  if (end != GPU_LINK_ANSWERED) return end;
  return gpu_reply_read(text_string(&link->reply), link->reply.length, reply) ? end : GPU_LINK_DIED;
}

enum gpu_link_end gpu_link_call(struct gpu_link *link, const struct text *request, double deadline_ms,
                                struct gpu_reply *reply) {
  double until_ms = clock_ms() + deadline_ms;
  if (link->pid == 0) return GPU_LINK_DIED;
  enum gpu_link_end end = link_end(socket_write_until(link->socket, request->bytes, request->length, until_ms));
  if (end == GPU_LINK_ANSWERED) end = receive_reply(link, until_ms, reply);
  if (end == GPU_LINK_ANSWERED) return end;
  bool gone = end == GPU_LINK_DIED && ready_until(link->socket, POLLIN, clock_ms()) &&
              recv(link->socket, &(char){0}, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
  gpu_link_stop(link);
  if (end == GPU_LINK_DIED && !gone) snprintf(link->death, sizeof link->death, "its process sent an invalid answer");
  return end;
}
