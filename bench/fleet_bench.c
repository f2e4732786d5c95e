/* fleet_bench.c: how many verified variants a second a team of simulated members tries.
 *   fleet_bench --recording DATABASE [--members 1,2,64,256] [--seconds 10] [--compilers 15] [--strategy local]
 *
 * Simulated are the members and their link: events on a virtual clock. Everything else is the program itself: search,
 * strategy, leader, messages as bytes, and one stored row for each result, in a file. The processor time that this
 * takes goes into the virtual clock, so that a leader that cannot keep up shows.
 *
 * A member has compilers and one GPU. A variant waits for a compiler, takes its recorded compile time, waits for the
 * GPU, and takes as long as a replay of its recorded samples. A variant that the recording does not have gets one of
 * its rows, chosen by the variant's hash, so that no space is too small for a large team. A message takes LATENCY_MS.
 * Loads and comparisons take none of the time, because no recording has theirs. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/identity/hash.h"
#include "base/numbers/number.h"
#include "base/system/clock.h"
#include "db/store/launch_text.h"
#include "db/store/query.h"
#include "tuner/cli/options/loaded_stencil.h"
#include "tuner/cli/options/templates.h"
#include "tuner/fleet/leader.h"
#include "tuner/measure/backends/backend_replay.h"
#include "tuner/search/tune/task_phases.h"
#include "tuner/search/variants/evaluate.h"

/* A run of one member tries few variants: the mean of UNIT_RUNS with other seeds is what others are compared with. */
enum { MOST_COMPILERS = 64, MOST_MEMBERS = 4096, AHEAD = 4, UNIT_RUNS = 8 };
static const double latency_ms = 0.1;

static void check_status(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  fprintf(stderr, "fleet_bench: %s\n", fail_text());
  exit(1);
}

static void *need(void *memory) {
  if (memory) return memory;
  fprintf(stderr, "fleet_bench: out of memory\n");
  exit(1);
}

/* What a variant of the recording costs, and what comes of it. */
struct recorded {
  double compile_ms, gpu_ms;
  struct trial *trial;
};

struct recording {
  struct recorded *rows;
  long count;
};

/* A message on its way. A binary heap orders them by their times. */
struct event {
  double at_ms;
  long order;
  int rank;
  struct text message;
};

struct sim_member {
  double compiler_free_ms[MOST_COMPILERS], gpu_free_ms;
  long variants;
};

struct sim {
  const struct recording *recording;
  struct sim_member *members;
  int size, compilers;
  long task;
  struct event *heap;
  long heap_count, heap_capacity, sent;
  double jumped_ms;                  /* virtual time that passed while the leader waited */
  double leader_since_ms, leader_ms; /* processor time: when the leader's turn began, and of its turns before */
  long results;
  double first_leader_ms, search_ms; /* the leader's processor time before the search, and of it */
  volatile sig_atomic_t stop;
  double first_ms, last_ms; /* when the first variant was given, and when the last result came */
};

static double processor_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* The simulation itself takes no virtual time. */
static void turn_of_sim(struct sim *sim) { sim->leader_ms += processor_ms() - sim->leader_since_ms; }
static void turn_of_leader(struct sim *sim) { sim->leader_since_ms = processor_ms(); }

static double sim_now_in_turn_ms(const struct sim *sim) { return sim->jumped_ms + sim->leader_ms; }

static double sim_now_ms(void *state) {
  const struct sim *sim = state;
  return sim->jumped_ms + sim->leader_ms + processor_ms() - sim->leader_since_ms;
}

static bool comes_before(const struct event *a, const struct event *b) {
  return a->at_ms < b->at_ms || (a->at_ms == b->at_ms && a->order < b->order);
}

static void heap_push(struct sim *sim, const struct event *event) {
  if (sim->heap_count == sim->heap_capacity) {
    sim->heap_capacity = 2 * sim->heap_capacity + 64;
    sim->heap = need(realloc(sim->heap, (size_t)sim->heap_capacity * sizeof *sim->heap));
  }
  long at = sim->heap_count++;
  for (; at > 0 && comes_before(event, &sim->heap[(at - 1) / 2]); at = (at - 1) / 2)
    sim->heap[at] = sim->heap[(at - 1) / 2];
  sim->heap[at] = *event;
}

