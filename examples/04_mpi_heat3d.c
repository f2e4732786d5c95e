/* 04_mpi_heat3d.c: heat, or an acoustic wave, in three dimensions over any number of GPUs. Each rank of MPI has a GPU
 * and a part of the grid.
 *
 *   mpicc 04_mpi_heat3d.c $(pkg-config --cflags --libs halotune) -I/usr/local/cuda/include -lcuda -o mpi_heat3d
 *   mpirun -n 2 ./mpi_heat3d --grid 512,512,1024 --steps 400
 *
 * Beside each neighbour, a part has a halo: ghost points behind its own points. A block of time steps is:
 *   edges   pack the own points that neighbours need; send and receive; unpack the ghost points; compute the faces
 *   inside  meanwhile compute the interior, which needs no ghost point
 * `edges` and `inside` are two streams. Interior and faces are boxes of one layout, and their kernels come from one
 * lookup.
 *
 * A block is what one launch makes: one step, or several fused steps. For S steps the halo is S times as deep as the
 * stencil reaches, and there is one exchange for all of them. A launch leaves points outside of its box as they are, so
 * it spoils S - 1 times the reach at the edges of its box: the box is larger by that than the points that count.
 *
 * The kernels are reproducible ones: whatever the box, the template and the number of steps, they round in the same
 * way. So the result has the bits of a run on one GPU. --check compares them. */
#include <cuda.h>
#include <halotune.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum { X, Y, Z, AXES, DIRECTIONS = 27, MOST_BOXES = 7, MOST_FIELDS = 8 };

/* The first `changing` inputs of the stencil change with time. Both stencils are stars. */
static const struct equation {
  const char *name, *stencil;
  int changing;
} equations[] = {{"heat", "star7", 1}, {"wave", "wave25", 2}};

struct options {
  const struct equation *equation;
  int grid[AXES], ranks[AXES]; /* ranks: parts along x, y, z; 0: as MPI_Dims_create likes */
  int steps, repeats;
  int fused;   /* time steps between two exchanges; 0: as many as are the fastest */
  int through; /* messages go 1: through the host, 2: from GPU to GPU, 0: from GPU to GPU if MPI says that it can */
  int check, any_bits, share_gpus;
};

/* A message to a neighbour, and the one from it. */
struct message {
  int rank, send_tag, receive_tag;
  halotune_box send, receive; /* own points, ghost points */
  size_t at, points;          /* place in the buffers, and points of each field */
};

struct solver {
  struct options options;
  MPI_Comm comm; /* a grid of ranks; its axes are z, y, x */
  int rank, size, parts[AXES], place[AXES];

  int reach[AXES], fused; /* fused: time steps of a block */
  long long n[AXES];      /* points of the local grid, with ghost points */
  long long first[AXES];  /* the local point 0 in the whole grid */
  halotune_box own;       /* own points in the local grid */

  halotune_ctx *ctx;
  halotune_kernel *kernels[MOST_BOXES]; /* the interior, then the faces */
  halotune_box boxes[MOST_BOXES];       /* the points that count of what each kernel computes */
  int box_count;
  double weights[7]; /* of star7 */

  void *fields[MOST_FIELDS];  /* inputs, then outputs, as halotune_run sorts them */
  void *scratch[MOST_FIELDS]; /* outputs of faces, if a block has several steps */
  int input_count, output_count;
  struct message messages[DIRECTIONS];
  int message_count, sent_fields;
  size_t halo_points;                       /* of all messages */
  float *send, *receive;                    /* what MPI gets: on the host, or on the GPU */
  void *gpu_send, *gpu_receive, *gpu_spare; /* gpu_spare: a face on its way from scratch to field */
  CUstream edges, inside;
  CUevent faces_done, inside_done[2];
  int blocks; /* blocks so far */
};

/* --- errors */

