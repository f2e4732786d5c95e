/* emulation_run.c: checks a launch as a GPU's driver would, lets the variant's runner execute it, and checks its
 * buffers. */
#include <stdio.h>
#include <string.h>

#include "tuner/emulate/emulation_batch.h"

#define AS_NAME(name, text) text,
static const char *const outcome_names[] = {EMULATION_OUTCOME_LIST(AS_NAME)};

const char *emulation_outcome_name(int kind) { return outcome_names[kind]; }

struct run {
  const struct emulation_launch *launch;
  struct emulation_request request;
  struct emulation_buffer *buffers[EMULATION_MAX_BUFFERS];
  int descriptors[EMULATION_MAX_BUFFERS];
  size_t parameter_bytes; /* used bytes of request.parameters */
};

static unsigned cluster_in(const struct emulation_launch *launch, int axis) {
  return launch->cluster[axis] > 1 ? launch->cluster[axis] : 1;
}

/* Check the cluster. Returns false, with the reason in `out`. */
static bool check_cluster(const struct emulation_launch *launch, struct emulation_outcome *out) {
  enum { MOST_BLOCKS = 8 };
  unsigned cluster[3], blocks = 1;
  bool whole = true;
  for (int axis = 0; axis < 3; axis++) {
    cluster[axis] = cluster_in(launch, axis);
    whole = whole && launch->grid[axis] % cluster[axis] == 0;
    blocks *= cluster[axis] <= MOST_BLOCKS ? cluster[axis] : MOST_BLOCKS + 1;
  }
  if (whole && blocks <= MOST_BLOCKS) return true;
  snprintf(out->text, sizeof out->text,
           "clusters of %ux%ux%u blocks; a cluster can have at most %d, and the grid must be a multiple of it",
           cluster[0], cluster[1], cluster[2], MOST_BLOCKS);
  return false;
}

/* Check the limits of a GPU. Returns false, with the reason in `out`. */
static bool check_limits(const struct emulation_launch *launch, struct emulation_outcome *out) {
  static const unsigned max_block[] = {1024, 1024, 64}, max_grid[] = {2147483647, 65535, 65535};
  const unsigned *block = launch->block, *grid = launch->grid;
  size_t limit = launch->shared_limit_bytes > 0 ? launch->shared_limit_bytes : EMULATION_SHARED_LIMIT_BYTES;
  for (int axis = 0; axis < 3; axis++) {
    const char *what = block[axis] < 1 || block[axis] > max_block[axis] ? "block"
                       : grid[axis] < 1 || grid[axis] > max_grid[axis]  ? "grid"
                                                                        : NULL;
    if (!what) continue;
    const unsigned *shape = *what == 'b' ? block : grid, *max = *what == 'b' ? max_block : max_grid;
    snprintf(out->text, sizeof out->text, "a %s of %ux%ux%u; from 1 to %ux%ux%u are possible", what, shape[0], shape[1],
             shape[2], max[0], max[1], max[2]);
    return false;
  }
  if (block[0] * block[1] * block[2] > 1024) {
    snprintf(out->text, sizeof out->text, "a block of %ux%ux%u threads; at most 1024 are possible", block[0], block[1],
             block[2]);
    return false;
  }
  if (launch->shared_bytes <= limit) return check_cluster(launch, out);
  snprintf(out->text, sizeof out->text, "%zu bytes of shared memory; a block can have %zu", launch->shared_bytes,
           limit);
  return false;
}

static halotune_status add_buffer(struct run *run, int argument, struct emulation_buffer *buffer, uint32_t *number) {
  struct emulation_request *request = &run->request;
  for (*number = 0; *number < request->buffer_count; (*number)++) {
    if (run->buffers[*number] == buffer) return HALOTUNE_OK;
  }
  if (request->buffer_count == EMULATION_MAX_BUFFERS)
    return fail(HALOTUNE_ARGUMENT, "more than %d buffers", EMULATION_MAX_BUFFERS);
  run->buffers[*number] = buffer;
  run->descriptors[*number] = emulation_buffer_descriptor(buffer);
  request->buffers[*number] = (struct emulation_wire_buffer){.bytes = emulation_buffer_bytes(buffer),
                                                             .file_bytes = emulation_buffer_file_bytes(buffer),
                                                             .argument = (uint64_t)argument,
                                                             .sparse = emulation_buffer_is_sparse(buffer)};
  request->buffer_count++;
  return HALOTUNE_OK;
}

