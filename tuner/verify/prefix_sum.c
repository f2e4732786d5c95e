/* prefix_sum.c: sums each line along the axis from its first point. Neighbouring lines are summed together. */
#include "tuner/verify/prefix_sum.h"

#include <math.h>

#include "base/system/parallel.h"

struct prefix_sum {
  const double *values;
  double *sums;
  bool absolute;
  long width;  /* neighbouring lines of a bundle */
  long length; /* points of a line; neighbours are `width` elements apart */
};

static void add_points(const struct prefix_sum *job, long at, long count, const double *before) {
  const double *values = job->values + at;
  double *sums = job->sums + at;
  for (long i = 0; i < count; i++) {
    double value = job->absolute ? fabs(values[i]) : values[i];
    sums[i] = before ? before[i] + value : value;
  }
}

/* Lines are summed in strips of at most STRIP_LINES, so that lines along y and z are read row by row. */
enum { STRIP_LINES = 256 };

static long strips_of_bundle(const struct prefix_sum *job) { return 1 + (job->width - 1) / STRIP_LINES; }

static void add_strips(void *context, int thread, long first, long end) {
  const struct prefix_sum *job = context;
  long strips = strips_of_bundle(job);
  (void)thread;
  for (long strip = first; strip < end; strip++) {
    long line = strip % strips * STRIP_LINES, left = job->width - line;
    long at = strip / strips * job->width * job->length + line;
    for (long i = 0; i < job->length; i++, at += job->width) {
      add_points(job, at, left < STRIP_LINES ? left : STRIP_LINES, i > 0 ? job->sums + at - job->width : NULL);
    }
  }
}

void prefix_sum(const struct grid *grid, int axis, bool absolute, int threads, const double *values, double *sums) {
  enum { PART_POINTS = 1 << 15 };
  struct prefix_sum job = {.values = values, .sums = sums, .absolute = absolute, .width = 1, .length = grid->n[axis]};
  long bundles = 1;
  for (int i = 0; i < axis; i++) job.width *= grid->n[i];
  for (int i = axis + 1; i < MAX_DIMS; i++) bundles *= grid->n[i];
  long strip_points = job.length * (job.width < STRIP_LINES ? job.width : STRIP_LINES);
  parallel_for(bundles * strips_of_bundle(&job), 1 + PART_POINTS / strip_points, threads, add_strips, &job);
}
