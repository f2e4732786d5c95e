/* query_untrusted.h: winners that lookups ignore because their code was imported without trust. */
#ifndef CLI_QUERY_QUERY_UNTRUSTED_H
#define CLI_QUERY_QUERY_UNTRUSTED_H

#include "tuner/cli/query/query_answer.h"

/* Report on stderr that a database has an untrusted winner for exactly this problem, and how to trust it. For queries
 * that are `is_untuned`. */
void query_tell_untrusted(const struct query *query);

#endif
