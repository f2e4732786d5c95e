/* member.h: a process that works for a leader. It has a backend and compilers of its own, and a database in memory for
 * the task in hand. It searches as a single process does, with anchor, twins and repeats, except that its variants come
 * from the leader, and that its results go there. */
#ifndef FLEET_MEMBER_H
#define FLEET_MEMBER_H

#include <signal.h>

#include "tuner/fleet/link.h"
#include "tuner/fleet/messages.h"
#include "tuner/search/tune/tune_inputs.h"

/* What a member that runs a task alone has to do meanwhile. */
struct member_alone {
  void (*look)(void *state); /* call it often: it tells the leader that the member lives, and hears it */
  void *state;
  const volatile sig_atomic_t *stop; /* becomes 1 to end the task soon */
};

struct member_tools {
  struct backend_handle *backend;
  struct compiler *compiler; /* NULL with a recording */
  struct tune_templates templates;
  const char *host;
  int ordinal;                       /* of the GPU */
  int room;                          /* variants that it wants at a time */
  const volatile sig_atomic_t *stop; /* becomes 1 to leave the team; may be NULL */

  /* Run a task alone, and store its results. NULL: this member cannot.
   *   what  the leader's words for it (struct leader_alone)
   *   out   receives what the leader is told
   * Returns HALOTUNE_OK; HALOTUNE_NO_GPU or HALOTUNE_IO if the member cannot go on; else it cannot do this task, and
   * others may. */
  halotune_status (*alone)(void *context, const struct member_alone *how, const char *what, struct text *out);
  void *alone_context;
};

/* Who a process with this backend is. */
struct fleet_hello fleet_hello_of(const struct member_tools *tools);

/* Serve until the leader sends the process home, is gone, or the process is to stop.
 * Returns HALOTUNE_OK; HALOTUNE_IO without a leader; HALOTUNE_ARGUMENT if the leader refused it, with why; or what
 * backend or compiler return, after the leader was told. Threads: as the backend. */
halotune_status member_serve(const struct fleet_link *link, const struct member_tools *tools);

/* A process that cannot even begin: tell the leader why, and wait to be sent home. */
void member_decline(const struct fleet_link *link, const char *why);

#endif
