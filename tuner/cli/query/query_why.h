/* query_why.h: shows why a row answers and the others do not. */
#ifndef CLI_QUERY_QUERY_WHY_H
#define CLI_QUERY_QUERY_WHY_H

#include "tuner/cli/query/query_answer.h"

/* Print the candidates for the problem in the order of their ranks, with their predicted times, and why each answers
 * or does not. Returns HALOTUNE_OK, HALOTUNE_PARSE or HALOTUNE_MEMORY. */
halotune_status query_print_why(const struct query *query);

#endif
