/* stream.c: streams, which execute in order and at once, or lazily; events on the virtual clock; graphs of captured
 * streams.
 *
 * Work on a lazy stream executes when something must have it: a synchronisation, or a stream that waits for an event
 * behind it. So a program that forgets to wait gets wrong results each time, and not only where a GPU is slow. */
#include <stdlib.h>
#include <string.h>

#include "gpu/architecture/arch.h"
#include "tests/fake_cuda/fake.h"

enum node_kind { NODE_LAUNCH, NODE_COPY, NODE_FILL, NODE_TO_DEVICE, NODE_TO_HOST, NODE_WAIT };

struct stream;

struct node {
  enum node_kind kind;
  struct fake_launch launch;
  CUdeviceptr to, from;
  size_t count; /* bytes of a copy, words of a fill */
  unsigned word;
  void *host;               /* of a copy from or to the host */
  struct stream *waits_for; /* until it has executed its first `waits_until` nodes */
  int waits_until;
};

struct graph {
  struct node *nodes;
  int count;
};

struct stream {
  struct graph *capture; /* NULL: it does not capture */
  bool is_lazy;
  struct node *queue; /* of a lazy stream: all nodes so far */
  int queued, executed;
  struct stream *next;
};

struct event {
  bool is_recorded;
  double at_us;
  struct stream *stream; /* a lazy stream on which it was recorded, behind so many nodes; NULL for another one */
  int behind;
};

static struct stream default_stream;
static struct stream *streams; /* all but the default */
static int streams_made;

static struct stream *stream_of(CUstream handle) {
  const bool is_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  return is_default ? &default_stream : (struct stream *)(void *)handle;
}

static CUresult run_node(const struct node *node, bool is_graph, const struct fake_damage *damage) {
  if (node->kind == NODE_COPY) return fake_copy_now(node->to, node->from, node->count);
  if (node->kind == NODE_FILL) return fake_fill_now(node->to, node->word, node->count);
  if (node->kind == NODE_TO_DEVICE) return fake_to_device_now(node->to, node->host, node->count);
  if (node->kind == NODE_TO_HOST) return fake_to_host_now(node->host, node->from, node->count);
  return fake_launch_now(&node->launch, is_graph, damage);
}

/* Execute the first nodes of a lazy stream, and what they wait for. */
static CUresult drain(struct stream *stream, int until) {
  CUresult result = CUDA_SUCCESS;
  while (stream->executed < until && result == CUDA_SUCCESS) {
    const struct node node = stream->queue[stream->executed++];
    result = node.kind == NODE_WAIT ? drain(node.waits_for, node.waits_until) : run_node(&node, false, NULL);
  }
  return result;
}

CUresult fake_drain_all(void) {
  CUresult result = CUDA_SUCCESS;
  for (struct stream *stream = streams; stream && result == CUDA_SUCCESS; stream = stream->next)
    result = drain(stream, stream->queued);
  return result;
}

static CUresult enqueue(struct stream *stream, const struct node *node) {
  struct node *more = realloc(stream->queue, (size_t)(stream->queued + 1) * sizeof *more);
  if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
  stream->queue = more;
  stream->queue[stream->queued++] = *node;
  return CUDA_SUCCESS;
}

/* Execute a node now, or later on a lazy stream, or add it to the graph that is captured. */
static CUresult submit(CUstream handle, const struct node *node, const struct fake_damage *damage) {
  struct stream *stream = stream_of(handle);
  struct graph *graph = stream->capture;
  if (!graph && stream->is_lazy) return enqueue(stream, node);
  if (!graph) return run_node(node, false, damage);
  struct node *more = realloc(graph->nodes, (size_t)(graph->count + 1) * sizeof *more);
  if (!more) return CUDA_ERROR_OUT_OF_MEMORY;
  graph->nodes = more;
  graph->nodes[graph->count++] = *node;
  return CUDA_SUCCESS;
}

CUresult fake_copy_async(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  ENTER("cuMemcpyDtoDAsync_v2");
  NEED_CONTEXT();
  return submit(stream, &(struct node){.kind = NODE_COPY, .to = to, .from = from, .count = bytes}, NULL);
}

