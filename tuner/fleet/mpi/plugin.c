/* plugin.c: the one file that is compiled with mpi.h, for each MPI. */
#include "tuner/fleet/mpi/plugin.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "include/halotune.h"

enum { TAG = 1, TAG_SIGN = 2 };

static MPI_Comm world = MPI_COMM_NULL, team = MPI_COMM_NULL;

/* Keep the first line of a text. */
static void first_line(char *text, size_t bytes, const char *from) {
  snprintf(text, bytes, "%.*s", (int)strcspn(from, "\r\n"), from);
}

/* Make our own communicator. Its errors are returned, and it gets no messages of other libraries. */
static int world_open(void) {
  int error = MPI_Comm_dup(MPI_COMM_WORLD, &world);
  return error == MPI_SUCCESS ? MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN) : error;
}

static int place_find(struct fleet_mpi_world *out) {
  MPI_Comm host;
  int error = MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  if (error != MPI_SUCCESS) return error;
  if ((error = MPI_Comm_rank(host, &out->local_rank)) == MPI_SUCCESS) error = MPI_Comm_size(host, &out->local_size);
  MPI_Comm_free(&host);
  return error;
}

static int begin_world(struct fleet_mpi_world *out) {
  char name[MPI_MAX_PROCESSOR_NAME] = "", library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int provided = 0, length = 0;
  memset(out, 0, sizeof *out);
  int error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
  if (error == MPI_SUCCESS && provided < MPI_THREAD_FUNNELED) error = MPI_ERR_OTHER;
  if (error == MPI_SUCCESS) error = world_open();
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(world, &out->rank);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(world, &out->size);
  if (error == MPI_SUCCESS) error = place_find(out);
  if (error == MPI_SUCCESS) error = MPI_Get_processor_name(name, &length);
  if (error == MPI_SUCCESS) error = MPI_Get_library_version(library, &length);
  first_line(out->host, sizeof out->host, name);
  first_line(out->library, sizeof out->library, library);
  return error;
}

/* A place for MPI's request, which is an int or a pointer. NULL when memory is out. */
static MPI_Request *request_make(void) {
  MPI_Request *request = malloc(sizeof *request);
  if (request) *request = MPI_REQUEST_NULL;
  return request;
}

static int hand_out(int error, MPI_Request *request, void **out) {
  if (error != MPI_SUCCESS) {
    free(request);
    request = NULL;
  }
  *out = request;
  return error;
}

static int gather_begin(const void *own, void *all, size_t count, void **out) {
  MPI_Request *request = request_make();
  if (!request) return hand_out(MPI_ERR_NO_MEM, NULL, out);
  return hand_out(MPI_Iallgather(own, (int)count, MPI_BYTE, all, (int)count, MPI_BYTE, world, request), request, out);
}

static int split_world(int colour, int *rank, int *size) {
  int error = MPI_Comm_split(world, colour, 0, &team);
  if (error == MPI_SUCCESS) error = MPI_Comm_set_errhandler(team, MPI_ERRORS_RETURN);
  if (error == MPI_SUCCESS) error = MPI_Comm_rank(team, rank);
  if (error == MPI_SUCCESS) error = MPI_Comm_size(team, size);
  return error;
}

static int send_begin(int to, const void *bytes, size_t count, void **out) {
  MPI_Request *request = count <= INT_MAX ? request_make() : NULL;
  if (!request) return hand_out(count <= INT_MAX ? MPI_ERR_NO_MEM : MPI_ERR_COUNT, NULL, out);
  return hand_out(MPI_Isend(bytes, (int)count, MPI_BYTE, to, TAG, team, request), request, out);
}

static int look_for_message(int *from, size_t *count) {
  MPI_Status status;
  int is_there = 0, bytes = 0;
  *from = -1;
  *count = 0;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, TAG, team, &is_there, &status);
  if (error != MPI_SUCCESS || !is_there) return error;
  if ((error = MPI_Get_count(&status, MPI_BYTE, &bytes)) != MPI_SUCCESS) return error;
  if (bytes == MPI_UNDEFINED || bytes < 0) return MPI_ERR_COUNT;
  *from = status.MPI_SOURCE;
  *count = (size_t)bytes;
  return MPI_SUCCESS;
}

static int receive_begin(int from, void *bytes, size_t count, void **out) {
  MPI_Request *request = count <= INT_MAX ? request_make() : NULL;
  if (!request) return hand_out(count <= INT_MAX ? MPI_ERR_NO_MEM : MPI_ERR_COUNT, NULL, out);
  return hand_out(MPI_Irecv(bytes, (int)count, MPI_BYTE, from, TAG, team, request), request, out);
}

static int barrier_begin(bool is_of_job, void **out) {
  MPI_Request *request = request_make();
  if (!request) return hand_out(MPI_ERR_NO_MEM, NULL, out);
  return hand_out(MPI_Ibarrier(is_of_job ? world : team, request), request, out);
}

static int sign_begin(int to, const struct fleet_mpi_sign *sign, void **out) {
  MPI_Request *request = request_make();
  if (!request) return hand_out(MPI_ERR_NO_MEM, NULL, out);
  return hand_out(MPI_Isend(sign, sizeof *sign, MPI_BYTE, to, TAG_SIGN, world, request), request, out);
}

/* MPI delivers so few bytes together with their announcement, so this receive does not wait. */
static int hear_sign(int *from, struct fleet_mpi_sign *sign) {
  MPI_Status status;
  int is_there = 0;
  *from = -1;
  int error = MPI_Iprobe(MPI_ANY_SOURCE, TAG_SIGN, world, &is_there, &status);
  if (error != MPI_SUCCESS || !is_there) return error;
  error = MPI_Recv(sign, sizeof *sign, MPI_BYTE, status.MPI_SOURCE, TAG_SIGN, world, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS) *from = status.MPI_SOURCE;
  return error;
}

static int has_ended(void *place, bool *out) {
  MPI_Request *request = place;
  int ended = 0;
  const int error = MPI_Test(request, &ended, MPI_STATUS_IGNORE);
  *out = ended;
  if (ended || error != MPI_SUCCESS) free(request);
  return error;
}

static void error_text(int error, char text[FLEET_MPI_TEXT_BYTES]) {
  char own[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(error, own, &length) != MPI_SUCCESS) snprintf(own, sizeof own, "error %d of MPI", error);
  first_line(text, FLEET_MPI_TEXT_BYTES, own);
}

static void abort_all(int exit_code) { MPI_Abort(MPI_COMM_WORLD, exit_code); }

static void finish_world(void) {
  if (team != MPI_COMM_NULL) MPI_Comm_free(&team);
  MPI_Comm_free(&world);
  MPI_Finalize();
}

#ifdef OMPI_MAJOR_VERSION
#define KIND "openmpi"
#else
#define KIND "mpich"
#endif

extern const struct fleet_mpi_plugin halotune_mpi_plugin;
__attribute__((visibility("default"))) const struct fleet_mpi_plugin halotune_mpi_plugin = {
    .version = FLEET_MPI_VERSION,
    .kind = KIND,
    .halotune = HALOTUNE_VERSION,
    .begin = begin_world,
    .gather = gather_begin,
    .split = split_world,
    .send = send_begin,
    .look = look_for_message,
    .receive = receive_begin,
    .barrier = barrier_begin,
    .sign = sign_begin,
    .hear = hear_sign,
    .has_ended = has_ended,
    .error_text = error_text,
    .abort = abort_all,
    .finish = finish_world,
};
