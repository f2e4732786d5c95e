/* schedule.h: when a run ends. Its budget, its deadline or the user ends it. */
#ifndef SEARCH_RUN_SCHEDULE_H
#define SEARCH_RUN_SCHEDULE_H

#include <signal.h>
#include <stdbool.h>

#include "base/fail.h"
#include "base/system/clock.h"
#include "base/system/ending.h"

/* Times in ms are those of `time`. */
struct schedule {
  struct time_source time;
  const volatile sig_atomic_t *stop; /* not 0: the user wants the run to end; NULL: nobody can */
  double deadline_ms;                /* INFINITY for none */
  double start_ms;                   /* when the set-up began */
  /* the latest ends of the search and of the finals; 0 during the set-up; INFINITY: never */
  double search_end_ms, end_ms;
  double first_search_end_ms; /* search_end_ms as schedule_divide() set it */
  double energy_ms;           /* time that the finals keep in addition, for rounds of energy */
  bool has_deadline;          /* the deadline comes before the end of the budget */
  bool is_too_late;           /* the deadline leaves too little time to begin the search */
};

/* The schedule of a run that begins its set-up now. */
struct schedule schedule_start(const struct time_source *time, const volatile sig_atomic_t *stop, double deadline_ms);

/* Divide the time after the set-up between search and finals.
 *   budget_s         time of both; INFINITY: no clock ends the search
 *   has_long_search  the finals keep at most 20 % of the time, however short it is; else at most half */
void schedule_divide(struct schedule *schedule, double budget_s, bool has_long_search);

/* Whether a deadline leaves enough time to begin: half of the budget, or 10 s where half of the budget is more, and 2 s
 * for what follows the finals. In less time the default variant would win because no other one was tried. */
bool schedule_leaves_time(double deadline_ms, double budget_s, double now_ms);

/* Whether a deadline also leaves enough time to read on in databases first. The rest of the set-up follows. */
bool schedule_leaves_reading(double deadline_ms, double budget_s, double now_ms);

/* Keep only so much time for the finals, as estimated now. The search may use the rest. The newest call counts. The
 * search never ends earlier than schedule_divide() said. */
void schedule_keep_for_finals(struct schedule *schedule, double finals_ms);

double schedule_now_ms(const struct schedule *schedule);
double schedule_spent_s(const struct schedule *schedule); /* time since the set-up began */

/* Whether the run has to end soon: the user stops it, the deadline has come, or it is too near to begin the search. */
bool schedule_is_stopped(const struct schedule *schedule);

/* The same question, for work that asks it often. The schedule must live as long as the work. */
struct ending schedule_ending(const struct schedule *schedule);

/* When the last checks of a winner end: the schedule is stopped, and they have had their time. So a run that is stopped
 * in them has a winner all the same, unless they take long. */
struct last_checks {
  const struct schedule *schedule;
  double until_ms; /* they have their time until then */
};
/* They begin now.
 *   most_ms  their time, if the schedule is stopped */
struct last_checks schedule_last_checks(const struct schedule *schedule, double most_ms);
struct ending last_checks_ending(const struct last_checks *checks);

/* HALOTUNE_OK in place of the HALOTUNE_CANCELLED of work that ended because the schedule is stopped. The caller then
 * ends as the schedule says. All other statuses stay. */
halotune_status schedule_settle(const struct schedule *schedule, halotune_status status);

/* Say in words why a schedule is stopped. */
const char *schedule_stop_reason(const struct schedule *schedule);

/* Whether the search has to end: its time is over, or the schedule is stopped. */
bool schedule_ends_search(const struct schedule *schedule);

#endif
