/* plan_file.h: the file of `halotune tune --plan`: the tasks of a site, one a line. docs/tuning.md describes it for
 * users. The file does not say which tasks are done; databases do. */
#ifndef CLI_TUNE_PLAN_FILE_H
#define CLI_TUNE_PLAN_FILE_H

#include "base/memory/arena.h"
#include "stencil/expression/source.h"
#include "stencil/file/stencil.h"

struct site_task {
  const char *stencil; /* a name or a path */
  enum dtype dtype;
  struct grid grid;
  int dims;        /* how many extents the grid has */
  int steps;       /* time steps of a launch; 0: the number with the least time a step is searched for */
  double budget_s; /* 0: the plan's */
  struct place place;
};

enum { PLAN_FILE_MOST_GPUS = 64, PLAN_FILE_MOST_TASKS = 10000, PLAN_FILE_MOST_BYTES = 4 << 20 };

/* Owns its members; end with plan_file_free. */
struct plan_file {
  struct arena arena;
  char *text;
  struct source source;
  double budget_s;                       /* budget of each task; 0: the command's */
  const char *gpus[PLAN_FILE_MOST_GPUS]; /* names of models */
  int gpu_count;                         /* 0: every GPU that runs the plan */
  struct site_task *tasks;
  int task_count;
};

/* Read a plan.
 *   out  filled on success; after a failure plan_file_free is harmless
 * Returns HALOTUNE_OK; HALOTUNE_PARSE with line, column and remedy; the errors of file_read. */
halotune_status plan_file_read(const char *path, struct plan_file *out);
void plan_file_free(struct plan_file *plan);

/* Whether a name means this model: "h200" is NVIDIA H200. */
bool plan_file_is_gpu(const char *name, const char *model);

/* Whether a GPU of this model takes part. */
bool plan_file_has_gpu(const struct plan_file *plan, const char *model);

/* Append a plan as text: its head, and then a line for each task.
 *   gpus    "NVIDIA H200,NVIDIA A100", or NULL for every GPU
 *   budget  budget of each task, as typed; NULL: the default */
void plan_file_write_head(const char *gpus, const char *budget, struct text *out);
void plan_file_write_task(const struct site_task *task, struct text *out);

#endif
