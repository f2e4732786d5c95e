/* query_print.h: prints the result of `halotune query`, for people and for programs. */
#ifndef CLI_QUERY_QUERY_PRINT_H
#define CLI_QUERY_QUERY_PRINT_H

#include "tuner/cli/query/query_answer.h"

/* Print the configuration, its time and its origin. Both return HALOTUNE_OK or HALOTUNE_MEMORY. */
halotune_status query_print_text(const struct query *query);
halotune_status query_print_json(const struct query *query);

#endif
