/* tune_devices.c: starts this program for each model of GPU, waits, and prints the output of each. */
#include "tuner/cli/tune/tune_devices.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/parallel.h"
#include "base/system/process.h"
#include "gpu/workers/probe.h"
#include "tuner/cli/options/command_words.h"
#include "tuner/cli/output/output.h"
#include "tuner/cli/output/progress.h"

enum { LOOK_EVERY_US = 50000 };

struct child {
  pid_t pid;          /* 0: it has ended, or was never started */
  int output, errors; /* files in memory */
  enum exit_code code;
};

static volatile sig_atomic_t signals, last_signal;

static void note_signal(int number) {
  signals = signals + 1;
  last_signal = number;
}

static void catch_signals(void) {
  struct sigaction action = {.sa_handler = note_signal};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* Turn a forked child into the command. The child has its own process group, so that Ctrl-C reaches it only through the
 * parent. It is killed when the parent ends. */
__attribute__((noreturn)) static void child_become(const struct command_words *words, const struct child *child,
                                                   pid_t parent) {
  setpgid(0, 0);
  process_die_with(parent);
  if (dup2(child->output, STDOUT_FILENO) >= 0 && dup2(child->errors, STDERR_FILENO) >= 0) {
    const char **arguments = calloc((size_t)words->count + 2, sizeof *arguments);
    if (arguments) {
      arguments[0] = "halotune";
      memcpy(arguments + 1, words->list, (size_t)words->count * sizeof *arguments);
      union {
        const char **ours;
        char *const *theirs;
      } list = {.ours = arguments};
      execv("/proc/self/exe", list.theirs);
    }
  }
  _exit(HALOTUNE_EXIT_FAILURE);
}

/* Start the command for one team. Without --workers, the processes share the cores for their compilers.
 *   count  number of GPUs of all teams */
static halotune_status child_start(const struct invocation *invocation, const struct device_team *team, int count,
                                   struct child *child) {
  static const char *const without[] = {"device", NULL};
  struct command_words words;
  struct text device = {0};
  char workers[16];
  int cores = parallel_threads(0), share = (cores - count) / count;
  halotune_status status = command_words_make(invocation, without, 4, &words);
  if (status != HALOTUNE_OK) return status;
  for (int i = 0; i < team->count; i++) text_printf(&device, "%s%d", i > 0 ? "," : "", team->ordinals[i]);
  snprintf(workers, sizeof workers, "%d", share > 1 ? share : 1);
  command_words_add(&words, "--device");
  command_words_add(&words, text_string(&device));
  if (!option_value(invocation, "workers")) {
    command_words_add(&words, "--workers");
    command_words_add(&words, workers);
  }
  child->output = memfd_create("output", MFD_CLOEXEC);
  child->errors = memfd_create("errors", MFD_CLOEXEC);
  pid_t parent = getpid();
  pid_t pid = child->output >= 0 && child->errors >= 0 ? fork() : -1;
  if (pid == 0) child_become(&words, child, parent);
  command_words_free(&words);
  text_free(&device);
  if (pid < 0)
    return fail(HALOTUNE_IO, "GPU %d: its process cannot be started: %s", team->ordinals[0], strerror(errno));
  child->pid = pid;
  return HALOTUNE_OK;
}

static void child_take_end(struct child *child, int wait_status, int ordinal) {
  child->pid = 0;
  if (WIFEXITED(wait_status)) {
    child->code = (enum exit_code)WEXITSTATUS(wait_status);
    return;
  }
  dprintf(child->errors, "halotune: model %d: ended by signal %d\n", ordinal, WTERMSIG(wait_status));
  child->code = HALOTUNE_EXIT_FAILURE;
}

/* Wait until all children have ended. The first signal is passed on to them. The second one ends them at once. */
static void children_wait(struct child *children, int count) {
  struct progress progress;
  double start_ms = clock_ms();
  int left = count, handed_on = 0;
  progress_open(&progress);
  while (left > 0) {
    const int caught = signals; /* one that comes now is handed on in the next turn */
    left = 0;
    for (int i = 0; i < count; i++) {
      int wait_status;
      if (children[i].pid == 0) continue;
      /* the child may be stopped */
      if (handed_on < caught) kill(children[i].pid, caught > 1 ? SIGKILL : last_signal);
      if (process_has_ended(children[i].pid, &wait_status)) child_take_end(&children[i], wait_status, i);
      left += children[i].pid != 0;
    }
    handed_on = caught;
    struct progress_parts parts = {.count = 0};
    progress_add(&parts, 0, "", "%d of %d model%s at work", left, count, PLURAL(count));
    progress_add(&parts, 1, ", ", "%.0f s", (clock_ms() - start_ms) * 1e-3);
    progress_show(&progress, &parts);
    if (left > 0) usleep(LOOK_EVERY_US);
  }
  progress_hide(&progress);
}

static void print_file(int from, FILE *to) {
  char bytes[4096];
  ssize_t count;
  off_t at = 0;
  for (; (count = pread(from, bytes, sizeof bytes, at)) > 0; at += count) fwrite(bytes, 1, (size_t)count, to);
}

/* Read the document of a child. Returns a new reference; NULL if the child printed no document because it failed
 * before. */
static json_t *document_of(const struct child *child) {
  if (lseek(child->output, 0, SEEK_SET) < 0) return NULL;
  return json_loadfd(child->output, 0, NULL);
}

static halotune_status print_all(const struct child *children, int count, bool json) {
  json_t *list = json ? json_array() : NULL, *document = json ? json_object() : NULL;
  for (int i = 0; i < count; i++) {
    print_file(children[i].errors, stderr);
    if (!json) {
      print_file(children[i].output, stdout);
      if (i + 1 < count) printf("\n");
      continue;
    }
    json_t *own = document_of(&children[i]);
    if (own) json_add(&list, own);
  }
  if (!json) return HALOTUNE_OK;
  json_put(&document, "devices", list);
  return print_json(document);
}

static bool is_same_model(const struct device_facts *a, const struct device_facts *b) {
  return strcmp(a->name, b->name) == 0 && a->capability == b->capability && a->sm_count == b->sm_count;
}

halotune_status device_teams_find(struct device_teams *out) {
  struct probe *probe = calloc(1, sizeof *probe);
  halotune_status status = probe ? probe_gpus(probe) : fail_memory();
  *out = (struct device_teams){.count = 0};
  for (int i = 0; status == HALOTUNE_OK && i < probe->device_count; i++) {
    int at = 0;
    while (at < out->count && !is_same_model(&probe->devices[out->list[at].ordinals[0]], &probe->devices[i])) at++;
    struct device_team *team = &out->list[at];
    team->ordinals[team->count++] = i;
    out->count += at == out->count;
    out->device_count++;
  }
  free(probe);
  return status;
}

enum exit_code tune_devices(const struct invocation *invocation, const struct device_teams *teams) {
  enum exit_code code = HALOTUNE_EXIT_SUCCESS;
  struct child children[DEVICE_TEAMS_MOST];
  halotune_status status = HALOTUNE_OK;
  int count = 0;
  catch_signals();
  for (; status == HALOTUNE_OK && count < teams->count; count++) {
    children[count] = (struct child){.output = -1, .errors = -1, .code = HALOTUNE_EXIT_FAILURE};
    status = child_start(invocation, &teams->list[count], teams->device_count, &children[count]);
  }
  if (status != HALOTUNE_OK) code = report_failure(status);
  children_wait(children, count);
  if (count > 0 && (status = print_all(children, count, option_given(invocation, "json"))) != HALOTUNE_OK) {
    code = report_failure(status);
  }
  for (int i = 0; i < count; i++) {
    if (code == HALOTUNE_EXIT_SUCCESS) code = children[i].code;
    if (children[i].output >= 0) close(children[i].output);
    if (children[i].errors >= 0) close(children[i].errors);
  }
  return code;
}
