/* member.c: from the leader's messages to tasks, one after the other. */
#include "tuner/fleet/member.h"

#include "include/halotune.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tuner/fleet/member_finals.h"
#include "tuner/fleet/member_parts.h"
#include "tuner/search/tune/search_phase.h"

enum { SEND_MS = 10000, WAIT_MS = 200, ALIVE_EVERY_MS = 1000 };

static halotune_status send_within(struct member_state *member, struct text *message, int timeout_ms) {
  const struct fleet_link *link = member->link;
  halotune_status status = text_ok(message) ? HALOTUNE_OK : fail_memory();
  if (status == HALOTUNE_OK) status = link->table->send(link->state, 0, message->bytes, message->length, timeout_ms);
  text_free(message);
  member->said_ms = clock_ms();
  return status;
}

halotune_status member_send(struct member_state *member, struct text *message) {
  return send_within(member, message, SEND_MS);
}

void member_begin(const struct member_state *member, enum fleet_kind kind, struct text *out) {
  *out = (struct text){0};
  fleet_head_write(out, kind, member->task_number);
}

void member_alive(struct member_state *member) {
  struct text message;
  if (clock_ms() - member->said_ms < ALIVE_EVERY_MS) return;
  member_begin(member, FLEET_ALIVE, &message);
  send_within(member, &message, 0); /* what a leader has not read yet says the same */
}

static bool is_stopped(const struct member_state *member) { return member->tools->stop && *member->tools->stop; }

static halotune_status fail_stopped(void) { return fail(HALOTUNE_IO, "it was told to stop"); }

/* Wait for a message. `in` stands after its head, and is valid until the next call.
 *   head  its kind is FLEET_KIND_END if the time ran out
 * Returns HALOTUNE_OK; HALOTUNE_IO without a leader, for an invalid message, and if the process has to stop. */
static halotune_status receive_message(struct member_state *member, int timeout_ms, struct unpack *in,
                                       struct fleet_head *head) {
  const struct fleet_link *link = member->link;
  int from;
  bool is_gone;
  *head = (struct fleet_head){.kind = FLEET_KIND_END};
  if (is_stopped(member)) return fail_stopped();
  member_alive(member);
  halotune_status status = link->table->receive(link->state, timeout_ms, &from, &is_gone, &member->message);
  if (status != HALOTUNE_OK || from < 0) return status;
  if (is_gone) {
    member->has_no_leader = true;
    return fail(HALOTUNE_IO, "the leader is gone");
  }
  *in = (struct unpack){.at = member->message.bytes, .left = member->message.length};
  if (from == 0 && fleet_head_read(in, head)) {
    if (head->kind != FLEET_REFUSED) return HALOTUNE_OK;
    member->has_no_leader = true;
    return fail(HALOTUNE_ARGUMENT, "the leader goes on without it: %s", unpack_text(in));
  }
  return fail(HALOTUNE_IO, "the leader sent an invalid message");
}

/* --- the functions of a search_follower --- */

/* Take a message during the search. */
static halotune_status take_message(struct member_state *member, struct unpack *in, const struct fleet_head *head) {
  struct proposal proposal;
  switch ((int)head->kind) {
  case FLEET_KIND_END: return HALOTUNE_OK; /* no message came in time */
  case FLEET_STOP: member->is_searched = true; return HALOTUNE_OK;
  case FLEET_END: member->is_searched = member->is_ended = true; return HALOTUNE_OK;
  case FLEET_HOME: member->is_searched = member->is_ended = member->is_home = true; return HALOTUNE_OK;
  case FLEET_VARIANT: break;
  default: return fail(HALOTUNE_IO, "the leader sent a message that does not belong to a search");
  }
  halotune_status status = member_read_proposal(member, in, &proposal);
  if (status != HALOTUNE_OK) return status;
  const double best_ms = unpack_double(in);
  if (in->failed) return fail(HALOTUNE_IO, "a variant without a time");
  if (best_ms < member->best_ms) member->best_ms = best_ms;
  return proposals_add(&member->waiting, &proposal);
}