static struct event heap_pop(struct sim *sim) {
  const struct event first = sim->heap[0], last = sim->heap[--sim->heap_count];
  long at = 0;
  for (long child; (child = 2 * at + 1) < sim->heap_count; at = child) {
    if (child + 1 < sim->heap_count && comes_before(&sim->heap[child + 1], &sim->heap[child])) child++;
    if (!comes_before(&sim->heap[child], &last)) break;
    sim->heap[at] = sim->heap[child];
  }
  sim->heap[at] = last;
  return first;
}

/* A member says something at a time. */
static void say_at(struct sim *sim, int rank, double at_ms, struct text *message) {
  const struct event event = {.at_ms = at_ms + latency_ms, .order = sim->sent++, .rank = rank, .message = *message};
  heap_push(sim, &event);
}

/* A member gets a variant: compile, run, answer. */
static void member_variant(struct sim *sim, int rank, struct unpack *in) {
  struct sim_member *member = &sim->members[rank];
  struct proposal proposal;
  struct text message = {0};
  if (!fleet_proposal_read(in, &proposal)) exit(1);
  const struct hash hash = hash_bytes(proposal.configuration.choice, sizeof proposal.configuration.choice);
  const struct recorded *row =
      &sim->recording->rows[(hash.low + (uint64_t)proposal.template_index) % (uint64_t)sim->recording->count];
  const double arrival_ms = sim_now_in_turn_ms(sim) + latency_ms;
  int compiler = 0;
  for (int i = 1; i < sim->compilers; i++) {
    if (member->compiler_free_ms[i] < member->compiler_free_ms[compiler]) compiler = i;
  }
  const double compiled_ms = fmax(arrival_ms, member->compiler_free_ms[compiler]) + row->compile_ms;
  member->compiler_free_ms[compiler] = compiled_ms;
  member->gpu_free_ms = fmax(compiled_ms, member->gpu_free_ms) + row->gpu_ms;
  member->variants++;
  if (sim->first_ms == 0) {
    sim->first_ms = arrival_ms;
    sim->first_leader_ms = sim->leader_ms;
  }
  struct trial trial = *row->trial;
  trial.proposal = proposal;
  const unsigned char *choice = proposal.configuration.choice;
  trial.generated.hash = identity_of("simulated", choice, sizeof proposal.configuration.choice);
  trial.generated.hash.bytes[0] ^= (unsigned char)proposal.template_index;
  trial.has_code = true;
  trial.code = trial.generated.hash;
  fleet_head_write(&message, FLEET_RESULT, sim->task);
  fleet_result_write(&message, &trial, 1);
  say_at(sim, rank, member->gpu_free_ms, &message);
}

static halotune_status sim_send(void *state, int to, const void *bytes, size_t count, int timeout_ms) {
  struct sim *sim = state;
  struct unpack in = {.at = bytes, .left = count};
  struct fleet_head head;
  struct text message = {0};
  (void)timeout_ms;
  turn_of_sim(sim);
  if (!fleet_head_read(&in, &head)) exit(1);
  const double now_ms = sim_now_in_turn_ms(sim);
  switch ((int)head.kind) {
  case FLEET_TASK:
    sim->task = head.task;
    fleet_head_write(&message, FLEET_READY, head.task);
    pack_u64(&message, 1);
    pack_text(&message, "");
    say_at(sim, to, now_ms, &message);
    break;
  case FLEET_START:
    fleet_head_write(&message, FLEET_ANCHORED, head.task);
    pack_double(&message, NAN);
    say_at(sim, to, now_ms, &message);
    break;
  case FLEET_VARIANT: member_variant(sim, to, &in); break;
  case FLEET_STOP: {
    struct event *left = sim->heap; /* what is on its way comes to nobody */
    for (long i = 0; i < sim->heap_count; i++) text_free(&left[i].message);
    if (sim->last_ms == 0) {
      sim->last_ms = now_ms;
      sim->search_ms = sim->leader_ms - sim->first_leader_ms;
      sim->stop = 1; /* no finals */
    }
    const bool is_first = to == 1;
    if (is_first) sim->heap_count = 0;
    fleet_head_write(&message, FLEET_SETTLED, head.task);
    pack_u64(&message, 0);
    say_at(sim, to, now_ms, &message);
    break;
  }
  case FLEET_FINALS: exit(1); /* the search ends without finals */
  default: break;
  }
  turn_of_leader(sim);
  return HALOTUNE_OK;
}

