/* forked.h: finds out whether this process is a child of the one that opened a ctx. After a fork only one thread is
 * left, so that a lock that another thread held stays locked for ever, and SQLite's connections belong to the
 * parent. */
#ifndef LIBRARY_LOOKUP_FORKED_H
#define LIBRARY_LOOKUP_FORKED_H

#include <stdatomic.h>

#include "base/fail.h"

/* A number that differs between a process and its children. The first call registers the handlers of fork. */
unsigned forked_generation(void);

extern atomic_uint forked_count; /* forks between the first process and this one */

/* Fail because the ctx belongs to a parent. Returns HALOTUNE_ARGUMENT, with what to do. */
halotune_status forked_fail(void);

/* Check that this is the process in which forked_generation returned this number. Returns HALOTUNE_OK or
 * HALOTUNE_ARGUMENT. */
static inline halotune_status forked_check(unsigned generation) {
  return atomic_load_explicit(&forked_count, memory_order_relaxed) == generation ? HALOTUNE_OK : forked_fail();
}

/* Enter and leave a section that uses SQLite, whose own locks a fork would copy. A fork of any thread waits until all
 * have left. One thread at a time. */
void forked_enter(void);
void forked_leave(void);

#endif
