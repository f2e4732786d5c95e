/* probe.c: loads the driver in a child process, which reports through a pipe. */
#include "gpu/workers/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "base/system/transfer.h"

struct answer {
  halotune_status status;
  char text[PROBE_TEXT_BYTES];
  struct probe probe;
};

static void ask_driver(struct answer *answer) {
  struct cu cu;
  answer->status = cu_open(&cu);
  if (answer->status == HALOTUNE_OK)
    answer->status = cu_check(&cu, cu.device_count(&answer->probe.device_count), "cuDeviceGetCount");
  answer->probe.cuda = cu.cuda_version;
  for (int i = 0; i < answer->probe.device_count && i < PROBE_MOST_DEVICES && answer->status == HALOTUNE_OK; i++) {
    answer->status = device_ask(&cu, i, &answer->probe.devices[i]);
  }
  if (answer->status != HALOTUNE_OK) snprintf(answer->text, sizeof answer->text, "%.500s", fail_text());
}

static halotune_status read_answer(const struct answer *answer, struct probe *out) {
  if (answer->status != HALOTUNE_OK) return fail(answer->status, "%.*s", PROBE_TEXT_BYTES - 1, answer->text);
  *out = answer->probe;
  if (out->device_count > PROBE_MOST_DEVICES) out->device_count = PROBE_MOST_DEVICES;
  return HALOTUNE_OK;
}

halotune_status probe_gpus_within(int answer_ms, struct probe *out) {
  int ends[2];
  struct answer *answer = calloc(1, sizeof *answer);
  if (!answer) return fail_memory();
  if (pipe2(ends, O_CLOEXEC) != 0) {
    free(answer);
    return fail(HALOTUNE_IO, "no pipe: %s", strerror(errno));
  }
  pid_t self = getpid(), child = fork();
  if (child == 0) {
    process_die_with(self);
    close(ends[0]);
    ask_driver(answer);
    _exit(write_all(ends[1], (const char *)answer, sizeof *answer) ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  close(ends[1]);
  bool heard =
      child > 0 && read_until(ends[0], (char *)answer, sizeof *answer, clock_ms() + answer_ms) == TRANSFER_DONE;
  close(ends[0]);
  if (child > 0) process_kill(child);
  halotune_status status;
  if (child < 0) status = fail(HALOTUNE_IO, "cannot start a process that asks the driver");
  else if (!heard)
    status = fail(HALOTUNE_NO_GPU, "the CUDA driver crashed or did not answer when it was asked for its GPUs");
  else status = read_answer(answer, out);
  free(answer);
  return status;
}

halotune_status probe_gpus(struct probe *out) { return probe_gpus_within(PROBE_ANSWER_MS, out); }