halotune_status member_read_proposal(const struct member_state *member, struct unpack *in, struct proposal *out) {
  if (!fleet_proposal_read(in, out) || out->template_index >= member->template_count)
    return fail(HALOTUNE_IO, "the leader sent no variant");
  out->template_index = member->templates[out->template_index];
  const struct template *template = member->setup.space.templates[out->template_index];
  for (int i = 0; i < template->parameter_count; i++) {
    if (out->configuration.choice[i] >= template->parameters[i].value_count)
      return fail(HALOTUNE_IO, "the leader sent a value that a parameter does not have");
  }
  return HALOTUNE_OK;
}

static halotune_status listen_to_leader(struct member_state *member, int timeout_ms) {
  struct unpack in;
  struct fleet_head head;
  halotune_status status;
  do {
    status = receive_message(member, timeout_ms, &in, &head);
    if (status == HALOTUNE_OK) status = take_message(member, &in, &head);
    timeout_ms = 0;
  } while (status == HALOTUNE_OK && head.kind != FLEET_KIND_END);
  return status;
}

static halotune_status follow_next(void *state, struct proposal *out, bool *have) {
  struct member_state *member = state;
  halotune_status status = listen_to_leader(member, 0);
  *have = status == HALOTUNE_OK && !member->is_searched && member->waiting_first < member->waiting.count;
  if (!*have) return status;
  *out = member->waiting.list[member->waiting_first++];
  if (member->waiting_first == member->waiting.count) member->waiting_first = member->waiting.count = 0;
  return status;
}

static halotune_status follow_tell(void *state, const struct proposal *proposal, double time_ms) {
  (void)state, (void)proposal, (void)time_ms;
  return HALOTUNE_OK;
}

static const struct strategy strategy_follow = {
    .name = "follow", .about = "what a leader sends", .next = follow_next, .tell = follow_tell};

static bool follow_is_over(void *context) {
  const struct member_state *member = context;
  return member->is_searched || is_stopped(member);
}

static halotune_status follow_wait(void *context, int timeout_ms) { return listen_to_leader(context, timeout_ms); }

static double follow_best_ms(void *context) { return ((const struct member_state *)context)->best_ms; }

static halotune_status follow_anchored(void *context, double anchor_ms) {
  struct member_state *member = context;
  struct text message;
  member_begin(member, FLEET_ANCHORED, &message);
  pack_double(&message, member->has_same_first ? anchor_ms : NAN);
  return member_send(member, &message);
}

static halotune_status follow_finished(void *context, const struct trial *trial, double scale) {
  struct text message;
  member_begin(context, FLEET_RESULT, &message);
  fleet_result_write(&message, trial, scale);
  return member_send(context, &message);
}

static halotune_status follow_settled(void *context, long ticket, double scale, bool is_marked) {
  struct member_state *member = context;
  pack_u64(&member->settled, (uint64_t)ticket);
  pack_double(&member->settled, scale);
  pack_u64(&member->settled, is_marked);
  member->settled_count++;
  return HALOTUNE_OK;
}

static void show_alive(void *context, const struct tune_progress *progress) {
  (void)progress;
  member_alive(context);
}

/* --- a task --- */

/* Check that the stencil can have the leader's element type and grid: products of other numbers overflow. */
static halotune_status problem_check(const struct stencil *stencil, const struct fleet_task *from) {
  bool fits = stencil->dtypes[from->dtype];
  for (int axis = 0; axis < MAX_DIMS; axis++)
    fits = fits && from->grid.n[axis] <= (axis < stencil->dims ? GRID_MOST_AXIS_POINTS : 1);
  if (fits) return stencil_check_grid(stencil, &from->grid, NULL);
  return fail(HALOTUNE_ARGUMENT, "stencil %s has no such grid or element type", stencil->name);
}

