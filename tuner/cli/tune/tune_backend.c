/* tune_backend.c: reads, opens or checks a backend. */
#include "tuner/cli/tune/tune_backend.h"

#include <stdlib.h>
#include <string.h>

#include "gpu/workers/probe.h"
#include "tuner/measure/backends/backend_replay.h"

static const char replay[] = "replay:";

static halotune_status read_kind(const char *name, struct tune_backend *out) {
  out->kind = TUNE_ON_CUDA;
  if (!name || strcmp(name, "cuda") == 0) return HALOTUNE_OK;
  out->kind = TUNE_ON_HOST;
  if (strcmp(name, "host") == 0) return HALOTUNE_OK;
  if (strncmp(name, replay, strlen(replay)) != 0)
    return fail(HALOTUNE_ARGUMENT, "--backend is cuda, host or replay:FILE, not '%s'", name);
  out->kind = TUNE_ON_RECORDING;
  out->recording = name + strlen(replay);
  return *out->recording ? HALOTUNE_OK : fail(HALOTUNE_ARGUMENT, "--backend replay:FILE needs the file of a recording");
}

halotune_status tune_backend_read(const struct invocation *invocation, struct tune_backend *out) {
  const char *name = option_value(invocation, "backend"), *device = option_value(invocation, "device");
  long ordinal = 0;
  *out = (struct tune_backend){.is_every_device = device && strcmp(device, "all") == 0};
  halotune_status status = read_kind(name, out);
  if (status == HALOTUNE_OK && out->is_every_device && out->kind != TUNE_ON_CUDA)
    status = fail(HALOTUNE_ARGUMENT, "--device all is for GPUs, not for --backend %s", name);
  if (status == HALOTUNE_OK && !out->is_every_device) status = option_whole(invocation, "device", 0, 255, 0, &ordinal);
  out->ordinal = (int)ordinal;
  long in_flight = 0;
  if (status == HALOTUNE_OK)
    status = option_whole(invocation, "in-flight", 1, REPLAY_MOST_IN_FLIGHT, REPLAY_IN_FLIGHT, &in_flight);
  out->in_flight = (int)in_flight;
  if (status == HALOTUNE_OK) status = option_milliseconds(invocation, "hang-timeout", BACKEND_HANG_MS, &out->hang_ms);
  return status;
}

halotune_status tune_backend_open(const struct tune_backend *which, struct compiler *compiler,
                                  struct backend_handle *out) {
  const struct backend_cuda_options options = {
      .ordinal = which->ordinal, .hang_ms = which->hang_ms, .compiler = compiler};
  switch (which->kind) {
  case TUNE_ON_HOST: return backend_host_open("sm_90", out);
  case TUNE_ON_RECORDING: return backend_replay_open(which->recording, which->in_flight, out);
  case TUNE_ON_CUDA: break;
  }
  return backend_cuda_open(&options, out);
}

static halotune_status check_gpu(int ordinal) {
  struct probe *probe = calloc(1, sizeof *probe);
  halotune_status status = HALOTUNE_OK;
  if (!probe) return fail_memory();
  /* Without a driver any number is accepted, because a plan may be made for another machine. */
  if (probe_gpus(probe) == HALOTUNE_OK && ordinal >= probe->device_count)
    status =
        fail(HALOTUNE_ARGUMENT, "there is no GPU %d; the driver has %d, counted from 0", ordinal, probe->device_count);
  free(probe);
  return status;
}

halotune_status tune_backend_check(const struct tune_backend *which) {
  struct backend_handle backend = {.table = NULL};
  if (which->kind == TUNE_ON_CUDA) return which->is_every_device ? HALOTUNE_OK : check_gpu(which->ordinal);
  if (which->kind == TUNE_ON_HOST) return HALOTUNE_OK;
  halotune_status status = tune_backend_open(which, NULL, &backend);
  if (backend.table) backend_close(&backend);
  return status;
}
