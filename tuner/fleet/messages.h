/* messages.h: what leader and members say to each other, as bytes and back. A message begins with its kind and the
 * number of the task that it is about. Every reader checks what it reads: a message that is none is refused whole. */
#ifndef FLEET_MESSAGES_H
#define FLEET_MESSAGES_H

#include "base/files/pack.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/run/crew.h"

/* Changes with every change of a message. Members with another number are refused. */
enum { FLEET_PROTOCOL = 2 };

enum fleet_kind {
  FLEET_HELLO = 1, /* member: who it is; once, at its beginning */
  FLEET_WELCOME,   /* leader: it takes part */
  FLEET_REFUSED,   /* leader: why it does not; the member ends */
  FLEET_TASK,      /* leader: set this up */
  FLEET_READY,     /* member: it is set up, or why it cannot be */
  FLEET_START,     /* leader: the search begins */
  FLEET_ANCHORED,  /* member: the time of its anchor */
  FLEET_VARIANT,   /* leader: measure this */
  FLEET_RESULT,    /* member: what came of it */
  FLEET_STOP,      /* leader: the search is over */
  FLEET_SETTLED,   /* member: how slow its GPU was, now that it is known */
  FLEET_FINALS,    /* leader: run these in rounds */
  FLEET_TIMES,     /* member: their times */
  FLEET_END,       /* leader: the task is over */
  FLEET_ALIVE,     /* member: nothing new */
  FLEET_LEAVING,   /* member: it ends, and why */
  FLEET_HOME,      /* leader: there are no more tasks */
  FLEET_ALONE,     /* leader: run this task alone, and store its results */
  FLEET_DONE,      /* member: what came of it, or why it cannot */
  FLEET_KIND_END
};

/* The beginning of each message. */
struct fleet_head {
  enum fleet_kind kind;
  long task;
};

void fleet_head_write(struct text *out, enum fleet_kind kind, long task);
/* Returns false for bytes that begin no message. `in` then stands behind the head. */
bool fleet_head_read(struct unpack *in, struct fleet_head *out);

/* FLEET_HELLO. */
struct fleet_hello {
  char version[32], driver[64], nvrtc[32], host[64];
  char device[DEVICE_NAME_BYTES], uuid[DEVICE_UUID_BYTES];
  int capability, sm_count, ordinal;
  bool is_emulation, is_recording;
  int room; /* variants that it wants at a time */
};
void fleet_hello_write(struct text *out, const struct fleet_hello *hello);
/* Returns false if it is none, or one of another protocol, of which `out` receives the version alone. */
bool fleet_hello_read(struct unpack *in, struct fleet_hello *out);

/* Whether a member may take part in a team.
 *   why  receives the reason, a sentence's end after the member's name: "has Halotune 0.1.0, and the leader 0.2.0" */
bool fleet_is_like(const struct fleet_hello *leader, const struct fleet_hello *member, struct text *why);

/* FLEET_TASK. Texts point into the message. */
enum { FLEET_MOST_TEMPLATES = 256 };
struct fleet_task {
  const char *stencil_text, *stencil_hash;
  enum dtype dtype;
  struct grid grid;
  enum cache_mode cache;
  bool reproducible;
  int launch_steps;
  int coefficient_count;
  const char *coefficients; /* so many doubles */
  int template_count;
  const char *template_names[FLEET_MOST_TEMPLATES], *template_hashes[FLEET_MOST_TEMPLATES];
};
void fleet_task_write(struct text *out, const struct crew_task *from);
bool fleet_task_read(struct unpack *in, struct fleet_task *out);

/* FLEET_START. The templates of later messages are numbers in this list. */
struct fleet_start {
  enum launch_mode launch;
  int template_count;
  const char *templates[FLEET_MOST_TEMPLATES];
  bool has_first;
  struct proposal first;
};
void fleet_start_write(struct text *out, const struct crew_start *start);
bool fleet_start_read(struct unpack *in, struct fleet_start *out);

/* A variant with its ticket. */
void fleet_proposal_write(struct text *out, const struct proposal *proposal);
bool fleet_proposal_read(struct unpack *in, struct proposal *out);

/* Whether a time in milliseconds, or a ratio of times, can be one of a GPU: from 1e-9 to 1e12. Products and quotients
 * of such numbers are finite. */
bool fleet_is_time(double number);

/* FLEET_RESULT. */
struct fleet_result {
  long ticket;
  double scale;
  bool has_code;
  struct identity code, source;
  struct measurement result; /* reason and samples point into the message; samples may stand anywhere */
};
void fleet_result_write(struct text *out, const struct trial *trial, double scale);
/* Returns false for bytes that are none, and for a result that no GPU can have. */
bool fleet_result_read(struct unpack *in, struct fleet_result *out);

#endif