static void stop(const char *format, ...) {
  int rank;
  va_list list;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "mpi_heat3d: rank %d: ", rank);
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* An error that all ranks find: only rank 0 tells it. */
static void refuse(const struct solver *s, const char *format, ...) {
  va_list list;
  va_start(list, format);
  if (s->rank == 0) {
    fprintf(stderr, "mpi_heat3d: ");
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
  }
  va_end(list);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  exit(2);
}

static void cuda(CUresult result) {
  const char *text = NULL;
  if (result == CUDA_SUCCESS) return;
  cuGetErrorString(result, &text);
  stop("CUDA: %s", text ? text : "unknown error");
}

static void halotune(halotune_status status) {
  if (status != HALOTUNE_OK) stop("%s: %s", halotune_strstatus(status), halotune_error(NULL));
}

/* --- memory of the GPU */

static void *gpu_memory(size_t bytes) {
  CUdeviceptr pointer;
  cuda(cuMemAlloc(&pointer, bytes > 0 ? bytes : 1));
  return (void *)(uintptr_t)pointer;
}

static CUdeviceptr address(const void *gpu_pointer) { return (CUdeviceptr)(uintptr_t)gpu_pointer; }

static void gpu_free(void *gpu_pointer) { cuda(cuMemFree(address(gpu_pointer))); }

static size_t points_of(const halotune_box *box) {
  size_t points = 1;
  for (int axis = X; axis < AXES; axis++) points *= (size_t)(box->high[axis] - box->low[axis]);
  return points;
}

/* --- the parts of the grid */

/* Divide the grid among the ranks. */
static void divide(struct solver *s) {
  int zyx[AXES], place[AXES];
  const int periods[AXES] = {0, 0, 0};
  /* MPI makes the first of these numbers the largest. Planes are what is packed fastest, so that is z. */
  for (int axis = X; axis < AXES; axis++) zyx[Z - axis] = s->options.ranks[axis];
  if (zyx[0] == 0) MPI_Dims_create(s->size, AXES, zyx);
  if (zyx[0] * zyx[1] * zyx[2] != s->size)
    refuse(s, "--ranks %d,%d,%d asks for %d ranks, and there are %d", zyx[2], zyx[1], zyx[0], zyx[0] * zyx[1] * zyx[2],
           s->size);
  MPI_Cart_create(MPI_COMM_WORLD, AXES, zyx, periods, 0, &s->comm);
  MPI_Cart_coords(s->comm, s->rank, AXES, place);
  for (int axis = X; axis < AXES; axis++) {
    s->parts[axis] = zyx[Z - axis];
    s->place[axis] = place[Z - axis];
  }
}

/* The least of the numbers that the ranks give. */
static int least_of_all(const struct solver *s, int number) {
  int least;
  MPI_Allreduce(&number, &least, 1, MPI_INT, MPI_MIN, s->comm);
  return least;
}

/* Whether there is a neighbour along an axis, on the side -1 or 1. */
static int has_neighbour(const struct solver *s, int axis, int side) {
  return s->place[axis] + side >= 0 && s->place[axis] + side < s->parts[axis];
}

static int depth(const struct solver *s, int axis) { return s->fused * s->reach[axis]; } /* of the halo, in points */

/* The most steps of a block for which each part is larger than its faces. */
static int most_fused(const struct solver *s) {
  int most = 1 << 20;
  for (int axis = X; axis < AXES; axis++) {
    const int smallest = s->options.grid[axis] / s->parts[axis];
    if (s->parts[axis] > 1 && (smallest - 1) / (2 * s->reach[axis]) < most)
      most = (smallest - 1) / (2 * s->reach[axis]);
  }
  return most;
}

/* Lay out the local grid: own points, and ghost points beside each neighbour. */
static void lay_out(struct solver *s) {
  for (int axis = X; axis < AXES; axis++) {
    const long long points = s->options.grid[axis], begin = points * s->place[axis] / s->parts[axis],
                    end = points * (s->place[axis] + 1) / s->parts[axis];
    const int below = has_neighbour(s, axis, -1) ? depth(s, axis) : 0,
              above = has_neighbour(s, axis, 1) ? depth(s, axis) : 0;
    s->first[axis] = begin - below;
    s->n[axis] = below + end - begin + above;
    s->own.low[axis] = below;
    s->own.high[axis] = below + end - begin;
  }
}

