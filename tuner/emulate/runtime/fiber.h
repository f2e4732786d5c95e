/* fiber.h: stacks that take turns on one system thread. */
#ifndef EMULATE_RUNTIME_FIBER_H
#define EMULATE_RUNTIME_FIBER_H

#include <stdbool.h>

struct fiber;

/* The fiber of the program's own stack. */
struct fiber *fiber_of_the_program(void);

/* Take a fiber from the pool, or make a new one. A new fiber calls `entry` at the first switch to it. A fiber from the
 * pool continues where it was returned. All fibers have the same entry, which never returns. If memory is out, the
 * runner ends. */
struct fiber *fiber_take(void (*entry)(void));

/* Return a fiber to the pool. The running fiber may return itself, if it switches before any fiber is taken. */
void fiber_give(struct fiber *fiber);

/* Suspend the running fiber `from` and continue `to`. Returns when a fiber switches back to `from`. */
void fiber_switch(struct fiber *from, struct fiber *to);

/* Whether an address is in the guard page below a fiber's stack. */
bool fiber_guards(const void *address);

enum {
#ifdef EMULATION_ASAN
  FIBER_STACK_BYTES = 256 * 1024,
#else
  FIBER_STACK_BYTES = 64 * 1024,
#endif
};

#endif