/* Read the stencil, and check that stencil and templates mean the same here. */
static halotune_status task_read(struct member_state *member, const struct fleet_task *from) {
  const struct source source = source_of("the leader's stencil", from->stencil_text, strlen(from->stencil_text));
  char hex[IDENTITY_HEX_BYTES];
  halotune_status status = stencil_parse(&source, &member->stencil);
  if (status == HALOTUNE_OK) status = analysis_make(member->stencil, &member->analysis);
  if (status != HALOTUNE_OK) return status;
  identity_hex(member->analysis->hash, hex);
  if (strcmp(hex, from->stencil_hash) != 0)
    return fail(HALOTUNE_ARGUMENT, "stencil %s has another meaning there than at the leader", member->stencil->name);
  status = problem_check(member->stencil, from);
  if (status != HALOTUNE_OK) return status;
  if (from->coefficient_count != 0 && from->coefficient_count != member->stencil->coefficient_count)
    return fail(HALOTUNE_ARGUMENT, "stencil %s has %d coefficients, not %d", member->stencil->name,
                member->stencil->coefficient_count, from->coefficient_count);
  member->coefficients = calloc((size_t)from->coefficient_count + 1, sizeof *member->coefficients);
  member->list = calloc((size_t)from->template_count + 1, sizeof *member->list);
  member->fixed = calloc((size_t)from->template_count + 1, sizeof *member->fixed);
  if (!member->coefficients || !member->list || !member->fixed) return fail_memory();
  memcpy(member->coefficients, from->coefficients, (size_t)from->coefficient_count * sizeof(double));
  const struct tune_templates *own = &member->tools->templates;
  for (int i = 0; i < from->template_count; i++) {
    int at = 0;
    while (at < own->count && strcmp(own->list[at]->name, from->template_names[i]) != 0) at++;
    if (at == own->count) return fail(HALOTUNE_ARGUMENT, "it has no template %s", from->template_names[i]);
    identity_hex(own->list[at]->hash, hex);
    if (strcmp(hex, from->template_hashes[i]) != 0)
      return fail(HALOTUNE_ARGUMENT, "its template %s differs from the leader's", from->template_names[i]);
    member->list[i] = own->list[at];
    if (own->fixed) member->fixed[i] = own->fixed[at];
  }
  return HALOTUNE_OK;
}

/* Make the task in this process. */
static void task_make(struct member_state *member, const struct fleet_task *from) {
  const struct backend_facts *facts = &member->tools->backend->facts;
  snprintf(member->arch, sizeof member->arch, "sm_%d", facts->device.capability);
  member->task = (struct task){.stencil = member->stencil,
                               .analysis = member->analysis,
                               .stencil_text = member->text,
                               .dtype = from->dtype,
                               .grid = from->grid,
                               .coefficients = from->coefficient_count > 0 ? member->coefficients : NULL,
                               .limits = facts->device.limits,
                               .arch = facts->arch,
                               .arch_name = member->arch,
                               .sm_count = facts->device.sm_count,
                               .reproducible = from->reproducible,
                               .launch_steps = from->launch_steps};
}

/* Wait for a message of one of two kinds. FLEET_END and FLEET_HOME end the task instead. */
static halotune_status await_message(struct member_state *member, enum fleet_kind kind, struct unpack *in) {
  while (!member->is_ended) {
    struct fleet_head head;
    halotune_status status = receive_message(member, WAIT_MS, in, &head);
    if (status != HALOTUNE_OK || head.kind == kind) return status;
    member->is_home = head.kind == FLEET_HOME;
    member->is_ended = head.kind == FLEET_END || member->is_home;
    if (!member->is_ended && head.kind != FLEET_KIND_END && head.kind != FLEET_STOP)
      return fail(HALOTUNE_IO, "the leader sent a message that does not belong here");
  }
  return HALOTUNE_OK;
}

static halotune_status say_ready(struct member_state *member, bool is_ready, const char *why) {
  struct text message;
  member_begin(member, FLEET_READY, &message);
  pack_u64(&message, is_ready);
  pack_text(&message, why);
  return member_send(member, &message);
}

