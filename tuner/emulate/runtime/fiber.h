/* fiber.h: stacks that take turns on one thread of the system. */
#ifndef EMULATE_RUNTIME_FIBER_H
#define EMULATE_RUNTIME_FIBER_H

#include <stdbool.h>

struct fiber;

/* The fiber of the program's own stack. */
struct fiber *fiber_of_the_program(void);

/* A fiber from the pool, or a new one. A new one calls `entry` when it is first switched to; one from the pool goes on where
 * it was when it was given back. All have the same entry, which never returns. Ends the runner when memory is out. */
struct fiber *fiber_take(void (*entry)(void));

/* Back to the pool. The fiber that runs may give itself, if it then switches before anything is taken. */
void fiber_give(struct fiber *fiber);

/* Stop `from`, which runs, and go on with `to`. Returns when somebody switches back to `from`. */
void fiber_switch(struct fiber *from, struct fiber *to);

/* Whether an address lies in a guard page below some fiber's stack. */
bool fiber_guards(const void *address);

enum {
#ifdef EMULATION_ASAN
  FIBER_STACK_BYTES = 256 * 1024,
#else
  FIBER_STACK_BYTES = 64 * 1024,
#endif
};

#endif
