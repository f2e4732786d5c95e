/* explain_bound.c: derives what bounds a winner. */
#include <math.h>
#include <string.h>

#include "base/memory/array.h"
#include "stencil/file/stencil.h"
#include "tuner/cli/explain/explain_text.h"

/* A resource, and the share of it that the winner is known to need at least. NAN: unknown. */
enum { BYTES, ARITHMETIC, ISSUE, LAUNCH, SHARES };

/* The instructions of an update, as the winner computes it. */
static double instructions_per_point(const struct explained *e) {
  return member_number(e->stencil,
                       groups_weights(e->winner) ? "grouped_instructions_per_point" : "instructions_per_point");
}

/* Instructions of warps over those that the schedulers can issue in the time of the winner. Index arithmetic and stores
 * are not known, so this is a lower bound. */
static double issue_share(const struct explained *e) {
  enum { SCHEDULERS = 4 };
  const double warp_size = member_number(e->device, "warp_size"), time_ms = member_number(e->winner, "time_ms");
  double loads = member_number(json_object_get(e->winner, "figures"), "loads_per_point");
  if (!isfinite(loads)) loads = 0;
  const double each = instructions_per_point(e) * e->steps + loads;
  return e->points * each / warp_size /
         (member_number(e->device, "sm_count") * SCHEDULERS * member_number(e->device, "clock_khz") * time_ms);
}

/* The share of the bytes of a launch of several steps, with the halos that its blocks read again; NAN for one step. */
static double fused_bytes_share(const struct explained *e) {
  return member_number(json_object_get(e->winner, "step_roof"), "memory_ms") * e->steps /
         member_number(e->winner, "time_ms");
}

static void find_shares(const struct explained *e, double out[SHARES]) {
  const double time_ms = member_number(e->winner, "time_ms");
  const double peak_gflops = member_number(json_object_get(e->device, "peak_gflops"), member_text(e->problem, "dtype"));
  const double fused = 2 * instructions_per_point(e) * e->points * e->steps;
  out[BYTES] = isfinite(fused_bytes_share(e)) ? fused_bytes_share(e) : member_number(e->winner, "roof_ratio");
  out[ARITHMETIC] = fused / time_ms * 1e-6 / peak_gflops;
  out[ISSUE] = issue_share(e);
  out[LAUNCH] = member_number(e->winner, "empty_ms") / time_ms;
}

/* Whether bytes are likely to wait for the link between the halves of the L2 cache: bench/results has the counters of
 * winners on an H200. This link was 88 to 97 % busy in each that moves its bytes at 0.88 of the rate of the copy or
 * more. Small fields stay in the cache. */
static bool is_bound_by_link(const struct explained *e, double bytes_share) {
  return e->steps == 1 && member_whole(e->device, "capability") == 90 && bytes_share >= 0.88 &&
         member_number(e->winner, "bytes") > member_number(e->device, "l2_bytes");
}

static void add_figures(const struct explained *e, struct text *text) {
  const json_t *figures = json_object_get(e->winner, "figures");
  const double over_read = member_number(figures, "over_read"), loads = member_number(figures, "loads_per_point");
  const double conflicts = member_number(figures, "bank_conflicts"), time_ms = member_number(e->winner, "time_ms");
  const double read_bytes =
      member_number(json_object_get(e->stencil, "read_bytes_per_point"), member_text(e->problem, "dtype"));
  text_printf(text, "figures    ");
  if (isfinite(over_read) && fabs(over_read - 1) < 0.005) {
    text_printf(text, " blocks read their inputs once,");
  } else if (isfinite(over_read)) {
    text_printf(text, " blocks read their inputs %.3g times", over_read);
    if (e->has_roof)
      text_printf(text, " (%.0f GB/s, halos from the L2 cache)", over_read * read_bytes * e->points / time_ms * 1e-6);
    text_printf(text, ",");
  }
  if (loads > 0) text_printf(text, " %.3g loads a point,", loads);
  else if (isfinite(loads)) text_printf(text, " the copy engine loads them,");
  if (isfinite(conflicts) && conflicts > 1)
    text_printf(text, " bank conflicts repeat an access %.3g times,", conflicts);
  text_printf(text, " %lld registers, %lld bytes of shared memory, occupancy %.2f",
              (long long)member_whole(e->winner, "registers"), (long long)member_whole(e->winner, "shared_bytes"),
              member_number(e->winner, "occupancy"));
  if (groups_weights(e->winner))
    text_printf(text, ", weights that repeat are grouped: %.0f instructions of arithmetic a point, not %.0f",
                instructions_per_point(e), member_number(e->stencil, "instructions_per_point"));
  if (isfinite(over_read) && !json_is_true(json_object_get(figures, "is_counted")))
    text_printf(text, " (reads and loads by the template's rules)");
  text_printf(text, "\n");
}