CUresult fake_fill_words(CUdeviceptr to, unsigned word, size_t count, CUstream stream) {
  ENTER("cuMemsetD32Async");
  NEED_CONTEXT();
  return submit(stream, &(struct node){.kind = NODE_FILL, .to = to, .word = word, .count = count}, NULL);
}

CUresult fake_submit_host_copy(CUdeviceptr gpu, void *host, size_t bytes, bool to_host, CUstream stream) {
  const struct node node = {
      .kind = to_host ? NODE_TO_HOST : NODE_TO_DEVICE, .to = gpu, .from = gpu, .host = host, .count = bytes};
  return stream_of(stream)->capture ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : submit(stream, &node, NULL);
}

/* Refuse launches that a driver refuses. */
static CUresult check_launch(const struct fake_function *function, const unsigned grid[3], const unsigned block[3],
                             unsigned shared_bytes) {
  static const unsigned max_grid[] = {2147483647, 65535, 65535}, max_block[] = {1024, 1024, 64};
  for (int axis = 0; axis < 3; axis++) {
    if (grid[axis] < 1 || grid[axis] > max_grid[axis] || block[axis] < 1 || block[axis] > max_block[axis]) {
      return CUDA_ERROR_INVALID_VALUE;
    }
  }
  unsigned threads = block[0] * block[1] * block[2];
  if (threads > 1024 || (long long)shared_bytes > function->max_shared_bytes) return CUDA_ERROR_INVALID_VALUE;
  if (threads > (unsigned)function->kernel->max_threads) return CUDA_ERROR_INVALID_VALUE;
  unsigned warps = (threads + 31) / 32, unit = 8;
  unsigned registers = ((unsigned)function->kernel->registers + unit - 1) / unit * unit * warps * 32;
  if (registers > (unsigned)fake_limits()->registers_per_block) return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  return CUDA_SUCCESS;
}

/* Copy the present values of the arguments. */
static CUresult copy_arguments(const struct fake_kernel *kernel, void **arguments, unsigned char *out) {
  size_t at = 0;
  for (int i = 0; i < kernel->parameter_count; i++) {
    size_t bytes = kernel->parameter_bytes[i];
    if (!arguments || !arguments[i] || at + bytes > EMULATION_PARAMETER_BYTES) return CUDA_ERROR_INVALID_VALUE;
    memcpy(out + at, arguments[i], bytes);
    at += (bytes + 7) / 8 * 8;
  }
  return CUDA_SUCCESS;
}