static halotune_status sim_receive(void *state, int timeout_ms, int *from, bool *is_gone, struct text *out) {
  struct sim *sim = state;
  turn_of_sim(sim);
  *from = -1;
  *is_gone = false;
  out->length = 0;
  const double now_ms = sim_now_in_turn_ms(sim);
  const bool comes = sim->heap_count > 0 && sim->heap[0].at_ms <= now_ms + timeout_ms;
  if (comes) {
    struct event event = heap_pop(sim);
    sim->jumped_ms += fmax(event.at_ms - now_ms, 0);
    *from = event.rank;
    text_add(out, event.message.bytes, event.message.length);
    struct unpack in = {.at = out->bytes, .left = out->length};
    struct fleet_head head;
    if (fleet_head_read(&in, &head) && head.kind == FLEET_RESULT) sim->results++;
    text_free(&event.message);
  } else {
    sim->jumped_ms += timeout_ms;
  }
  turn_of_leader(sim);
  return HALOTUNE_OK;
}

static const struct fleet_link_table sim_table = {.name = "simulated", .send = sim_send, .receive = sim_receive};

/* --- the recording --- */

struct problem {
  struct loaded loaded;
  struct templates templates;
  struct backend_handle backend;
  struct backend table; /* of the backend, without a list: the space is that of the templates */
  struct task task;
  struct scene scene;
};

static void problem_open(const char *path, int compilers, struct problem *out) {
  static const struct invocation invocation = {.command = &command_tune};
  *out = (struct problem){.table = {.name = ""}};
  check_status(loaded_open("star7", &out->loaded));
  check_status(templates_open(&invocation, &out->templates));
  check_status(backend_replay_open(path, compilers, &out->backend));
  const struct backend_facts *facts = &out->backend.facts;
  out->task = (struct task){.stencil = out->loaded.stencil,
                            .analysis = out->loaded.analysis,
                            .stencil_text = out->loaded.text,
                            .dtype = DTYPE_F32,
                            .grid = {{512, 512, 512}},
                            .limits = facts->device.limits,
                            .arch = facts->arch,
                            .arch_name = "sm_90",
                            .sm_count = facts->device.sm_count,
                            .launch_steps = 1};
  double *coefficients = need(calloc((size_t)out->task.stencil->coefficient_count + 1, sizeof *coefficients));
  check_status(scene_coefficients(out->task.stencil, &out->task.grid, DTYPE_F32, coefficients));
  out->task.coefficients = coefficients;
  out->scene.request =
      (struct scene_request){.stencil = out->task.stencil,
                             .analysis = out->task.analysis,
                             .dtype = DTYPE_F32,
                             .domain = domain_dense(out->task.stencil, out->task.analysis, &out->task.grid),
                             .steps = 1,
                             .launch_steps = 1};
  const struct backend_problem problem = {.scene = &out->scene};
  check_status(out->backend.table->set_problem(out->backend.state, &problem));
}

struct reading {
  struct problem *problem;
  struct recording *recording;
  double best_ms;
};

/* Replay a recorded variant: the second time nothing waits for its compile, so that the clock tells the GPU's time. */
static halotune_status read_one(void *context, const char *name, const char *parameters) {
  struct reading *reading = context;
  struct problem *problem = reading->problem;
  struct recording *recording = reading->recording;
  struct proposal proposal;
  struct trial *trial = NULL;
  const struct time_source time = backend_time(&problem->backend);
  int at = 0;
  memset(&proposal, 0, sizeof proposal);
  while (at < problem->templates.count && strcmp(problem->templates.list[at]->name, name) != 0) at++;
  if (at == problem->templates.count) return HALOTUNE_OK;
  struct template *template = problem->templates.list[at];
  if (configuration_read(template, parameters, &proposal.configuration) != HALOTUNE_OK) return HALOTUNE_OK;
  double gpu_ms = 0;
  for (int turn = 0; turn < 2; turn++) {
    trial_free(trial);
    check_status(trial_begin_away(template, &proposal, &trial)); /* a replay needs no source */
    trial->spec = task_variant(&problem->task, template, &proposal.configuration, &problem->task.grid);
    const double begin_ms = time_now_ms(&time);
    check_status(evaluate(&problem->backend, 1, reading->best_ms, trial));
    gpu_ms = time_now_ms(&time) - begin_ms;
  }
  if (trial->is_over || !outcome_has_time(trial->result.outcome)) {
    trial_free(trial);
    return HALOTUNE_OK;
  }
  recording->rows[recording->count++] = (struct recorded){.gpu_ms = gpu_ms, .trial = trial};
  return HALOTUNE_OK;
}