/* Cut the own points into the interior and a face beside each neighbour, without points that no step computes. */
static void cut(struct solver *s) {
  halotune_box rest = s->own;
  s->box_count = 1;
  for (int axis = X; axis < AXES; axis++) {
    if (!has_neighbour(s, axis, -1)) rest.low[axis] = s->reach[axis];
    if (!has_neighbour(s, axis, 1)) rest.high[axis] = s->n[axis] - s->reach[axis];
  }
  for (int axis = Z; axis >= X; axis--) {
    if (has_neighbour(s, axis, -1)) {
      halotune_box *face = &s->boxes[s->box_count++];
      *face = rest;
      rest.low[axis] = face->high[axis] = rest.low[axis] + depth(s, axis);
    }
    if (has_neighbour(s, axis, 1)) {
      halotune_box *face = &s->boxes[s->box_count++];
      *face = rest;
      rest.high[axis] = face->low[axis] = rest.high[axis] - depth(s, axis);
    }
  }
  s->boxes[0] = rest;
}

/* The box of a launch: the points that count, and around them those that its steps before the last one need. */
static halotune_layout layout_of(const struct solver *s, const halotune_box *box) {
  halotune_layout layout = {0, 0, {0, 0, 0}, {0, 0, 0}};
  for (int axis = X; axis < AXES; axis++) {
    const long long more = (long long)(s->fused - 1) * s->reach[axis], least = s->reach[axis],
                    most = s->n[axis] - s->reach[axis];
    layout.low[axis] = box->low[axis] - more > least ? box->low[axis] - more : least;
    layout.high[axis] = box->high[axis] + more < most ? box->high[axis] + more : most;
  }
  return layout;
}

/* --- kernels */

static halotune_config look_up(const struct solver *s, const long long n[AXES], int steps) {
  halotune_problem problem;
  halotune_config config;
  memset(&problem, 0, sizeof problem);
  problem.stencil = s->options.equation->stencil;
  problem.dtype = HALOTUNE_F32;
  problem.reproducible = !s->options.any_bits;
  problem.steps = steps;
  for (int axis = X; axis < AXES; axis++) problem.grid[axis] = n[axis];
  halotune(halotune_lookup(s->ctx, &problem, &config));
  return config;
}

static const double *weights(const struct solver *s) {
  return strcmp(s->options.equation->stencil, "star7") == 0 ? s->weights : NULL; /* NULL: those of the stencil's file */
}

/* Make the kernels of interior and faces. All ranks need equally many steps in a block: ask for fewer until that is
 * so. */
static halotune_config make_kernels(struct solver *s) {
  halotune_config config;
  halotune_kernel_facts facts;
  const int most = most_fused(s);
  s->fused = s->options.fused;
  if (most < 1 || s->fused > most)
    refuse(
        s,
        "a part of the grid is too small: it needs more points than twice the halo's depth along an axis that is cut");
  s->fused = s->fused > 0 ? s->fused : 1;
  lay_out(s);
  if (s->options.fused == 0) {
    config = look_up(s, s->n, s->size == 1 ? HALOTUNE_STEPS_ANY : most);
    s->fused = least_of_all(s, config.steps);
  }
  for (;;) {
    halotune_layout layouts[MOST_BOXES];
    lay_out(s);
    cut(s);
    config = look_up(s, s->n, s->fused);
    for (int i = 0; i < s->box_count; i++) layouts[i] = layout_of(s, &s->boxes[i]);
    halotune(halotune_kernel_create_boxes(s->ctx, &config, weights(s), layouts, s->box_count, s->kernels));
    halotune_kernel_info(s->kernels[0], &facts);
    const int least = least_of_all(s, facts.steps);
    s->input_count = facts.input_count;
    s->output_count = facts.output_count;
    if (least == s->fused) return config;
    for (int i = 0; i < s->box_count; i++) halotune_kernel_free(s->kernels[i]);
    s->fused = least;
  }
}

