/* query_untrusted.h: winners that lookup passes over because nobody said that their code is to be trusted. */
#ifndef CLI_QUERY_QUERY_UNTRUSTED_H
#define CLI_QUERY_QUERY_UNTRUSTED_H

#include "tuner/cli/query/query_answer.h"

/* Say on stderr where a database has a winner of just this problem that was imported without trust, and how to give it
 * trust. For what is_untuned. */
void query_tell_untrusted(const struct query *query);

#endif
