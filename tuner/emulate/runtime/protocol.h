/* protocol.h: the messages between program and runner. A request is one struct in one message of a SOCK_SEQPACKET
 * socket, together with the descriptors of its buffers. The runner answers with one struct emulation_outcome, and ends
 * after any outcome that is not EMULATION_OK. If the request counts, a struct emulation_counts follows. Both run on one
 * machine, so structs of fixed-size members need no packing. */
#ifndef EMULATE_RUNTIME_PROTOCOL_H
#define EMULATE_RUNTIME_PROTOCOL_H

#include "tuner/emulate/runtime/outcome.h"

enum {
  EMULATION_MAX_ARGUMENTS = 96,
  EMULATION_MAX_BUFFERS = 40,
  EMULATION_PARAMETER_BYTES = 4096, /* of all arguments together, as on a GPU */
  EMULATION_NAME_BYTES = 256,
  EMULATION_CANARY_BYTES = 16384, /* before each buffer, and at least as much after it; a multiple of a page */
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
  uint32_t zero_outside; /* not 0: outside is 0; else the nearest texel */
};

/* The shape of a tensor map. */
struct emulation_wire_tensor {
  uint64_t extents[3], row_bytes, plane_bytes; /* extents in elements, x first; 1 beyond the rank */
  uint32_t box[3];                             /* elements of one copy */
  uint32_t rank, element_bytes;
  uint32_t unused;
};

struct emulation_wire_argument {
  uint32_t kind;
  uint32_t buffer;       /* number of the buffer, for all kinds except bytes */
  uint64_t offset_bytes; /* from the buffer's start; for bytes: in `parameters` */
  uint64_t bytes;        /* for bytes: their number */
  struct emulation_wire_texture texture;
  struct emulation_wire_tensor tensor;
};

/* The file of a buffer holds a canary, the bytes, and a canary up to the end. */
struct emulation_wire_buffer {
  uint64_t bytes, file_bytes;
  uint64_t argument; /* the first argument that passes the buffer, for reports */
  uint64_t sparse;   /* not 0: most of it is never accessed */
};

struct emulation_request {
  char kernel[EMULATION_NAME_BYTES];
  uint32_t grid[3], block[3];
  uint32_t cluster[3]; /* blocks; each number divides that of the grid */
  /* not 0: buffers are inaccessible until the kernel has waited for the work before it */
  uint32_t overlaps;
  uint32_t cooperative;               /* not 0: all blocks are live at the same time */
  uint32_t thread_order, block_order; /* enum emulation_order; blocks have no random order */
  uint64_t seed;
  uint64_t counts;        /* not 0: only one block runs, with its cluster, and its accesses are counted */
  uint64_t counted_block; /* its number in the launch */
  uint64_t shared_bytes;
  uint64_t timeout_ms; /* processor time */
  uint32_t argument_count, buffer_count;
  struct emulation_wire_argument arguments[EMULATION_MAX_ARGUMENTS];
  struct emulation_wire_buffer buffers[EMULATION_MAX_BUFFERS];
  unsigned char parameters[EMULATION_PARAMETER_BYTES];
};

#endif
