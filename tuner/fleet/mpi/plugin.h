/* plugin.h: the interface of libhalotune-mpi.so to the program. The program itself links no MPI. It loads the plug-in
 * that was built for the MPI whose launcher started it, and takes the one symbol halotune_mpi_plugin from it.
 *
 * Only `begin`, `split`, `abort` and `finish` wait for other ranks. Threads: all calls come from the one thread that
 * called `begin`, for which MPI_THREAD_FUNNELED is enough. */
#ifndef FLEET_MPI_PLUGIN_H
#define FLEET_MPI_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

enum {
  FLEET_MPI_VERSION = 3, /* one more with each change of the struct below */
  FLEET_MPI_TEXT_BYTES = 256
};

#define FLEET_MPI_SYMBOL "halotune_mpi_plugin"

/* The results of `begin`. */
struct fleet_mpi_world {
  int rank, size;
  int local_rank, local_size;      /* number among the ranks of this host, and their count */
  char host[FLEET_MPI_TEXT_BYTES]; /* MPI's name of the host */
  char library[FLEET_MPI_TEXT_BYTES];
};

/* The message of a team's leader to all ranks of the job, every few seconds (heartbeat.h). */
struct fleet_mpi_sign {
  int is_done;  /* its team is done */
  int has_loss; /* its team has lost a rank */
  int exit_code;
};

/* A function that returns an int returns 0 or an error of MPI, which error_text explains. */
struct fleet_mpi_plugin {
  int version;          /* the first member in every version */
  const char *kind;     /* "openmpi", "mpich" */
  const char *halotune; /* the version of Halotune that it was built with */

  /* Initialise MPI. Waits for all ranks. */
  int (*begin)(struct fleet_mpi_world *out);

  /* Begin to bring the records of all ranks, `count` bytes each, to every rank. Both blocks must stay valid until
   * has_ended says so. */
  int (*gather)(const void *own, void *all, size_t count, void **request);

  /* Make a team of all ranks that give the same colour, which is not negative. The functions below work in the team.
   *   rank, size  receive this rank's place in it; the order of the ranks stays */
  int (*split)(int colour, int *rank, int *size);

  /* Begin to send a message. The bytes must stay until has_ended says so.
   *   request  receives the handle for has_ended */
  int (*send)(int to, const void *bytes, size_t count, void **request);

  /* Look for a message that nobody has begun to receive.
   *   from, count  receive its sender and its bytes; -1 and 0 without a message */
  int (*look)(int *from, size_t *count);

  /* Begin to receive the message that `look` found. */
  int (*receive)(int from, void *bytes, size_t count, void **request);

  /* Begin a barrier of the team, or of the whole job. */
  int (*barrier)(bool is_of_job, void **request);

  /* Begin to send a sign of life to a rank of the job. It must stay until has_ended says so. */
  int (*sign)(int to, const struct fleet_mpi_sign *sign, void **request);

  /* Take a sign of life that has come.
   *   from  receives its sender's rank in the job; -1 without a sign */
  int (*hear)(int *from, struct fleet_mpi_sign *sign);

  /* Whether a request has ended. If so, or after an error, it is freed. */
  int (*has_ended)(void *request, bool *has_ended);

  /* The words of an error, without a line end. */
  void (*error_text)(int error, char text[FLEET_MPI_TEXT_BYTES]);

  /* End all ranks of the job. Does not return. */
  void (*abort)(int exit_code);

  /* Finalise MPI. All ranks of the job must have ended a barrier before. */
  void (*finish)(void);
};

#endif
