/* graph.c: captures a stream of its own, so that the caller's stream does not change. */
#include "gpu/driver/graph.h"

halotune_status graph_record(const struct cu *cu, halotune_status (*submit)(void *context, CUstream stream),
                             void *context, CUgraphExec *out) {
  CUstream stream = NULL;
  CUgraph graph = NULL;
  *out = NULL;
  halotune_status status = cu_check(cu, cu->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  if (status != HALOTUNE_OK) return status;
  status = cu_check(cu, cu->capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  if (status == HALOTUNE_OK) {
    status = submit(context, stream);
    const CUresult ended = cu->capture_end(stream, &graph); /* a capture must be ended after a failure, too */
    if (status == HALOTUNE_OK) status = cu_check(cu, ended, "cuStreamEndCapture");
  }
  if (status == HALOTUNE_OK) status = cu_check(cu, cu->graph_instantiate(out, graph, 0), "cuGraphInstantiate");
  if (status != HALOTUNE_OK) *out = NULL;
  if (graph) cu->graph_destroy(graph);
  cu->stream_destroy(stream);
  return status;
}

bool stream_is_capturing(const struct cu *cu, CUstream stream) {
  CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
  return cu->stream_is_capturing(stream, &state) != CUDA_SUCCESS || state != CU_STREAM_CAPTURE_STATUS_NONE;
}
