/* query_why.h: why a row answers, and not another one. */
#ifndef CLI_QUERY_QUERY_WHY_H
#define CLI_QUERY_QUERY_WHY_H

#include "tuner/cli/query/query_answer.h"

/* Print the candidates for the problem in the order of their ranks, with their predicted times, and what became of
 * each. Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status query_print_why(const struct query *query);

#endif
