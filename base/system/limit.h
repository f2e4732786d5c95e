/* limit.h: how long a wait may take, which an environment variable can change. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

#include "base/fail.h"

/* A limit in milliseconds: the seconds in an environment variable, or the usual ones where the variable is not set, is
 * empty, or holds no number from 0 to 1e9. */
double limit_ms_named(const char *variable, double usual_s);

/* Refuse such a text, at a program's start. Returns HALOTUNE_OK or HALOTUNE_ARGUMENT. */
halotune_status limit_check_named(const char *variable);

#endif
