/* limit.h: how long a wait may take, which an environment variable can change. */
#ifndef BASE_LIMIT_H
#define BASE_LIMIT_H

/* A limit in milliseconds: the seconds in an environment variable, or the usual ones where the variable is not set or
 * holds no number from 0 on. */
double limit_ms_named(const char *variable, double usual_s);

#endif