/* --- fields */

/* The value of an input at a point of the whole grid at the beginning. */
static float start(int input, long long x, long long y, long long z) {
  const float value = (float)((x * 7 + y * 13 + z * 29) % 101) / 101.0F;
  return input < 2 ? value : 4.0F + value; /* the third input of the wave is the squared velocity */
}

/* Make the fields of a grid whose point 0 is `first` of the whole grid. Buffers that change places hold the same
 * numbers at the beginning, because no step computes the outermost points. */
static void make_fields(int inputs, int outputs, const long long n[AXES], const long long first[AXES], void *fields[]) {
  const size_t points = (size_t)(n[X] * n[Y] * n[Z]);
  float *values = malloc(points * sizeof *values);
  if (!values) stop("out of memory");
  for (int i = 0; i < inputs + outputs; i++) {
    float *next = values;
    for (long long z = 0; z < n[Z]; z++) {
      for (long long y = 0; y < n[Y]; y++) {
        for (long long x = 0; x < n[X]; x++)
          *next++ = start(i < inputs ? i : 0, first[X] + x, first[Y] + y, first[Z] + z);
      }
    }
    fields[i] = gpu_memory(points * sizeof *values);
    cuda(cuMemcpyHtoD(address(fields[i]), values, points * sizeof *values));
  }
  free(values);
}

/* --- the halo */

/* Plan the messages: one for each neighbour whose points a block needs. In S steps, a star reaches neighbours that lie
 * askew along at most S axes. */
static void plan_messages(struct solver *s) {
  for (int direction = 0; direction < DIRECTIONS; direction++) {
    const int to[AXES] = {direction % 3 - 1, direction / 3 % 3 - 1, direction / 9 - 1};
    struct message *m = &s->messages[s->message_count];
    int zyx[AXES], askew = 0, exists = 1;
    m->send = m->receive = s->own;
    for (int axis = X; axis < AXES; axis++) {
      const int deep = depth(s, axis);
      zyx[Z - axis] = s->place[axis] + to[axis];
      if (to[axis] == 0) continue;
      askew++;
      exists = exists && has_neighbour(s, axis, to[axis]);
      if (to[axis] < 0) {
        m->send.high[axis] = s->own.low[axis] + deep;
        m->receive.low[axis] = s->own.low[axis] - deep;
        m->receive.high[axis] = s->own.low[axis];
      } else {
        m->send.low[axis] = s->own.high[axis] - deep;
        m->receive.low[axis] = s->own.high[axis];
        m->receive.high[axis] = s->own.high[axis] + deep;
      }
    }
    if (askew == 0 || !exists || askew > s->fused) continue;
    MPI_Cart_rank(s->comm, zyx, &m->rank);
    m->send_tag = direction;
    m->receive_tag = DIRECTIONS - 1 - direction; /* the neighbour sends in the opposite direction */
    m->at = s->halo_points;
    m->points = points_of(&m->send);
    s->halo_points += m->points;
    s->message_count++;
  }
  /* One step reads the wave's u_prev at the point only. */
  s->sent_fields = s->fused > 1 ? s->options.equation->changing : 1;
}

static int mpi_takes_gpu_memory(void) {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support();
#else
  return 0; /* unknown: --through gpu says so */
#endif
}

static void make_buffers(struct solver *s) {
  const size_t bytes = s->halo_points * (size_t)s->sent_fields * sizeof(float);
  size_t largest = 0;
  if (s->options.through == 0) s->options.through = mpi_takes_gpu_memory() ? 2 : 1;
  s->gpu_send = gpu_memory(bytes);
  s->gpu_receive = gpu_memory(bytes);
  if (s->options.through == 2) {
    s->send = s->gpu_send;
    s->receive = s->gpu_receive;
  } else { /* pinned memory */
    cuda(cuMemHostAlloc((void **)&s->send, bytes > 0 ? bytes : 1, 0));
    cuda(cuMemHostAlloc((void **)&s->receive, bytes > 0 ? bytes : 1, 0));
  }
  for (int i = 1; i < s->box_count; i++)
    largest = points_of(&s->boxes[i]) > largest ? points_of(&s->boxes[i]) : largest;
  s->gpu_spare = gpu_memory(largest * sizeof(float));
  for (int i = 0; i < s->output_count && s->fused > 1; i++)
    s->scratch[i] = gpu_memory((size_t)(s->n[X] * s->n[Y] * s->n[Z]) * sizeof(float));
}

