/* run_files.h: the files of `halotune run`: --input and --output, checked before anything is computed. */
#ifndef CLI_RUN_RUN_FILES_H
#define CLI_RUN_RUN_FILES_H

#include "base/files/npy.h"
#include "tuner/cli/run/run_problem.h"

/* Start with {0} and run_files_begin; end with run_files_free. */
struct run_files {
  char *input_paths[MAX_FIELDS], *output_paths[2 * MAX_FIELDS]; /* paths of results (run_problem.h); NULL: not named */
  struct npy_file inputs[MAX_FIELDS];
};

void run_files_begin(struct run_files *files);
void run_files_free(struct run_files *files);

/* Read --input and --output, and open the inputs. The grid and the element type come from --grid and --dtype, or else
 * from the first input's file. Each file must have the grid's shape and the element type, and as many bytes as these
 * need. No output may be an input or another output. Each output's folder must be writable.
 *   problem  its stencil is loaded; receives grid, points and dtype
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for wrong options or an array that does not fit; HALOTUNE_NOT_FOUND,
 * HALOTUNE_IO or HALOTUNE_PARSE for a file. */
halotune_status run_files_open(const struct invocation *invocation, struct run_problem *problem,
                               struct run_files *files);

/* Copy all inputs to a backend, piece by piece. If the run has several steps, inputs that exchange buffers get equal
 * values at the points that no step computes: those of the first such input. */
halotune_status run_files_load(const struct run_files *files, const struct run_problem *problem,
                               const struct run_backend *backend, void *state);

/* The facts about a written file. */
struct run_written {
  double min, max; /* range of the finite values; NaN if there are none */
  long not_finite;
};

/* Write a result piece by piece. Returns HALOTUNE_OK, HALOTUNE_IO, HALOTUNE_CANCELLED if the user stops it, or the
 * errors of the backend. After a failure a regular file is unchanged. */
halotune_status run_files_save(const struct run_files *files, const struct run_problem *problem,
                               const struct run_backend *backend, void *state, int result, struct run_written *out);

#endif
