/* member_parts.h: the state of a member, which its files share. */
#ifndef FLEET_MEMBER_PARTS_H
#define FLEET_MEMBER_PARTS_H

#include "tuner/fleet/member.h"
#include "tuner/search/tune/search_inputs.h"
#include "tuner/search/tune/setup.h"

struct member_state {
  const struct fleet_link *link;
  const struct member_tools *tools;
  struct text message; /* the last message received */
  double said_ms;      /* when it last sent a message, on the machine's clock */
  bool has_no_leader, is_home;
  /* Of a task that it runs alone. */
  volatile sig_atomic_t alone_stop;
  halotune_status alone_status; /* status of the link meanwhile */
  char alone_reason[FAIL_TEXT_BYTES];
  /* The current task. */
  long task_number;
  char *text, arch[16];
  struct stencil *stencil;
  struct analysis *analysis;
  double *coefficients;
  struct template **list;         /* this process's versions of the leader's templates */
  struct fixed_parameters *fixed; /* one for each template */
  struct task task;
  struct setup_inputs setup_inputs;
  struct setup setup;
  struct schedule schedule;
  struct tally tally;
  struct timed_list timed;
  struct twins twins;
  struct run_progress progress;
  /* for each template's number at the leader, its number in this search space */
  int templates[FLEET_MOST_TEMPLATES], template_count;
  bool has_same_first;          /* the default variant is the leader's */
  struct proposal_list waiting; /* variants that were received and not begun */
  long waiting_first;
  double best_ms;
  bool is_searched, is_ended; /* is_searched: the leader has ended the search; is_ended: it has ended the task */
  struct text settled;
  long settled_count;
};

/* Begin a message about the current task. */
void member_begin(const struct member_state *member, enum fleet_kind kind, struct text *out);

/* Send a message to the leader, and free it. Returns HALOTUNE_OK, HALOTUNE_IO or HALOTUNE_MEMORY. */
halotune_status member_send(struct member_state *member, struct text *message);

/* Let the leader know that this process does not hang, at most once a second. */
void member_alive(struct member_state *member);

/* Read a variant. Its template becomes a number in this search space. Returns HALOTUNE_OK, or HALOTUNE_IO if the bytes
 * are not a variant. */
halotune_status member_read_proposal(const struct member_state *member, struct unpack *in, struct proposal *out);

#endif