/* The place of a field of a message in a buffer on the GPU. */
static float *place_of(const struct solver *s, void *buffer, const struct message *m, int field) {
  return (float *)buffer + m->at * (size_t)s->sent_fields + m->points * (size_t)field;
}

/* Pack what neighbours need. The interior is launched before exchange_halo. */
static void pack_halo(struct solver *s) {
  for (int i = 0; i < s->message_count; i++) {
    const struct message *m = &s->messages[i];
    for (int k = 0; k < s->sent_fields; k++)
      halotune(halotune_pack(s->kernels[0], s->edges, k, &m->send, s->fields[k], place_of(s, s->gpu_send, m, k)));
  }
  if (s->options.through == 1)
    cuda(cuMemcpyDtoHAsync(s->send, address(s->gpu_send), s->halo_points * (size_t)s->sent_fields * sizeof(float),
                           s->edges));
}

/* Send and receive the halo, and unpack it. */
static void exchange_halo(struct solver *s) {
  MPI_Request requests[2 * DIRECTIONS];
  MPI_Status statuses[2 * DIRECTIONS];
  /* Now all is packed, and the ghost points of the block before are unpacked. The interior is still being computed. */
  cuda(cuStreamSynchronize(s->edges));
  for (int i = 0; i < s->message_count; i++) {
    const struct message *m = &s->messages[i];
    MPI_Irecv(s->receive + m->at * (size_t)s->sent_fields, (int)m->points * s->sent_fields, MPI_FLOAT, m->rank,
              m->receive_tag, s->comm, &requests[i]);
  }
  for (int i = 0; i < s->message_count; i++) {
    const struct message *m = &s->messages[i];
    MPI_Isend(s->send + m->at * (size_t)s->sent_fields, (int)m->points * s->sent_fields, MPI_FLOAT, m->rank,
              m->send_tag, s->comm, &requests[s->message_count + i]);
  }
  MPI_Waitall(2 * s->message_count, requests, statuses);
  if (s->options.through == 1)
    cuda(cuMemcpyHtoDAsync(address(s->gpu_receive), s->receive, s->halo_points * (size_t)s->sent_fields * sizeof(float),
                           s->edges));
  for (int i = 0; i < s->message_count; i++) {
    const struct message *m = &s->messages[i];
    for (int k = 0; k < s->sent_fields; k++)
      halotune(
          halotune_unpack(s->kernels[0], s->edges, k, &m->receive, place_of(s, s->gpu_receive, m, k), s->fields[k]));
  }
}

/* --- time steps */

/* Compute a face. A launch of several steps spoils points beside the face, so it writes to scratch, and the points that
 * count are copied from there to where the interior has its results. */
static void compute_face(struct solver *s, int box, int steps, void *const results[]) {
  void *fields[MOST_FIELDS];
  memcpy(fields, s->fields, sizeof fields);
  for (int i = 0; i < s->output_count && s->fused > 1; i++) fields[s->input_count + i] = s->scratch[i];
  halotune(halotune_run(s->kernels[box], s->edges, fields, steps));
  for (int i = 0; i < s->input_count; i++) {
    if (fields[i] == results[i]) continue;
    halotune(halotune_pack(s->kernels[box], s->edges, i, &s->boxes[box], fields[i], s->gpu_spare));
    halotune(halotune_unpack(s->kernels[box], s->edges, i, &s->boxes[box], s->gpu_spare, results[i]));
  }
}

