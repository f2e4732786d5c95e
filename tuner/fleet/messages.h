/* messages.h: writes and reads the messages between leader and members. A message begins with its kind and the number
 * of its task. Every reader checks what it reads, and refuses an invalid message as a whole. */
#ifndef FLEET_MESSAGES_H
#define FLEET_MESSAGES_H

#include "base/files/pack.h"
#include "tuner/measure/backends/backend.h"
#include "tuner/search/run/crew.h"

/* Changes with every change of a message. Members with another number are refused. */
enum { FLEET_PROTOCOL = 2 };

enum fleet_kind {
  FLEET_HELLO = 1, /* member: introduces itself, once, at its beginning */
  FLEET_WELCOME,   /* leader: accepts the member */
  FLEET_REFUSED,   /* leader: refuses the member, and why; the member ends */
  FLEET_TASK,      /* leader: set this up */
  FLEET_READY,     /* member: it is set up, or why it could not be */
  FLEET_START,     /* leader: the search begins */
  FLEET_ANCHORED,  /* member: the time of its anchor */
  FLEET_VARIANT,   /* leader: measure this */
  FLEET_RESULT,    /* member: the result */
  FLEET_STOP,      /* leader: the search is over */
  FLEET_SETTLED,   /* member: how slow its GPU was during earlier results */
  FLEET_FINALS,    /* leader: run these variants in rounds */
  FLEET_TIMES,     /* member: their times */
  FLEET_END,       /* leader: the task is over */
  FLEET_ALIVE,     /* member: it lives, and has no news */
  FLEET_LEAVING,   /* member: it ends, and why */
  FLEET_HOME,      /* leader: there are no more tasks */
  FLEET_ALONE,     /* leader: run this task alone, and store its results */
  FLEET_DONE,      /* member: its result, or why it cannot run it */
  FLEET_KIND_END
};

/* The beginning of each message. */
struct fleet_head {
  enum fleet_kind kind;
  long task;
};

void fleet_head_write(struct text *out, enum fleet_kind kind, long task);
/* Read a head. `in` stands after it then. Returns false for bytes that do not begin a message. */
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
/* Returns false if the bytes are not a hello, or one of another protocol. Of the latter, `out` receives only the
 * version. */
bool fleet_hello_read(struct unpack *in, struct fleet_hello *out);

/* Whether a member may take part in a team.
 *   why  receives the reason, as the end of a sentence after the member's name: "has Halotune 0.1.0, and the leader
 *        0.2.0" */
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
  const char *coefficients; /* array of so many doubles */
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
  struct measurement result; /* reason and samples point into the message; samples may be unaligned */
};
void fleet_result_write(struct text *out, const struct trial *trial, double scale);
/* Returns false for bytes that are not a result, and for a result that no GPU can have. */
bool fleet_result_read(struct unpack *in, struct fleet_result *out);

#endif
