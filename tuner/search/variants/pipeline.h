/* pipeline.h: variants on their way through the compilers. The compilers run ahead of the device, up to a limit. */
#ifndef SEARCH_VARIANTS_PIPELINE_H
#define SEARCH_VARIANTS_PIPELINE_H

#include "base/system/ending.h"
#include "tuner/search/variants/trial.h"

struct pipeline;

/* Make an empty pipeline.
 *   compiler  must live as long. Nobody else uses it while trials are in the pipeline. NULL: trials come out without a
 *             cubin, which is enough for a backend that runs nothing
 *   out       ended with pipeline_free; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY. Threads: one at a time. */
halotune_status pipeline_make(struct compiler *compiler, struct pipeline **out);

/* Drop all trials. The compilers drop them, too, so that no late result can come. */
void pipeline_clear(struct pipeline *pipeline);

/* Drop all trials and end it. NULL is fine. */
void pipeline_free(struct pipeline *pipeline);

/* Whether one more trial may be put in. If not, enough trials wait to keep compilers and device busy. */
bool pipeline_has_room(const struct pipeline *pipeline);
bool pipeline_is_empty(const struct pipeline *pipeline);
int pipeline_count(const struct pipeline *pipeline);

/* Put a trial in. It must not be over, and there must be room.
 *   trial  belongs to the pipeline from now on, also after a failure
 *   task   the task that the trial was begun for; must live until the trial comes out
 * Returns HALOTUNE_OK, or what the compiler returns. */
halotune_status pipeline_put(struct pipeline *pipeline, struct trial *trial, const struct task *task);

/* Take the next trial that is compiled or over, in the order in which trials get there.
 *   timeout_ms  how long to wait if none is ready; -1: until one is ready
 *   out         the caller's; NULL if the time ran out or the pipeline is empty
 * Returns HALOTUNE_OK, or what the compiler returns. */
halotune_status pipeline_take(struct pipeline *pipeline, int timeout_ms, struct trial **out);

/* Take one trial as soon as it is compiled or over. Trials that are ready before it stay in the pipeline.
 *   wanted  was put in; it is only compared, and not read
 *   out     the caller's; NULL if the time ran out, or if another trial was compiled first
 * Returns HALOTUNE_OK, or what the compiler returns. */
halotune_status pipeline_take_this(struct pipeline *pipeline, const struct trial *wanted, int timeout_ms,
                                   struct trial **out);

/* Wait for one trial that is compiled or over, as pipeline_take and pipeline_take_this do.
 *   wanted  NULL: take the next trial
 *   ending  asked often; once it has come, all trials are dropped
 *   out     the caller's; NULL on failure
 * Returns HALOTUNE_OK; HALOTUNE_CANCELLED if the ending came; HALOTUNE_IO if no trial can come; or what the compiler
 * returns. */
halotune_status pipeline_await(struct pipeline *pipeline, const struct trial *wanted, const struct ending *ending,
                               struct trial **out);

/* Generate and compile one variant on the task's grid, and wait for it. Other trials stay in the pipeline, unless the
 * ending comes.
 *   out  the caller's; is_over where generating or compiling failed; NULL on failure
 * Returns HALOTUNE_OK or HALOTUNE_MEMORY; or what pipeline_await returns. */
halotune_status pipeline_build(struct pipeline *pipeline, const struct task *task, const struct template *template,
                               const struct proposal *proposal, const struct ending *ending, struct trial **out);

#endif