/* Advance by one launch's steps, or by one. */
static void advance_block(struct solver *s, int steps) {
  const CUevent before = s->inside_done[s->blocks % 2], now = s->inside_done[(s->blocks + 1) % 2];
  void *results[MOST_FIELDS];
  pack_halo(s);

  memcpy(results, s->fields, sizeof results);
  cuda(cuStreamWaitEvent(s->inside, s->faces_done, 0)); /* those of the block before */
  halotune(halotune_run(s->kernels[0], s->inside, results, steps));
  cuda(cuEventRecord(now, s->inside));

  exchange_halo(s);
  /* Faces read the interior of the block before. With several steps, the interior spoils points of faces. */
  cuda(cuStreamWaitEvent(s->edges, s->fused > 1 ? now : before, 0));
  for (int i = 1; i < s->box_count; i++) compute_face(s, i, steps, results);
  cuda(cuEventRecord(s->faces_done, s->edges));
  memcpy(s->fields, results, sizeof results);
  s->blocks++;
}

static void advance(struct solver *s, int steps) {
  if (s->size == 1) halotune(halotune_run(s->kernels[0], s->inside, s->fields, steps));
  while (s->size > 1 && steps > 0) {
    const int block = steps >= s->fused ? s->fused : 1;
    advance_block(s, block);
    steps -= block;
  }
  cuda(cuStreamSynchronize(s->edges));
  cuda(cuStreamSynchronize(s->inside));
}

/* --- the check */

/* Copy a box of a field to the host. */
static float *fetch(halotune_kernel *kernel, int field, const halotune_box *box, void *from) {
  const size_t bytes = points_of(box) * sizeof(float);
  void *dense = gpu_memory(bytes);
  float *values = malloc(bytes);
  if (!values) stop("out of memory");
  halotune(halotune_pack(kernel, NULL, field, box, from, dense));
  cuda(cuCtxSynchronize());
  cuda(cuMemcpyDtoH(values, address(dense), bytes));
  gpu_free(dense);
  return values;
}

/* Compute the whole grid on this GPU alone, and count the own points whose bits differ. The GPU must hold the grid. */
static long long count_differences(struct solver *s) {
  const long long none[AXES] = {0, 0, 0};
  long long n[AXES], differences = 0, sum;
  halotune_kernel *kernel;
  halotune_kernel_facts facts;
  halotune_box own = s->own;
  void *fields[MOST_FIELDS];
  for (int axis = X; axis < AXES; axis++) {
    n[axis] = s->options.grid[axis];
    own.low[axis] += s->first[axis];
    own.high[axis] += s->first[axis];
  }
  const halotune_config config = look_up(s, n, HALOTUNE_STEPS_ANY);
  halotune(halotune_kernel_create(s->ctx, &config, weights(s), NULL, &kernel));
  halotune_kernel_info(kernel, &facts);
  make_fields(facts.input_count, facts.output_count, n, none, fields);
  halotune(halotune_run(kernel, NULL, fields, s->options.steps));
  cuda(cuCtxSynchronize());
  for (int i = 0; i < s->options.equation->changing; i++) {
    float *want = fetch(kernel, i, &own, fields[i]), *got = fetch(s->kernels[0], i, &s->own, s->fields[i]);
    for (size_t k = 0; k < points_of(&own); k++) differences += memcmp(&want[k], &got[k], sizeof(float)) != 0;
    free(want);
    free(got);
  }
  for (int i = 0; i < facts.input_count + facts.output_count; i++) gpu_free(fields[i]);
  halotune_kernel_free(kernel);
  MPI_Allreduce(&differences, &sum, 1, MPI_LONG_LONG, MPI_SUM, s->comm);
  return sum;
}

/* --- GPUs and options */