/* Append a value. Values begin at multiples of 16 bytes, which is enough for any type. */
static halotune_status add_bytes(struct run *run, const struct emulation_argument *argument,
                                 struct emulation_wire_argument *wire) {
  size_t begin = (run->parameter_bytes + 15) / 16 * 16;
  if (argument->byte_count > sizeof run->request.parameters - begin) {
    return fail(HALOTUNE_ARGUMENT, "more than %d bytes of arguments", EMULATION_PARAMETER_BYTES);
  }
  memcpy(run->request.parameters + begin, argument->bytes, argument->byte_count);
  run->parameter_bytes = begin + argument->byte_count;
  wire->offset_bytes = begin;
  wire->bytes = argument->byte_count;
  return HALOTUNE_OK;
}

static halotune_status add_arguments(struct run *run) {
  const struct emulation_launch *launch = run->launch;
  halotune_status status = HALOTUNE_OK;
  if (launch->argument_count > EMULATION_MAX_ARGUMENTS)
    return fail(HALOTUNE_ARGUMENT, "more than %d arguments", EMULATION_MAX_ARGUMENTS);
  for (int i = 0; i < launch->argument_count && status == HALOTUNE_OK; i++) {
    const struct emulation_argument *argument = &launch->arguments[i];
    struct emulation_wire_argument *wire = &run->request.arguments[i];
    *wire = (struct emulation_wire_argument){.kind = argument->kind,
                                             .offset_bytes = argument->offset_bytes,
                                             .texture = argument->texture,
                                             .tensor = argument->tensor};
    if (argument->kind == EMULATION_ARGUMENT_BYTES) status = add_bytes(run, argument, wire);
    else status = add_buffer(run, i, argument->buffer, &wire->buffer);
  }
  run->request.argument_count = (uint32_t)launch->argument_count;
  return status;
}

static halotune_status fill_request(struct run *run) {
  const struct emulation_launch *launch = run->launch;
  struct emulation_request *request = &run->request;
  if (launch->blocks == EMULATION_RANDOM) return fail(HALOTUNE_ARGUMENT, "blocks run in ascending or descending order");
  if (strlen(launch->kernel) >= sizeof request->kernel)
    return fail(HALOTUNE_ARGUMENT, "%s: too long a name", launch->kernel);
  snprintf(request->kernel, sizeof request->kernel, "%s", launch->kernel);
  memcpy(request->grid, launch->grid, sizeof request->grid);
  memcpy(request->block, launch->block, sizeof request->block);
  for (int axis = 0; axis < 3; axis++) request->cluster[axis] = cluster_in(launch, axis);
  request->overlaps = launch->overlaps;
  request->cooperative = launch->cooperative;
  request->thread_order = launch->threads;
  request->block_order = launch->blocks;
  request->seed = launch->seed;
  request->shared_bytes = launch->shared_bytes;
  request->timeout_ms = (uint64_t)(launch->timeout_ms > 0 ? launch->timeout_ms : EMULATION_RUN_TIMEOUT_MS);
  return add_arguments(run);
}

static void check_canaries(const struct run *run, struct emulation_outcome *out) {
  for (uint32_t i = 0; i < run->request.buffer_count; i++) {
    long long offset;
    if (emulation_buffer_check(run->buffers[i], &offset) || out->kind != EMULATION_OK) continue;
    out->kind = EMULATION_OUT_OF_BOUNDS;
    snprintf(out->text, sizeof out->text, "byte %lld was written, of the %zu bytes of argument %llu's buffer", offset,
             emulation_buffer_bytes(run->buffers[i]), (unsigned long long)run->request.buffers[i].argument);
  }
}

