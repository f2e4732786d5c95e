/* db_answers.h: which answers of lookups change when files are taken. The list of what a file brings compares row with
 * row. A known row can still change an answer, for example if the file gives it an earlier date. So the answers
 * themselves are compared, too. */
#ifndef CLI_DB_DB_ANSWERS_H
#define CLI_DB_DB_ANSWERS_H

#include <stdio.h>

#include "db/store/store.h"
#include "include/halotune.h"

/* The problems of a user's database and of the starter database, and what answers them now: a template with its
 * parameters, the text of the stencil, and the stored code. Each problem is asked for in the mode of its row, and as
 * most programs ask: in no particular mode. It is asked for on the row's GPU, and on its architecture.
 * Programs that name the user's database do not see the starter database, so the problems of the user's database are
 * also asked for without it. */
struct answers;

/* Ask for all of them, for 20 s of processor time at most.
 *   store  the user's database; it may change afterwards
 *   out    receives the answers, for the caller to end with answers_free; NULL on failure
 * Returns HALOTUNE_OK or the errors of halotune_open. */
halotune_status answers_ask(struct store *store, struct answers **out);

/* Ask for the same problems again, for 20 s of processor time at most, and compare.
 *   out      receives a line for each text or answer that has changed; NULL: they are only counted
 *   changed  receives the number of these lines
 *   left     receives the number of problems that were not compared for want of time
 * Returns HALOTUNE_OK or the errors of halotune_open. */
halotune_status answers_compare(const struct answers *before, struct store *store, FILE *out, long *changed,
                                long *left);

void answers_free(struct answers *answers);

#endif