/* Refuse clusters that a driver refuses. */
static CUresult check_cluster(const struct fake_launch *launch) {
  enum { MOST_BLOCKS = 8, FIRST_CAPABILITY = 90 };
  unsigned blocks = 1;
  for (int axis = 0; axis < 3; axis++) {
    unsigned along = launch->cluster[axis];
    if (along == 0 || along > MOST_BLOCKS || launch->grid[axis] % along != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    blocks *= along;
  }
  if (blocks > 1 && fake_capability() < FIRST_CAPABILITY) return CUDA_ERROR_INVALID_VALUE;
  return blocks > MOST_BLOCKS ? CUDA_ERROR_INVALID_CLUSTER_SIZE : CUDA_SUCCESS;
}

static CUresult take_attributes(const CUlaunchConfig *config, struct fake_launch *out) {
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *attribute = &config->attrs[i];
    switch ((int)attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      out->cluster[0] = attribute->value.clusterDim.x;
      out->cluster[1] = attribute->value.clusterDim.y;
      out->cluster[2] = attribute->value.clusterDim.z;
      break;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
      out->overlaps = attribute->value.programmaticStreamSerializationAllowed != 0;
      break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: out->cooperative = attribute->value.cooperative != 0; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return check_cluster(out);
}

/* The bytes for arguments are not cleared, which took longer than all else for a launch that is not executed. */
static void make_launch(struct fake_function *function, const unsigned grid[3], const unsigned block[3],
                        unsigned shared_bytes, struct node *out) {
  struct fake_launch *launch = &out->launch;
  out->kind = NODE_LAUNCH;
  launch->function = function;
  launch->shared_bytes = shared_bytes;
  launch->overlaps = launch->cooperative = false;
  for (int axis = 0; axis < 3; axis++) {
    launch->grid[axis] = grid[axis];
    launch->block[axis] = block[axis];
    launch->cluster[axis] = 1;
  }
}

CUresult fake_launch_with(const CUlaunchConfig *config, CUfunction handle, void **arguments, void **extra) {
  struct fake_function *function = (struct fake_function *)(void *)handle;
  struct fake_damage damage = {0};
  const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  const unsigned block[] = {config->blockDimX, config->blockDimY, config->blockDimZ};
  struct node node;
  make_launch(function, grid, block, config->sharedMemBytes, &node);
  ENTER_ABOUT("cuLaunchKernelEx", function ? function->module->source : NULL, &damage);
  NEED_CONTEXT();
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  CUresult result = check_launch(function, node.launch.grid, node.launch.block, config->sharedMemBytes);
  if (result == CUDA_SUCCESS) result = take_attributes(config, &node.launch);
  if (result == CUDA_SUCCESS) result = copy_arguments(function->kernel, arguments, node.launch.arguments);
  return result == CUDA_SUCCESS ? submit(config->hStream, &node, &damage) : result;
}

CUresult fake_launch(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **arguments,
                     void **extra) {
  struct fake_function *function = (struct fake_function *)(void *)handle;
  struct fake_damage damage = {0};
  const unsigned grid[] = {grid_x, grid_y, grid_z}, block[] = {block_x, block_y, block_z};
  struct node node;
  make_launch(function, grid, block, shared_bytes, &node);
  ENTER_ABOUT("cuLaunchKernel", function ? function->module->source : NULL, &damage);
  NEED_CONTEXT();
  if (!function) return CUDA_ERROR_INVALID_HANDLE;
  if (extra) return CUDA_ERROR_NOT_SUPPORTED;
  CUresult result = check_launch(function, node.launch.grid, node.launch.block, shared_bytes);
  if (result == CUDA_SUCCESS) result = copy_arguments(function->kernel, arguments, node.launch.arguments);
  return result == CUDA_SUCCESS ? submit(stream, &node, &damage) : result;
}

bool fake_is_capturing(CUstream stream) { return stream_of(stream)->capture != NULL; }

CUresult fake_stream_create(CUstream *stream, unsigned flags) {
  (void)flags;
  ENTER("cuStreamCreate");
  NEED_CONTEXT();
  struct stream *new = calloc(1, sizeof *new);
  *stream = (CUstream)(void *)new;
  if (!new) return CUDA_ERROR_OUT_OF_MEMORY;
  new->is_lazy = fake_number("HALOTUNE_FAKE_LAZY", 0) >> streams_made & 1;
  if (streams_made < 62) streams_made++;
  new->next = streams;
  streams = new;
  return CUDA_SUCCESS;
}

CUresult fake_stream_destroy(CUstream stream) {
  ENTER("cuStreamDestroy_v2");
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  struct stream *old = stream_of(stream), **link = &streams;
  if (old == &default_stream) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult result = fake_drain_all(); /* others may wait for it */
  while (*link && *link != old) link = &(*link)->next;
  if (*link) *link = old->next;
  free(old->queue);
  free(old);
  return result;
}

CUresult fake_stream_synchronize(CUstream stream) {
  ENTER("cuStreamSynchronize");
  NEED_CONTEXT();
  if (stream_of(stream)->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return drain(stream_of(stream), stream_of(stream)->queued);
}

static struct event *event_of(CUevent handle) { return (struct event *)(void *)handle; }

CUresult fake_event_create(CUevent *event, unsigned flags) {
  (void)flags;
  ENTER("cuEventCreate");
  NEED_CONTEXT();
  struct event *new = calloc(1, sizeof *new);
  *event = (CUevent)(void *)new;
  return new ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_event_destroy(CUevent event) {
  ENTER("cuEventDestroy_v2");
  free(event_of(event));
  return CUDA_SUCCESS;
}

CUresult fake_event_record(CUevent event, CUstream stream) {
  ENTER("cuEventRecord");
  NEED_CONTEXT();
  if (stream_of(stream)->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  struct stream *on = stream_of(stream);
  *event_of(event) = (struct event){
      .is_recorded = true, .at_us = fake_state()->clock_us, .stream = on->is_lazy ? on : NULL, .behind = on->queued};
  return CUDA_SUCCESS;
}

CUresult fake_event_synchronize(CUevent event) {
  ENTER("cuEventSynchronize");
  NEED_CONTEXT();
  return event_of(event)->stream ? drain(event_of(event)->stream, event_of(event)->behind) : CUDA_SUCCESS;
}

CUresult fake_stream_wait(CUstream stream, CUevent event) {
  const struct event *until = event_of(event);
  if (!until->stream) return CUDA_SUCCESS;
  if (!stream_of(stream)->is_lazy) return drain(until->stream, until->behind);
  return enqueue(stream_of(stream),
                 &(struct node){.kind = NODE_WAIT, .waits_for = until->stream, .waits_until = until->behind});
}

CUresult fake_event_time(float *time_ms, CUevent start, CUevent end) {
  ENTER("cuEventElapsedTime");
  if (!event_of(start)->is_recorded || !event_of(end)->is_recorded) return CUDA_ERROR_INVALID_HANDLE;
  *time_ms = (float)((event_of(end)->at_us - event_of(start)->at_us) * 1e-3);
  return CUDA_SUCCESS;
}

static struct graph *graph_new(void) { return calloc(1, sizeof(struct graph)); }

static void graph_free(struct graph *graph) {
  if (graph) free(graph->nodes);
  free(graph);
}

CUresult fake_capture_begin(CUstream stream, CUstreamCaptureMode mode) {
  (void)mode;
  ENTER("cuStreamBeginCapture_v2");
  NEED_CONTEXT();
  if (!stream || stream_of(stream)->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  stream_of(stream)->capture = graph_new();
  return stream_of(stream)->capture ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult fake_capture_end(CUstream stream, CUgraph *graph) {
  ENTER("cuStreamEndCapture");
  *graph = (CUgraph)(void *)stream_of(stream)->capture;
  stream_of(stream)->capture = NULL;
  return *graph ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult fake_stream_is_capturing(CUstream stream, CUstreamCaptureStatus *status) {
  ENTER("cuStreamIsCapturing");
  *status = stream_of(stream)->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult fake_graph_instantiate(CUgraphExec *exec, CUgraph handle, unsigned long long flags) {
  (void)flags;
  ENTER("cuGraphInstantiateWithFlags");
  const struct graph *graph = (const struct graph *)(const void *)handle;
  struct graph *copy = graph_new();
  *exec = NULL;
  if (!copy) return CUDA_ERROR_OUT_OF_MEMORY;
  copy->nodes = calloc((size_t)graph->count + 1, sizeof *copy->nodes);
  if (!copy->nodes) return free(copy), CUDA_ERROR_OUT_OF_MEMORY;
  copy->count = graph->count;
  memcpy(copy->nodes, graph->nodes, (size_t)graph->count * sizeof *copy->nodes);
  *exec = (CUgraphExec)(void *)copy;
  return CUDA_SUCCESS;
}

CUresult fake_graph_launch(CUgraphExec handle, CUstream stream) {
  const struct graph *graph = (const struct graph *)(const void *)handle;
  const struct fake_function *function =
      graph && graph->nodes && graph->nodes[0].kind == NODE_LAUNCH ? graph->nodes[0].launch.function : NULL;
  struct fake_damage damage = {0};
  ENTER_ABOUT("cuGraphLaunch", function ? function->module->source : NULL, &damage);
  NEED_CONTEXT();
  if (!graph) return CUDA_ERROR_INVALID_HANDLE;
  if (stream_of(stream)->capture) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult drained = drain(stream_of(stream), stream_of(stream)->queued);
  if (drained != CUDA_SUCCESS) return drained;
  for (int i = 0; graph->nodes && i < graph->count; i++) {
    /* Only the last launch damages memory. */
    const struct fake_damage stretch = {.stretch = damage.stretch};
    CUresult result = run_node(&graph->nodes[i], true, i + 1 == graph->count ? &damage : &stretch);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CUresult fake_graph_exec_destroy(CUgraphExec exec) {
  ENTER("cuGraphExecDestroy");
  graph_free((struct graph *)(void *)exec);
  return CUDA_SUCCESS;
}

CUresult fake_graph_destroy(CUgraph graph) {
  ENTER("cuGraphDestroy");
  graph_free((struct graph *)(void *)graph);
  return CUDA_SUCCESS;
}
