/* member.h: a process that works for a leader. It has a backend and compilers of its own, and a database in memory for
 * the task in hand. It searches as a single process does, with anchor, twins and repeats, except that its variants come
 * from the leader, and that its results go there. */
#ifndef FLEET_MEMBER_H
#define FLEET_MEMBER_H

#include <signal.h>

#include "tuner/fleet/link.h"
#include "tuner/fleet/messages.h"
#include "tuner/search/tune/tune_inputs.h"

/* The duties of a member while it runs a task alone. */
struct member_alone {
  /* call it often: it tells the leader that the member lives, and takes the leader's messages */
  void (*look)(void *state);
  void *state;
  const volatile sig_atomic_t *stop; /* becomes 1 to end the task soon */
};

struct member_tools {
  struct backend_handle *backend;
  struct compiler *compiler; /* NULL with a recording */
  struct tune_templates templates;
  const char *host;
  int ordinal;                       /* number of the GPU */
  int room;                          /* variants that it wants at a time */
  bool in_full;                      /* measure each variant with all samples */
  const volatile sig_atomic_t *stop; /* becomes 1 to leave the team; may be NULL */

  /* Run a task alone, and store its results. NULL: this member cannot do so.
   *   what  the leader's words for the task (struct leader_alone)
   *   out  receives the answer to the leader
   * Returns HALOTUNE_OK; HALOTUNE_NO_GPU or HALOTUNE_IO if the member cannot go on; else it cannot do this task, and
   * others may. */
  halotune_status (*alone)(void *context, const struct member_alone *how, const char *what, struct text *out);
  void *alone_context;
};

/* The introduction of a process with this backend. */
struct fleet_hello fleet_hello_of(const struct member_tools *tools);

/* Serve until the leader sends the process home, is gone, or the process is to stop. Returns HALOTUNE_OK; HALOTUNE_IO
 * without a leader; HALOTUNE_ARGUMENT with the reason if the leader refused it; or what backend or compiler return.
 * The leader was then told. Threads: as the backend. */
halotune_status member_serve(const struct fleet_link *link, const struct member_tools *tools);

/* Tell the leader why this process cannot begin, and wait to be sent home. */
void member_decline(const struct fleet_link *link, const char *why);

#endif
