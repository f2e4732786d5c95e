/* ending.h: how long work asks whether it has to end before it is done. */
#ifndef BASE_ENDING_H
#define BASE_ENDING_H

#include <signal.h>
#include <stdbool.h>

/* {0}: nobody ends the work. */
struct ending {
  const volatile sig_atomic_t *flag; /* not 0: the work ends; NULL: there is no flag */
  /* whether the work ends, often asked, from any thread; once true, it stays so. NULL: nobody is asked */
  bool (*is_over)(const void *context);
  const void *context; /* context of `is_over` */
};

static inline bool ending_has_come(const struct ending *ending) {
  return (ending->flag && *ending->flag) || (ending->is_over && ending->is_over(ending->context));
}

#endif
