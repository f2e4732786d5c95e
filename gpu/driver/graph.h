/* graph.h: records launches into a CUDA graph. */
#ifndef GPU_DRIVER_GRAPH_H
#define GPU_DRIVER_GRAPH_H

#include <stdbool.h>

#include "gpu/driver/cu.h"

/* Record what `submit` launches into a graph that can be launched any number of times.
 *   submit  launches on the stream that it gets, and does nothing else on the GPU. Nothing is executed. If it fails,
 *           so does this function
 *   out     receives the graph, which cu->graph_exec_destroy ends; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_NO_GPU with the driver's error; or what `submit` returns. The thread needs a current
 * context. */
halotune_status graph_record(const struct cu *cu, halotune_status (*submit)(void *context, CUstream stream),
                             void *context, CUgraphExec *out);

/* Whether launches on a stream are being captured, or are forbidden because another stream is being captured. */
bool stream_is_capturing(const struct cu *cu, CUstream stream);

#endif