/* The distribution of compile times: by the order of rows, which is as good as random. */
static const char compiles_sql[] = "select compile_ms from measurement where compile_ms > 0 order by id";

static void recording_open(const char *path, struct problem *problem, struct recording *out) {
  enum { MOST = 1 << 16 };
  struct store *store;
  sqlite3_stmt *query;
  double best_ms = INFINITY;
  *out = (struct recording){.rows = need(calloc(MOST, sizeof *out->rows))};
  check_status(store_open(path, STORE_READ, &store));
  check_status(query_prepare(store_connection(store),
                             "select min(median_ms) from measurement where outcome = 'measured'", &query));
  if (sqlite3_step(query) == SQLITE_ROW) best_ms = sqlite3_column_double(query, 0);
  sqlite3_finalize(query);
  struct reading reading = {problem, out, best_ms};
  check_status(problem->backend.table->list(problem->backend.state, read_one, &reading));
  check_status(query_prepare(store_connection(store), compiles_sql, &query));
  for (long i = 0; i < out->count; i++) {
    if (sqlite3_step(query) != SQLITE_ROW) {
      sqlite3_reset(query);
      if (sqlite3_step(query) != SQLITE_ROW) break;
    }
    out->rows[i].compile_ms = sqlite3_column_double(query, 0);
  }
  sqlite3_finalize(query);
  store_close(store);
}

/* --- a run --- */

struct outcome_of_run {
  double rate, leader_us, busy;
  long results;
};

static struct outcome_of_run run_team(struct problem *problem, const struct recording *recording, int members,
                                      int compilers, double seconds, const struct strategy *strategy, uint64_t seed) {
  struct sim sim = {.recording = recording, .size = members + 1, .compilers = compilers};
  sim.members = need(calloc((size_t)sim.size, sizeof *sim.members));
  turn_of_leader(&sim);
  struct fleet_link link = {.table = &sim_table, .state = &sim, .size = sim.size};
  const struct member_like {
    struct fleet_hello hello;
  } like = {{.version = "0", .device = "simulated", .is_recording = true, .room = 2 * compilers + AHEAD}};
  const struct leader_options options = {
      .link = &link, .own = like.hello, .patience_ms = 1 << 30, .may_share = true, .time = {sim_now_ms, &sim}};
  struct leader *leader;
  struct text words = {0};
  check_status(leader_open(&options, &leader));
  for (int rank = 1; rank <= members; rank++) {
    struct text message = {0};
    fleet_head_write(&message, FLEET_HELLO, 0);
    fleet_hello_write(&message, &like.hello);
    say_at(&sim, rank, 0, &message);
  }
  if (leader_gather(leader, 1000, &words) != members) {
    fprintf(stderr, "fleet_bench: %s\n", text_string(&words));
    exit(1);
  }
  const struct crew crew = leader_crew(leader);
  char folder[] = "/tmp/halotune-fleet-bench-XXXXXX", path[sizeof folder + sizeof "/a.db"];
  if (!mkdtemp(folder)) exit(1);
  snprintf(path, sizeof path, "%s/a.db", folder);
  struct store *store;
  check_status(store_open(path, STORE_WRITE, &store));
  problem->table = *problem->backend.table;
  problem->table.list = NULL;
  struct backend_handle backend = problem->backend;
  backend.table = &problem->table;
  const struct tune_tools tools = {.backend = &backend, .store = store, .crew = &crew};
  const struct tune_templates templates = {problem->templates.list, NULL, problem->templates.count};
  const struct tune_templates none = {NULL, NULL, 0};
  const struct tune_options tune_options = {.strategy = strategy,
                                            .seed = seed,
                                            .budget_s = seconds,
                                            .deadline_ms = INFINITY,
                                            .time = {sim_now_ms, &sim},
                                            .no_hints = true,
                                            .leads_only = true,
                                            .launch = LAUNCH_STREAM,
                                            .command = "fleet_bench",
                                            .host = "simulated",
                                            .stop = &sim.stop};
  static struct tune_result result;
  sim.results = 0;
  check_status(tune(&tools, &problem->task, &templates, NULL, &none, &tune_options, &result));
  const double span_ms = sim.last_ms - sim.first_ms;
  turn_of_sim(&sim);
  struct outcome_of_run out = {.results = sim.results,
                               .rate = (double)sim.results / (span_ms * 1e-3),
                               .leader_us = sim.search_ms * 1e3 / (double)sim.results,
                               .busy = sim.search_ms / span_ms};
  leader_close(leader);
  store_close(store);
  unlink(path);
  rmdir(folder);
  for (long i = 0; i < sim.heap_count; i++) text_free(&sim.heap[i].message);
  free(sim.heap);
  free(sim.members);
  text_free(&words);
  return out;
}

