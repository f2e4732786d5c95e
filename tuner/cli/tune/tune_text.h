/* tune_text.h: the plan and the results of a `halotune tune`, for people. */
#ifndef CLI_TUNE_TUNE_TEXT_H
#define CLI_TUNE_TUNE_TEXT_H

#include <stdio.h>

#include "tuner/cli/tune/tune_task.h"

/* Print the tasks, one on each line, and an estimate of their time on stderr.
 *   start_ms  clock_ms() at which the program began
 *   rounds    how many tasks a GPU runs one after the other: all, or fewer in a team */
void task_list_print(const struct task_list *plan, const struct tune_options *options, double start_ms, int rounds,
                     FILE *file);

/* Print the table, and a line of failures by kind for each task that was started.
 *   set  the templates that were searched */
void tune_table_print(const struct tuned *rows, int count, const struct tune_set *set);

/* A figure of memory; NAN for an emulated task, whose times say nothing about a GPU's memory. */
double tuned_of_memory(const struct tuned *row, double figure);
double tuned_bandwidth_gbs(const struct tuned *row);

/* Time of the default variant over that of the winner. */
double tuned_speed_up(const struct tuned *row);

#endif
