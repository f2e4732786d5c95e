/* mpi.h: a stand-in for MPI with one rank, which is its own neighbour: what it sends to itself, it receives. Only what
 * the recipe of docs/cookbook.md calls. */
#ifndef COOKBOOK_MPI_H
#define COOKBOOK_MPI_H

#include <string.h>

typedef int MPI_Comm;
typedef int MPI_Datatype;
enum { MPI_FLOAT = 4, MPI_PROC_NULL = -1, MPI_COMM_WORLD = 0, MPI_SUCCESS = 0 };
#define MPI_STATUS_IGNORE ((void *)0)

static inline int MPI_Sendrecv(const void *out, int out_count, MPI_Datatype out_type, int to, int out_tag, void *in,
                               int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, void *status) {
  (void)in_type, (void)comm, (void)status;
  if (to == from && out_tag == in_tag && out_count == in_count) memcpy(in, out, (size_t)(out_count * out_type));
  return MPI_SUCCESS;
}

#endif