static struct outcome_of_run mean_run(struct problem *problem, const struct recording *recording, int members,
                                      int compilers, double seconds, const struct strategy *strategy, int runs) {
  struct outcome_of_run sum = {.results = 0};
  for (int i = 0; i < runs; i++) {
    const struct outcome_of_run one =
        run_team(problem, recording, members, compilers, seconds, strategy, 1 + (uint64_t)i);
    sum.results += one.results;
    sum.rate += one.rate / runs;
    sum.leader_us += one.leader_us / runs;
    sum.busy += one.busy / runs;
  }
  return sum;
}

static const char *option_of(int argc, char **argv, const char *name, const char *otherwise) {
  for (int i = 1; i + 1 < argc; i++) {
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return otherwise;
}

int main(int argc, char **argv) {
  const char *path = option_of(argc, argv, "--recording", NULL);
  const char *list = option_of(argc, argv, "--members", "1,2,64,256");
  const double seconds = strtod(option_of(argc, argv, "--seconds", "10"), NULL);
  const int compilers = (int)strtol(option_of(argc, argv, "--compilers", "15"), NULL, 10);
  const struct strategy *strategy = strategy_find(option_of(argc, argv, "--strategy", "local"));
  if (!path || !strategy || compilers < 1 || compilers > MOST_COMPILERS || !(seconds > 0)) {
    fprintf(
        stderr,
        "usage: fleet_bench --recording DATABASE [--members 1,2,64,256] [--seconds 10] [--compilers 15] [--strategy local]\n");
    return 2;
  }
  static struct problem problem;
  struct recording recording;
  problem_open(path, compilers, &problem);
  recording_open(path, &problem, &recording);
  double compile_ms = 0, gpu_ms = 0, one = NAN;
  for (long i = 0; i < recording.count; i++) {
    compile_ms += recording.rows[i].compile_ms / (double)recording.count;
    gpu_ms += recording.rows[i].gpu_ms / (double)recording.count;
  }
  printf("%ld recorded variants: %.1f ms of one of %d compilers and %.1f ms of the GPU each, on average\n\n",
         recording.count, compile_ms, compilers, gpu_ms);
  fflush(stdout);
  printf("| members | variants | variants a second | efficiency | leader's processor time a variant | of the time |\n");
  printf("| ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const char *at = list; *at;) {
    char *end;
    const int members = (int)strtol(at, &end, 10);
    if (end == at || members < 1 || members > MOST_MEMBERS) return 2;
    at = *end == ',' ? end + 1 : end;
    const struct outcome_of_run out =
        mean_run(&problem, &recording, members, compilers, seconds, strategy, isnan(one) ? UNIT_RUNS : 1);
    if (isnan(one)) one = out.rate / members;
    printf("| %d | %ld | %.1f | %.3f | %.0f us | %.1f %% |\n", members, out.results, out.rate, out.rate / members / one,
           out.leader_us, out.busy * 100);
    fflush(stdout);
  }
  return 0;
}
