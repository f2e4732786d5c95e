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

/* Read a list of GPUs such as "0,2". */
static halotune_status read_devices(const char *list, struct tune_backend *out) {
  static const long most = 255;
  out->ordinal_count = 0;
  for (const char *at = list ? list : "0";; at++) {
    char *end;
    const long ordinal = strtol(at, &end, 10);
    if (end == at || *at < '0' || *at > '9' || ordinal > most || (*end && *end != ',') ||
        out->ordinal_count == TUNE_MOST_DEVICES)
      return fail(HALOTUNE_ARGUMENT, "--device takes GPUs such as 0 or 0,1, or all, not '%s'", list);
    for (int i = 0; i < out->ordinal_count; i++) {
      if (out->ordinals[i] == ordinal)
        return fail(HALOTUNE_ARGUMENT, "--device names GPU %ld twice; --members lets processes share a GPU", ordinal);
    }
    out->ordinals[out->ordinal_count++] = (int)ordinal;
    if (!*end) break;
    at = end;
  }
  out->ordinal = out->ordinals[0];
  return HALOTUNE_OK;
}

halotune_status tune_backend_use(struct tune_backend *which, const int *ordinals, int count) {
  if (count > TUNE_MOST_DEVICES) count = TUNE_MOST_DEVICES;
  memcpy(which->ordinals, ordinals, (size_t)count * sizeof *ordinals);
  which->ordinal_count = count;
  which->ordinal = ordinals[0];
  if (which->member_option > 0 && which->member_option < count)
    return fail(HALOTUNE_ARGUMENT, "--members %d is fewer than the %d GPUs of --device", which->member_option, count);
  which->process_count = which->member_option > 0 ? which->member_option : count;
  which->may_share = which->process_count > count;
  return HALOTUNE_OK;
}

halotune_status tune_backend_read(const struct invocation *invocation, struct tune_backend *out) {
  const char *name = option_value(invocation, "backend"), *device = option_value(invocation, "device");
  long members = 0;
  *out = (struct tune_backend){.is_every_device = device && strcmp(device, "all") == 0};
  halotune_status status = read_kind(name, out);
  if (status == HALOTUNE_OK && out->is_every_device && out->kind != TUNE_ON_CUDA)
    status = fail(HALOTUNE_ARGUMENT, "--device all is for GPUs, not for --backend %s", name);
  if (status == HALOTUNE_OK) status = option_whole(invocation, "members", 1, TUNE_MOST_PROCESSES, 0, &members);
  out->member_option = (int)members;
  if (status == HALOTUNE_OK) status = read_devices(out->is_every_device ? NULL : device, out);
  if (status == HALOTUNE_OK && out->ordinal_count > 1 && out->kind != TUNE_ON_CUDA)
    status = fail(HALOTUNE_ARGUMENT, "--device names GPUs; a team without GPUs takes --members");
  if (status == HALOTUNE_OK && !out->is_every_device) status = tune_backend_use(out, out->ordinals, out->ordinal_count);
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
  if (which->kind == TUNE_ON_CUDA) {
    halotune_status status = HALOTUNE_OK;
    for (int i = 0; i < which->ordinal_count && !which->is_every_device && status == HALOTUNE_OK; i++)
      status = check_gpu(which->ordinals[i]);
    return status;
  }
  if (which->kind == TUNE_ON_HOST) return HALOTUNE_OK;
  halotune_status status = tune_backend_open(which, NULL, &backend);
  if (backend.table) backend_close(&backend);
  return status;
}