static const char *bytes_text(const struct explained *e) {
  return isfinite(fused_bytes_share(e)) ? "the bytes of a launch and of its blocks' halos"
                                        : "the bytes that it has to move";
}

/* Append the sentences about resources that do not bound the winner. */
static void add_others(const struct explained *e, const double shares[SHARES], int most, struct text *text) {
  const bool has_arithmetic = most != ARITHMETIC && isfinite(shares[ARITHMETIC]);
  const bool has_issue = most != ISSUE && isfinite(shares[ISSUE]);
  if (most != BYTES && isfinite(shares[BYTES]))
    text_printf(text, "; it moves %s at %.3f of the rate of the fastest copy", bytes_text(e), shares[BYTES]);
  if (has_arithmetic) text_printf(text, "; it needs at least %.2f of the peak arithmetic", shares[ARITHMETIC]);
  if (has_issue)
    text_printf(text, "%s %.2f of the issue slots", has_arithmetic ? " and" : "; it needs at least", shares[ISSUE]);
  if (most != LAUNCH && isfinite(shares[LAUNCH]))
    text_printf(text, "; an empty launch takes %.2f of the time", shares[LAUNCH]);
}

/* Append what follows from the stored facts. */
static void add_bound_of_facts(const struct explained *e, struct text *text) {
  /* The bytes are nearly all that the winner moves, as the profiler counts them. The other shares are lower bounds. */
  static const double full[SHARES] = {[BYTES] = 0.75, [ARITHMETIC] = 0.5, [ISSUE] = 0.5, [LAUNCH] = 0.5};
  double shares[SHARES];
  int most = SHARES;
  find_shares(e, shares);
  for (int i = 0; i < SHARES; i++) {
    if (shares[i] >= full[i] && (most == SHARES || shares[i] > shares[most])) most = i;
  }
  /* the copy waits for its launch, too, so its rate is not that of bytes */
  if (shares[LAUNCH] > 0.25) most = LAUNCH;
  switch (most) {
  case BYTES:
    text_printf(text, "bytes: it moves %s at %.3f of the rate of the fastest copy", bytes_text(e), shares[BYTES]);
    if (is_bound_by_link(e, shares[BYTES]))
      text_printf(text, ", where the link between the halves of the L2 cache is full (on an H200 the profiler found it "
                        "88 to 97 %% busy)");
    break;
  case ARITHMETIC: text_printf(text, "arithmetic: it needs at least %.2f of the peak rate", shares[ARITHMETIC]); break;
  case ISSUE: text_printf(text, "instructions: they need at least %.2f of the issue slots", shares[ISSUE]); break;
  case LAUNCH:
    if (shares[LAUNCH] <= 1) text_printf(text, "the launch: an empty one takes %.2f of the time", shares[LAUNCH]);
    else
      text_printf(text, "the launch: an empty one takes %.2f times as long, because it does not overlap others",
                  shares[LAUNCH]);
    break;
  default: text_printf(text, "latency: no resource is full, so that warps wait"); break;
  }
  add_others(e, shares, most, text);
}

/* Append what follows from the profiler's counts. */
static void add_bound_of_counters(const struct counters *counters, struct text *text) {
  enum { FULL_PERCENT = 75 };
  int most = 0; /* at least one counter has a value; the others are NAN */
  for (int i = 1; i < COUNTERS; i++) {
    if (!isfinite(counters->percent[most]) || counters->percent[i] > counters->percent[most]) most = i;
  }
  const bool is_full = counters->percent[most] >= FULL_PERCENT;
  if (is_full) text_printf(text, "%s: %.0f %% busy by the profiler", counter_names[most], counters->percent[most]);
  else text_printf(text, "latency: the profiler found no unit more than %.0f %% busy", ceil(counters->percent[most]));
  for (int i = 0; i < COUNTERS; i++) {
    if (isfinite(counters->percent[i]) && !(is_full && i == most))
      text_printf(text, ", %s %.0f %%", counter_names[i], counters->percent[i]);
  }
  if (counters->waiting > 0)
    text_printf(text, "; warps wait most for: %s (%.1f for each instruction)", counters->reason, counters->waiting);
  if (isfinite(counters->time_us)) text_printf(text, "; this launch took %.5g ms", counters->time_us * 1e-3);
}

void explain_bound(const struct explained *e, struct text *text) {
  text_printf(text, "bound by    ");
  if (e->counters) add_bound_of_counters(e->counters, text);
  else if (e->has_roof) add_bound_of_facts(e, text);
  else text_printf(text, "unknown: times of the emulation do not show it");
  text_printf(text, "\n");
  add_figures(e, text);
}
