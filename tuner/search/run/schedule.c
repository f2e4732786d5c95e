/* schedule.c: how the time of a run is divided. */
#include "tuner/search/run/schedule.h"

#include <math.h>

#include "tuner/measure/finals/finals_plan.h"

enum {
  LAST_STEPS_MS = 2000, /* what follows the finals: the second grid */
  SETUP_MS = 2000,      /* what follows the reading of databases */
  ENOUGH_MS = 10000     /* the finals get half of this */
};

struct schedule schedule_start(const struct time_source *time, const volatile sig_atomic_t *stop, double deadline_ms) {
  return (struct schedule){.time = *time, .stop = stop, .deadline_ms = deadline_ms, .start_ms = time_now_ms(time)};
}

bool schedule_leaves_time(double deadline_ms, double budget_s, double now_ms) {
  return deadline_ms - LAST_STEPS_MS - now_ms >= fmin(budget_s * 1e3 / 2, ENOUGH_MS);
}

bool schedule_leaves_reading(double deadline_ms, double budget_s, double now_ms) {
  return schedule_leaves_time(deadline_ms, budget_s, now_ms + SETUP_MS);
}

void schedule_divide(struct schedule *schedule, double budget_s, bool has_long_search) {
  const double most_part = has_long_search ? FINALS_BUDGET_PART : 0.5;
  const double now_ms = schedule_now_ms(schedule), budget_ms = budget_s * 1e3;
  const double last_ms = schedule->deadline_ms - LAST_STEPS_MS;
  schedule->has_deadline = last_ms < now_ms + budget_ms;
  schedule->is_too_late = !schedule_leaves_time(schedule->deadline_ms, budget_s, now_ms);
  schedule->end_ms = fmin(now_ms + budget_ms, fmax(last_ms, now_ms));
  schedule->search_end_ms = schedule->end_ms;
  if (isfinite(schedule->end_ms))
    schedule->search_end_ms -=
        fmin(finals_budget_ms(budget_ms) + schedule->energy_ms, (schedule->end_ms - now_ms) * most_part);
  schedule->first_search_end_ms = schedule->search_end_ms;
}

void schedule_keep_for_finals(struct schedule *schedule, double finals_ms) {
  if (isfinite(schedule->end_ms))
    schedule->search_end_ms = fmax(schedule->first_search_end_ms, schedule->end_ms - finals_ms - schedule->energy_ms);
}

double schedule_now_ms(const struct schedule *schedule) { return time_now_ms(&schedule->time); }

double schedule_spent_s(const struct schedule *schedule) {
  return (schedule_now_ms(schedule) - schedule->start_ms) * 1e-3;
}

static bool is_interrupted(const struct schedule *schedule) { return schedule->stop && *schedule->stop; }

static bool has_passed(const struct schedule *schedule) { return schedule_now_ms(schedule) >= schedule->deadline_ms; }

bool schedule_is_stopped(const struct schedule *schedule) {
  return is_interrupted(schedule) || schedule->is_too_late || has_passed(schedule);
}

static bool is_over(const void *context) { return schedule_is_stopped(context); }

struct ending schedule_ending(const struct schedule *schedule) {
  return (struct ending){.is_over = is_over, .context = schedule};
}

struct last_checks schedule_last_checks(const struct schedule *schedule, double most_ms) {
  return (struct last_checks){schedule, schedule_now_ms(schedule) + most_ms};
}

static bool are_checks_over(const void *context) {
  const struct last_checks *checks = context;
  return schedule_is_stopped(checks->schedule) && schedule_now_ms(checks->schedule) >= checks->until_ms;
}

struct ending last_checks_ending(const struct last_checks *checks) {
  return (struct ending){.is_over = are_checks_over, .context = checks};
}

halotune_status schedule_settle(const struct schedule *schedule, halotune_status status) {
  return status == HALOTUNE_CANCELLED && schedule_is_stopped(schedule) ? HALOTUNE_OK : status;
}

const char *schedule_stop_reason(const struct schedule *schedule) {
  if (is_interrupted(schedule)) return "interrupted";
  return has_passed(schedule) ? "the deadline passed" : "too little time was left before the deadline";
}

bool schedule_ends_search(const struct schedule *schedule) {
  return schedule_is_stopped(schedule) || schedule_now_ms(schedule) >= schedule->search_end_ms;
}