/* Take a GPU of this host: the ranks of a host count from 0. Two ranks on one GPU are refused unless asked for. */
static void take_gpu(struct solver *s) {
  MPI_Comm host;
  CUdevice device;
  CUcontext context;
  CUuuid mine, all[1024];
  int place, ranks, gpus = 0, same = 0, any;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_rank(host, &place);
  MPI_Comm_size(host, &ranks);
  const int usable = cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&gpus) == CUDA_SUCCESS && gpus > 0;
  if (!least_of_all(s, usable)) refuse(s, "a host has no CUDA driver, or no GPU");
  cuda(cuDeviceGet(&device, place % gpus));
  cuda(cuDeviceGetUuid(&mine, device));
  if (ranks > (int)(sizeof all / sizeof *all)) stop("more than 1024 ranks on a host");
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, host);
  for (int i = 0; i < ranks; i++) same = same || (i != place && memcmp(&mine, &all[i], sizeof mine) == 0);
  MPI_Allreduce(&same, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (any && !s->options.share_gpus)
    refuse(s, "two ranks have the same GPU: start fewer ranks on a host, or allow it with --share-gpus");
  cuda(cuDevicePrimaryCtxRetain(&context, device));
  cuda(cuCtxSetCurrent(context));
  MPI_Comm_free(&host);
}

/* Read three numbers: "512,512,1024". */
static int read_triple(const char *text, int out[AXES]) {
  char more;
  return sscanf(text, "%d,%d,%d%c", &out[X], &out[Y], &out[Z], &more) == 3 && out[X] > 0 && out[Y] > 0 && out[Z] > 0;
}

static int read_number(const char *text, int least, int *out) {
  char more;
  return sscanf(text, "%d%c", out, &more) == 1 && *out >= least;
}

/* Read the options. Returns the one that is wrong; NULL if all are right. */
static const char *read_options(int argc, char **argv, struct options *o) {
  for (int i = 1; i < argc; i++) {
    const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : "";
    int has_value = 1, is_right = 0;
    if (strcmp(name, "--equation") == 0) {
      for (size_t k = 0; k < sizeof equations / sizeof *equations; k++) {
        if (strcmp(value, equations[k].name) != 0) continue;
        o->equation = &equations[k];
        is_right = 1;
      }
    } else if (strcmp(name, "--grid") == 0) {
      is_right = read_triple(value, o->grid);
    } else if (strcmp(name, "--ranks") == 0) {
      is_right = read_triple(value, o->ranks);
    } else if (strcmp(name, "--steps") == 0) {
      is_right = read_number(value, 1, &o->steps);
    } else if (strcmp(name, "--fused") == 0) {
      is_right = read_number(value, 1, &o->fused);
    } else if (strcmp(name, "--repeat") == 0) {
      is_right = read_number(value, 0, &o->repeats);
    } else if (strcmp(name, "--through") == 0) {
      o->through = strcmp(value, "host") == 0 ? 1 : strcmp(value, "gpu") == 0 ? 2 : 0;
      is_right = o->through > 0;
    } else {
      int *flag = strcmp(name, "--check") == 0        ? &o->check
                  : strcmp(name, "--any-bits") == 0   ? &o->any_bits
                  : strcmp(name, "--share-gpus") == 0 ? &o->share_gpus
                                                      : NULL;
      has_value = 0;
      is_right = flag != NULL;
      if (flag) *flag = 1;
    }
    if (!is_right) return name;
    i += has_value;
  }
  return NULL;
}

static void time_steps(struct solver *s) {
  const struct options *o = &s->options;
  double fastest_s = 0, points = 1;
  for (int axis = X; axis < AXES; axis++) points *= o->grid[axis] - 2 * s->reach[axis];
  for (int i = 0; i < o->repeats; i++) {
    MPI_Barrier(s->comm);
    const double begin_s = MPI_Wtime();
    advance(s, o->steps);
    MPI_Barrier(s->comm);
    const double time_s = MPI_Wtime() - begin_s;
    if (i == 0 || time_s < fastest_s) fastest_s = time_s;
  }
  const double rate = points * o->steps / fastest_s;
  if (s->rank == 0 && o->repeats > 0)
    printf("%.4f ms a step, %.4g points/s, %.4g points/s a GPU\n", fastest_s / o->steps * 1e3, rate, rate / s->size);
}

