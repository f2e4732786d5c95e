/* run_problem.h: what `halotune run` computes, and where its fields live while it computes. */
#ifndef CLI_RUN_RUN_PROBLEM_H
#define CLI_RUN_RUN_PROBLEM_H

#include <signal.h>

#include "stencil/launch/domain.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/option_value.h"

struct run_problem {
  struct loaded loaded;
  struct grid grid;
  long points;
  enum dtype dtype;     /* element type of the files; on a GPU also of the fields */
  double *coefficients; /* coefficients of the stencil's file or of --set */
  long steps;
  const volatile sig_atomic_t *stop; /* not 0: the user wants the run to end */
};

/* Read --set, NAME=VALUE,..., and compute all coefficients for the problem's grid.
 * Returns HALOTUNE_OK, or HALOTUNE_ARGUMENT for an unknown name, a name that is given twice, or no number. */
halotune_status run_coefficients(const struct invocation *invocation, struct run_problem *problem);

/* Returns HALOTUNE_CANCELLED if the user wants the run to end; else HALOTUNE_OK. */
halotune_status run_check_stop(const struct run_problem *problem);

/* The number of results that a run can write: the outputs, then the inputs. An input that `iterate` replaces has the
 * values that the next step would read; the others do not change. */
int run_result_count(const struct stencil *stencil);
const char *run_result_name(const struct stencil *stencil, int result);

/* Facts about a backend. Texts live as long as its state. */
struct run_facts {
  const char *device;
  const char *match, *template_name, *parameters; /* facts of the kernel; NULL for the reference */
  int threads;                                    /* threads of the CPU */
  int launch_steps;                               /* time steps of one launch; advance in multiples of it */
};

/* Where a problem is computed. All functions but `open` and `close` return HALOTUNE_OK or what the backend reports.
 *   open     allocate the fields, and choose the kernel; `state` is NULL on failure
 *   put      write elements of an input, in the element type of the problem, or bytes of a mask
 *   start    called when all inputs are written: give the outputs the values that skipped points keep
 *   advance  apply the stencil `steps` times, and wait for the end
 *   get      read elements of a result, in the element type of the problem; see run_result_count */
struct run_backend {
  const char *name;
  halotune_status (*open)(const struct invocation *invocation, const struct run_problem *problem, void **state);
  halotune_status (*put)(void *state, int input, long first, long count, const void *values);
  halotune_status (*start)(void *state);
  halotune_status (*advance)(void *state, long steps);
  halotune_status (*get)(void *state, int result, long first, long count, void *values);
  struct run_facts (*facts)(void *state);
  void (*close)(void *state);
};

extern const struct run_backend run_backend_gpu, run_backend_cpu;

/* How an input's array lies in its file and on a dense grid. */
struct input_layout run_input_layout(const struct run_problem *problem, int input);

/* The place of a result in a list of inputs, then outputs, after the last step. An output has the place of the input
 * that it became, or its own. */
int run_result_place(const struct stencil *stencil, const struct analysis *analysis, int result);

#endif
