/* tune_program.h: runs `halotune tune` for one problem. */
#ifndef LIBRARY_TUNE_TUNE_PROGRAM_H
#define LIBRARY_TUNE_TUNE_PROGRAM_H

#include "library/tune/tune_listener.h"

/* A run of the program. Texts belong to the caller. */
struct tune_program {
  const char *program;            /* path or name, see path_of_program */
  const char *const *arguments;   /* of the command `tune`, ended by NULL */
  const char *input;              /* a text for its standard input, a file in memory; NULL: none */
  double budget_s;                /* the program gets two minutes more before it is killed */
  struct tune_listener *listener; /* NULL: none */
};

/* Run the program to its end. If this process ends first, the program is killed.
 * Returns HALOTUNE_OK; HALOTUNE_NOT_FOUND if there is no such program, or if it found nothing to tune;
 * HALOTUNE_CANCELLED; HALOTUNE_NO_GPU, HALOTUNE_PARSE, HALOTUNE_DB, HALOTUNE_ARGUMENT or HALOTUNE_IO as its exit code
 * tells; the detail has its last line. */
halotune_status tune_program_run(const struct tune_program *program);

#endif