static void check_poison(const struct run *run, struct emulation_outcome *out) {
  static const struct {
    uint32_t word;
    enum emulation_outcome_kind kind;
    const char *what;
  } meanings[] = {
      {EMULATION_POISON_SHARED, EMULATION_UNWRITTEN_SHARED, "shared memory that was read before it was written"},
      {EMULATION_POISON_COPY, EMULATION_UNWAITED_COPY, "where an asynchronous copy was read before it was waited for"},
      {EMULATION_POISON_CANARY, EMULATION_OUT_OF_BOUNDS, "memory outside of a buffer"},
      {EMULATION_POISON_LANE, EMULATION_UNDEFINED, "a lane that takes no part in the shuffle"},
  };
  for (uint32_t i = 0; i < run->request.buffer_count && out->kind == EMULATION_OK; i++) {
    size_t element = 0;
    if (emulation_buffer_is_sparse(run->buffers[i])) continue;
    uint32_t word = emulation_buffer_find_poison(run->buffers[i], &element);
    for (size_t m = 0; m < sizeof meanings / sizeof *meanings; m++) {
      if (meanings[m].word != word) continue;
      out->kind = (int32_t)meanings[m].kind;
      snprintf(out->text, sizeof out->text, "element %zu of argument %llu's buffer comes from %s", element,
               (unsigned long long)run->request.buffers[i].argument, meanings[m].what);
    }
  }
}

/* Let the variant's runner execute the request of `run`; start the runner first where there is none.
 *   counts  of a request that counts; else NULL */
static halotune_status execute_request(struct emulation_batch *batch, struct emulation_variant *variant,
                                       const struct run *run, struct emulation_outcome *out,
                                       struct emulation_counts *counts) {
  halotune_status status = HALOTUNE_OK;
  if (variant->runner.pid == 0)
    status = emulation_runner_start(batch->runner, variant->object, batch->descriptor, &variant->runner);
  if (status != HALOTUNE_OK) return emulation_batch_fail(batch, status);
  return emulation_runner_ask(&variant->runner, &run->request, run->descriptors, out, counts);
}

/* The number of a block in the launch, as cluster_join counts: the blocks of a cluster follow each other. */
static uint64_t block_number(const struct emulation_launch *launch, const unsigned block[3]) {
  uint64_t of = 0, rank = 0, size = 1;
  for (int axis = 2; axis >= 0; axis--) {
    unsigned cluster = cluster_in(launch, axis);
    of = of * (launch->grid[axis] / cluster) + block[axis] / cluster;
    rank = rank * cluster + block[axis] % cluster;
    size *= cluster;
  }
  return of * size + rank;
}

halotune_status emulation_count(struct emulation_batch *batch, int variant_number,
                                const struct emulation_launch *launch, const unsigned block[3],
                                struct emulation_outcome *out, struct emulation_counts *counts) {
  struct emulation_variant *variant = &batch->variants[variant_number];
  struct run run = {.launch = launch};
  *out = (struct emulation_outcome){.kind = EMULATION_BAD_LAUNCH};
  if (!variant->object) return fail(HALOTUNE_ARGUMENT, "%s did not compile", variant->name);
  if (!check_limits(launch, out)) return HALOTUNE_OK;
  halotune_status status = fill_request(&run);
  if (status != HALOTUNE_OK) return status;
  run.request.counts = 1;
  run.request.counted_block = block_number(launch, block);
  run.request.thread_order = run.request.block_order = EMULATION_ASCENDING;
  return execute_request(batch, variant, &run, out, counts);
}

halotune_status emulation_run(struct emulation_batch *batch, int variant_number, const struct emulation_launch *launch,
                              struct emulation_outcome *out) {
  struct emulation_variant *variant = &batch->variants[variant_number];
  struct run run = {.launch = launch};
  *out = (struct emulation_outcome){.kind = EMULATION_BAD_LAUNCH};
  if (!variant->object) return fail(HALOTUNE_ARGUMENT, "%s did not compile", variant->name);
  if (!check_limits(launch, out)) return HALOTUNE_OK;
  halotune_status status = fill_request(&run);
  if (status == HALOTUNE_OK) status = execute_request(batch, variant, &run, out, NULL);
  if (status != HALOTUNE_OK) return status;
  check_canaries(&run, out);
  check_poison(&run, out);
  return HALOTUNE_OK;
}

void emulation_rest(struct emulation_batch *batch, int variant) {
  emulation_runner_stop(&batch->variants[variant].runner);
}
