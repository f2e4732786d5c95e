/* protocol.h: what the program sends to a runner: one struct for each launch, in one message of a SOCK_SEQPACKET socket, with
 * the descriptors of its buffers beside it. The runner answers with one struct emulation_outcome; after any that is not EMULATION_OK
 * it is gone. Both sides are of one machine, so that structs of fixed-size members need no packing. */
#ifndef EMULATE_RUNTIME_PROTOCOL_H
#define EMULATE_RUNTIME_PROTOCOL_H

#include "tuner/emulate/runtime/outcome.h"

enum {
  EMULATION_MAX_ARGUMENTS = 64,
  EMULATION_MAX_BUFFERS = 32,
  EMULATION_PARAMETER_BYTES = 4096, /* of all arguments together, as on a GPU */
  EMULATION_NAME_BYTES = 256,
  EMULATION_CANARY_BYTES = 16384, /* before each buffer, and at least as much behind; a multiple of a page */
  EMULATION_SOCKET = 3,           /* the runner's descriptor of its socket */
};

enum emulation_order { EMULATION_ASCENDING, EMULATION_DESCENDING, EMULATION_RANDOM };

enum emulation_argument_kind {
  EMULATION_ARGUMENT_BUFFER,
  EMULATION_ARGUMENT_BYTES,
  EMULATION_ARGUMENT_TEXTURE,
  EMULATION_ARGUMENT_TENSOR
};

struct emulation_wire_texture {
  uint64_t width, height, pitch_bytes; /* texels, texels, bytes from row to row */
  uint32_t texel_bytes;
  uint32_t zero_outside; /* else the nearest texel */
};

/* A tensor map. */
struct emulation_wire_tensor {
  uint64_t extents[3], row_bytes, plane_bytes; /* extents in elements, x first; 1 beyond the rank */
  uint32_t box[3];                             /* elements of one copy */
  uint32_t rank, element_bytes;
  uint32_t unused;
};

struct emulation_wire_argument {
  uint32_t kind;
  uint32_t buffer;       /* of all but bytes: which */
  uint64_t offset_bytes; /* of all but bytes: from its start; of bytes: where they lie in `parameters` */
  uint64_t bytes;        /* of bytes: how many */
  struct emulation_wire_texture texture;
  struct emulation_wire_tensor tensor;
};

/* A buffer's file holds a canary, the bytes, and canary up to the end. */
struct emulation_wire_buffer {
  uint64_t bytes, file_bytes;
  uint64_t argument; /* the first one that it is passed as, for reports */
  uint64_t sparse;   /* not 0: most of it is never touched */
};

struct emulation_request {
  char kernel[EMULATION_NAME_BYTES];
  uint32_t grid[3], block[3];
  uint32_t cluster[3];                /* blocks; each a divisor of the grid's number */
  uint32_t overlaps;                  /* not 0: no buffer can be touched before the kernel waits for what precedes it */
  uint32_t thread_order, block_order; /* enum emulation_order; blocks have no random one */
  uint64_t seed;
  uint64_t shared_bytes;
  uint64_t timeout_ms; /* of processor time */
  uint32_t argument_count, buffer_count;
  struct emulation_wire_argument arguments[EMULATION_MAX_ARGUMENTS];
  struct emulation_wire_buffer buffers[EMULATION_MAX_BUFFERS];
  unsigned char parameters[EMULATION_PARAMETER_BYTES];
};

#endif