/* Take the results of the leader's set-up: which of its templates this process has, its default variant, and the
 * launch mode. */
static halotune_status take_start(struct member_state *member, struct unpack *in) {
  struct fleet_start start;
  const struct search_space *space = &member->setup.space;
  if (!fleet_start_read(in, &start)) return fail(HALOTUNE_IO, "the leader did not begin the search");
  member->template_count = start.template_count;
  for (int i = 0; i < start.template_count; i++) {
    int at = 0;
    while (at < space->count && strcmp(space->templates[at]->name, start.templates[i]) != 0) at++;
    if (at == space->count) return fail(HALOTUNE_ARGUMENT, "template %s does not apply here", start.templates[i]);
    member->templates[i] = at;
  }
  const struct trial *first = member->setup.first;
  if (start.has_first && start.first.template_index < start.template_count && first) {
    start.first.template_index = member->templates[start.first.template_index];
    member->has_same_first = proposal_equals(space, &start.first, &first->proposal);
  }
  if (start.launch == member->setup.launch) return HALOTUNE_OK;
  return setup_change_launch(&member->setup_inputs, &member->setup, start.launch);
}

static halotune_status search_task(struct member_state *member) {
  struct setup *setup = &member->setup;
  static const struct proposal_list none;
  const struct search_follower follower = {.is_over = follow_is_over,
                                           .wait = follow_wait,
                                           .best_ms = follow_best_ms,
                                           .anchored = follow_anchored,
                                           .finished = follow_finished,
                                           .settled = follow_settled,
                                           .context = member};
  const struct search_inputs in = {.task = &member->task,
                                   .space = &setup->space,
                                   .schedule = &member->schedule,
                                   .rows = &setup->rows,
                                   .first = setup->first,
                                   .first_ms = setup->first_ms,
                                   .memcpy_ms = NAN,
                                   .hints = &none,
                                   .starts = &none,
                                   .strategy = &strategy_follow,
                                   .in_full = member->tools->in_full,
                                   .fresh = true,
                                   .follower = &follower,
                                   .backend = member->tools->backend,
                                   .pipeline = setup->pipeline,
                                   .strategy_state = member,
                                   .timed = &member->timed,
                                   .twins = &member->twins,
                                   .tally = &member->tally,
                                   .progress = &member->progress};
  struct search_end end = {.scale = 1};
  halotune_status status = search_phase_run(&in, &end);
  if (status != HALOTUNE_OK || member->is_ended) return status;
  if (!member->is_searched && is_stopped(member)) return fail_stopped();
  struct text message;
  member_begin(member, FLEET_SETTLED, &message);
  pack_u64(&message, (uint64_t)member->settled_count);
  if (member->settled_count > 0) text_add(&message, member->settled.bytes, member->settled.length);
  return member_send(member, &message);
}

/* Whether a member whose set-up ended with this status cannot run other tasks: the leader, the GPU or the disk is
 * gone, or it was told to stop. */
static bool ends_member(halotune_status status) { return status == HALOTUNE_IO || status == HALOTUNE_NO_GPU; }

