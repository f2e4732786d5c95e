/* explain_text.h: the sentences of `halotune explain`, made from a report's document. */
#ifndef CLI_EXPLAIN_EXPLAIN_TEXT_H
#define CLI_EXPLAIN_EXPLAIN_TEXT_H

#include "base/text/json.h"
#include "reports/document/winner_json.h"
#include "reports/rows/definitions.h"
#include "tuner/cli/explain/explain_counters.h"

/* The facts from which the sentences are made; only read. */
struct explained {
  const json_t *document, *problem, *winner, *device, *stencil,
      *run;                        /* run: the one that found the winner; NULL if it is gone */
  const struct template *template; /* the winner's template; NULL if it cannot be read */
  const struct definitions *definitions;
  const struct counters *counters; /* counters of the profiler; NULL: none */
  const char *typed, *named;       /* the stencil and --db as the user gave them; named may be NULL */
  double points;
  int steps;
  bool is_stale; /* the installed template of this name means something else than the winner's */
  bool has_roof; /* false for an emulation, whose times say nothing about a GPU */
};

/* Append a paragraph for each question: what won, what bounds it, how the runner-up and other templates differ, what a
 * change of each parameter costs, how far the search came. A question that the database cannot answer says so. */
void explain_write(const struct explained *explained, struct text *text);

/* Append what bounds the winner, with the figures that show it. It is taken from the counters if there are some, else
 * from the stored facts. In explain_bound.c. */
void explain_bound(const struct explained *explained, struct text *text);

/* Append the grid: "32x32". In explain_next.c. */
void explain_grid(const struct explained *explained, struct text *text);

/* Append what to try next. In explain_next.c. */
void explain_next(const struct explained *explained, struct text *text);

/* The fastest variant that the searches found with a value of one of the winner template's parameters.
 *   value  NULL: with any other value than the winner's; `found` then receives the value, and may be NULL
 * Returns its time in milliseconds; NAN if there is none. */
double best_with_value(const struct explained *explained, const char *parameter, const char *value, const char **found);

#endif
