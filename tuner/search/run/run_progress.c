/* run_progress.c: collects the figures, at most every 100 ms within a phase. */
#include "tuner/search/run/run_progress.h"

#include <math.h>
#include <string.h>

enum { PROGRESS_EVERY_MS = 100 };

void run_progress_show(struct run_progress *progress, const char *phase) {
  if (!progress || !progress->show) return;
  const struct schedule *schedule = progress->schedule;
  const double now_ms = schedule_now_ms(schedule), spent_s = schedule_spent_s(schedule);
  const double best_ms = timed_best_ms(progress->timed);
  const bool is_new = !progress->phase || strcmp(progress->phase, phase) != 0;
  if (now_ms < progress->next_ms && !is_new) return;
  progress->phase = phase;
  progress->next_ms = now_ms + PROGRESS_EVERY_MS;
  const bool has_end = schedule->end_ms > 0;
  const struct tune_progress told = {.phase = phase,
                                     .is_new = is_new,
                                     .tried = progress->tally->tried,
                                     .space = progress->space,
                                     .failed = tally_failed(progress->tally),
                                     .best_ms = best_ms,
                                     .roof_share = progress->memcpy_ms / best_ms,
                                     .variants_per_s = spent_s > 0 ? (double)progress->tally->tried / spent_s : 0,
                                     .left_s = has_end ? fmax(0, (schedule->end_ms - now_ms) * 1e-3) : INFINITY};
  progress->show(progress->context, &told);
}