/* Run a task that is known to be the same as the leader's: set-up, search, finals. */
static halotune_status task_run(struct member_state *member, const struct fleet_task *from) {
  const struct member_tools *tools = member->tools;
  const struct time_source time = backend_time(tools->backend);
  struct unpack in;
  struct store *store = NULL;
  halotune_status status = store_open_memory(&store);
  if (status != HALOTUNE_OK) return status;
  const struct tune_tools tune_tools = {.backend = tools->backend, .compiler = tools->compiler, .store = store};
  const struct tune_templates templates = {member->list, tools->templates.fixed ? member->fixed : NULL,
                                           from->template_count};
  const struct tune_options options = {.strategy = &strategy_follow,
                                       .budget_s = INFINITY,
                                       .deadline_ms = INFINITY,
                                       .time = time,
                                       .no_hints = true,
                                       .launch = -1,
                                       .cache = from->cache,
                                       .command = "member",
                                       .host = tools->host};
  member->schedule = schedule_start(&time, tools->stop, INFINITY);
  schedule_divide(&member->schedule, INFINITY, false); /* the leader ends the search */
  member->progress = (struct run_progress){.show = show_alive,
                                           .context = member,
                                           .schedule = &member->schedule,
                                           .tally = &member->tally,
                                           .timed = &member->timed,
                                           .memcpy_ms = NAN};
  member->setup_inputs = (struct setup_inputs){.tools = &tune_tools,
                                               .task = &member->task,
                                               .templates = &templates,
                                               .options = &options,
                                               .schedule = &member->schedule,
                                               .progress = &member->progress};
  status = setup_make(&member->setup_inputs, &member->setup);
  if (status == HALOTUNE_OK && is_stopped(member)) status = fail_stopped(); /* it may have no problem */
  if (status == HALOTUNE_OK) {
    status = say_ready(member, true, "");
  } else if (!ends_member(status)) { /* for example a problem that is too large. The next task may be possible */
    status = say_ready(member, false, fail_text());
    member->is_ended = true;
  }
  if (status == HALOTUNE_OK) status = await_message(member, FLEET_START, &in);
  if (status == HALOTUNE_OK && !member->is_ended) status = take_start(member, &in);
  if (status == HALOTUNE_OK && !member->is_ended) status = search_task(member);
  while (status == HALOTUNE_OK && !member->is_ended) {
    status = await_message(member, FLEET_FINALS, &in);
    if (status == HALOTUNE_OK && !member->is_ended) status = member_finals(member, &in);
  }
  if (status == HALOTUNE_CANCELLED && is_stopped(member)) status = fail_stopped();
  setup_free(&member->setup);
  store_close(store);
  return status;
}

/* Run a task. If it cannot begin here, tell the leader. The next task may be possible. */
static halotune_status task_take(struct member_state *member, struct unpack *in) {
  struct fleet_task from;
  if (!fleet_task_read(in, &from)) return fail(HALOTUNE_IO, "the leader sent no task");
  member->text = strdup(from.stencil_text);
  halotune_status status = member->text ? task_read(member, &from) : fail_memory();
  if (status == HALOTUNE_OK) {
    task_make(member, &from);
    status = task_run(member, &from);
  } else {
    status = say_ready(member, false, fail_text());
  }
  analysis_free(member->analysis);
  stencil_free(member->stencil);
  free(member->text);
  free(member->coefficients);
  free(member->list);
  free(member->fixed);
  timed_free(&member->timed);
  twins_free(&member->twins);
  proposals_free(&member->waiting);
  text_free(&member->settled);
  *member = (struct member_state){.link = member->link,
                                  .tools = member->tools,
                                  .said_ms = member->said_ms,
                                  .has_no_leader = member->has_no_leader,
                                  .is_home = member->is_home,
                                  .message = member->message,
                                  .best_ms = INFINITY};
  return status;
}

/* Tell the leader that this member lives, and take the leader's messages. It is called between the steps of a task
 * that this member runs alone. */
static void look_alone(void *context) {
  struct member_state *member = context;
  struct unpack in;
  struct fleet_head head;
  if (member->alone_stop) {
    member_alive(member);
    return;
  }
  if ((member->alone_status = receive_message(member, 0, &in, &head)) != HALOTUNE_OK) {
    snprintf(member->alone_reason, sizeof member->alone_reason, "%s", fail_text());
    member->alone_stop = 1;
    return;
  }
  member->is_home = head.kind == FLEET_HOME;
  if (head.kind == FLEET_STOP || head.kind == FLEET_HOME) member->alone_stop = 1;
}

