/* explain_choice.h: the one problem of a database that the command line asks about. */
#ifndef CLI_EXPLAIN_EXPLAIN_CHOICE_H
#define CLI_EXPLAIN_EXPLAIN_CHOICE_H

#include "base/text/json.h"
#include "reports/rows/definitions.h"
#include "tuner/cli/options/command.h"

/* Find the problem with a winner that has the element type, the grid and the number of steps of the options. With
 * --reproducible, its winner was found among reproducible variants alone; without it, among all variants. Without
 * --grid: the first grid of the stencil's text, else the largest grid that has a winner. If several fit, for example
 * on several GPUs, the newest winner counts.
 *   document  of a report on one stencil; owns what is found
 *   stencil   the stencil's name, for messages
 *   out       receives the problem; only read
 * Returns HALOTUNE_OK; HALOTUNE_ARGUMENT for a wrong option; HALOTUNE_NOT_FOUND, with the problems that the document
 * has. */
halotune_status explain_choose(const struct invocation *invocation, const struct definitions *definitions,
                               const json_t *document, const char *stencil, const json_t **out);

/* The member of a list of objects whose `id` is this one; NULL if there is none. */
const json_t *row_with_id(const json_t *list, int64_t id);

#endif