static void solver_free(struct solver *s) {
  for (int i = 0; i < s->box_count; i++) halotune_kernel_free(s->kernels[i]);
  for (int i = 0; i < s->input_count + s->output_count; i++) gpu_free(s->fields[i]);
  for (int i = 0; i < s->output_count && s->fused > 1; i++) gpu_free(s->scratch[i]);
  if (s->options.through == 1) {
    cuda(cuMemFreeHost(s->send));
    cuda(cuMemFreeHost(s->receive));
  }
  gpu_free(s->gpu_send);
  gpu_free(s->gpu_receive);
  gpu_free(s->gpu_spare);
  cuda(cuStreamDestroy(s->edges));
  cuda(cuStreamDestroy(s->inside));
  cuda(cuEventDestroy(s->faces_done));
  for (int i = 0; i < 2; i++) cuda(cuEventDestroy(s->inside_done[i]));
  halotune_close(s->ctx);
  MPI_Comm_free(&s->comm);
}

int main(int argc, char **argv) {
  static struct solver solver = {
      .options = {.equation = &equations[0], .grid = {512, 512, 512}, .steps = 100, .repeats = 3},
      .weights = {0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}};
  struct solver *s = &solver;
  int least, greatest, differs = 0;
  halotune_stencil_facts stencil;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s->size);
  const char *wrong = read_options(argc, argv, &s->options);
  if (wrong)
    refuse(
        s,
        "%s is wrong; the options are --equation heat|wave --grid X,Y,Z --steps N --ranks X,Y,Z --fused N --through host|gpu "
        "--repeat N --check --any-bits --share-gpus",
        wrong);
  divide(s);
  take_gpu(s);

  halotune(halotune_open(NULL, 0, &s->ctx));
  halotune(halotune_stencil_info(s->ctx, s->options.equation->stencil, &stencil));
  for (int axis = X; axis < AXES; axis++) {
    s->reach[axis] =
        stencil.reach_low[axis] > stencil.reach_high[axis] ? stencil.reach_low[axis] : stencil.reach_high[axis];
  }
  const halotune_config config = make_kernels(s);
  plan_messages(s);
  make_buffers(s);
  make_fields(s->input_count, s->output_count, s->n, s->first, s->fields);
  /* The faces and the halo must not wait for the blocks of the interior that are still to come. */
  cuda(cuCtxGetStreamPriorityRange(&least, &greatest));
  cuda(cuStreamCreateWithPriority(&s->edges, CU_STREAM_NON_BLOCKING, greatest));
  cuda(cuStreamCreateWithPriority(&s->inside, CU_STREAM_NON_BLOCKING, least));
  cuda(cuEventCreate(&s->faces_done, CU_EVENT_DISABLE_TIMING));
  for (int i = 0; i < 2; i++) cuda(cuEventCreate(&s->inside_done[i], CU_EVENT_DISABLE_TIMING));
  if (s->rank == 0) {
    printf("%s on %dx%dx%d points, %d rank%s as %dx%dx%d, %d step%s between exchanges through the %s\n",
           s->options.equation->name, s->options.grid[X], s->options.grid[Y], s->options.grid[Z], s->size,
           s->size == 1 ? "" : "s", s->parts[X], s->parts[Y], s->parts[Z], s->fused, s->fused == 1 ? "" : "s",
           s->options.through == 2 ? "GPU" : "host");
    printf("interior of rank 0: %s: %s %s\n", halotune_match_name(config.match), config.template_name,
           config.parameters);
  }

  advance(s, s->options.steps);
  if (s->options.check) {
    const long long differences = count_differences(s);
    differs = differences > 0;
    if (s->rank == 0 && differs) printf("%lld values differ from those of one GPU\n", differences);
    else if (s->rank == 0) printf("all bits are those of one GPU\n");
  }
  time_steps(s);
  solver_free(s);
  MPI_Finalize();
  return differs;
}