/* Run a task alone. If a signal for this process ended it, the leader decides whether others continue it. */
static halotune_status alone_take(struct member_state *member, struct unpack *in) {
  const struct member_tools *tools = member->tools;
  const struct member_alone how = {look_alone, member, &member->alone_stop};
  struct text what = {0}, result = {0}, message;
  text_printf(&what, "%s", unpack_text(in));
  if (in->failed || !text_ok(&what)) {
    text_free(&what);
    return fail(HALOTUNE_IO, "the leader sent no task");
  }
  member->alone_stop = 0;
  member->alone_status = HALOTUNE_OK;
  halotune_status status = tools->alone ? tools->alone(tools->alone_context, &how, text_string(&what), &result)
                                        : fail(HALOTUNE_ARGUMENT, "it cannot run a task alone");
  text_free(&what);
  if (!member->has_no_leader && !ends_member(status)) {
    member_begin(member, FLEET_DONE, &message);
    pack_u64(&message, status == HALOTUNE_OK);
    pack_u64(&message, is_stopped(member));
    pack_text(&message, status == HALOTUNE_OK ? "" : fail_text());
    if (status == HALOTUNE_OK) text_add(&message, result.bytes, result.length);
    status = member_send(member, &message);
  }
  text_free(&result);
  return member->has_no_leader ? fail(member->alone_status, "%s", member->alone_reason) : status;
}

struct fleet_hello fleet_hello_of(const struct member_tools *tools) {
  const struct backend_facts *facts = &tools->backend->facts;
  struct fleet_hello hello = {.capability = facts->device.capability,
                              .sm_count = facts->device.sm_count,
                              .ordinal = tools->ordinal,
                              .is_emulation = facts->is_emulation,
                              .is_recording = facts->is_recording,
                              .room = tools->room > 0 ? tools->room : 1};
  snprintf(hello.version, sizeof hello.version, "%s", HALOTUNE_VERSION);
  snprintf(hello.driver, sizeof hello.driver, "%s", facts->driver);
  if (tools->compiler) {
    const struct nvrtc_facts *nvrtc = compiler_nvrtc(tools->compiler);
    snprintf(hello.nvrtc, sizeof hello.nvrtc, "%d.%d", nvrtc->major, nvrtc->minor);
  } else {
    snprintf(hello.nvrtc, sizeof hello.nvrtc, "%s", facts->nvrtc);
  }
  snprintf(hello.host, sizeof hello.host, "%s", tools->host ? tools->host : "");
  snprintf(hello.device, sizeof hello.device, "%s", facts->device.name);
  snprintf(hello.uuid, sizeof hello.uuid, "%s", facts->device.uuid);
  return hello;
}

static halotune_status say_hello(struct member_state *member) {
  const struct fleet_hello hello = fleet_hello_of(member->tools);
  struct text message;
  member_begin(member, FLEET_HELLO, &message);
  fleet_hello_write(&message, &hello);
  return member_send(member, &message);
}

static void say_leaving(struct member_state *member, const char *why) {
  struct text message;
  member_begin(member, FLEET_LEAVING, &message);
  pack_text(&message, why);
  member_send(member, &message);
}

halotune_status member_serve(const struct fleet_link *link, const struct member_tools *tools) {
  struct member_state *member = calloc(1, sizeof *member);
  if (!member) return fail_memory();
  *member = (struct member_state){.link = link, .tools = tools, .said_ms = clock_ms(), .best_ms = INFINITY};
  halotune_status status = say_hello(member);
  while (status == HALOTUNE_OK && !member->is_home) {
    struct unpack in;
    struct fleet_head head;
    status = receive_message(member, WAIT_MS, &in, &head);
    if (status != HALOTUNE_OK) break;
    if (head.kind == FLEET_HOME) break;
    if (head.kind == FLEET_TASK) {
      member->task_number = head.task;
      status = task_take(member, &in);
    } else if (head.kind == FLEET_ALONE) {
      member->task_number = head.task;
      status = alone_take(member, &in);
    }
  }
  if (status != HALOTUNE_OK && !member->has_no_leader) say_leaving(member, fail_text());
  text_free(&member->message);
  free(member);
  return status;
}

void member_decline(const struct fleet_link *link, const char *why) {
  struct member_state member = {.link = link};
  say_leaving(&member, why);
}
