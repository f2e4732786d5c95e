/* fault.c: faults on command. fake.h describes their form. */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/fake_cuda/fake.h"

enum action { RETURN, LATER, SLOW, WAIT, STRETCH, HANG, KILL, LOST, GONE, CORRUPT, WRITE, INPUT, THROTTLE };

struct fault {
  char call[64];
  char words[256]; /* separated by commas; "" for none */
  long long first, last;
  enum action action;
  CUresult result;
  double value;
  int pointers_after; /* of WRITE */
};

static struct fault faults[MAX_FAULTS];
static int fault_count = -1; /* -1: not read yet */

/* Refuse an unknown fault. Otherwise a test with a misspelt fault would pass without it. */
__attribute__((noreturn)) static void refuse(const char *text) {
  fprintf(stderr, "fake driver: no such fault: %s\n", text);
  abort();
}

/* Read a number; 0 for an empty text, -1e18 for a text that is not a number. */
static double number_of(const char *text) {
  char *end;
  double number = strtod(text, &end);
  return *end == '\0' ? number : -1e18;
}

static double signal_of(const char *name) {
  static const struct {
    const char *name;
    int number;
  } signals[] = {{"KILL", SIGKILL}, {"SEGV", SIGSEGV}, {"ABRT", SIGABRT}, {"BUS", SIGBUS}, {"TERM", SIGTERM}};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    if (strcmp(name, signals[i].name) == 0) return signals[i].number;
  }
  return number_of(name);
}

/* Read OFFSET[:N]. */
static bool read_place(const char *text, struct fault *out) {
  char *end;
  out->value = strtod(text, &end);
  if (*end == ':') out->pointers_after = (int)strtol(end + 1, &end, 10);
  return *end == '\0';
}

static bool read_action(const char *text, struct fault *out) {
  static const struct {
    const char *name;
    enum action action;
  } actions[] = {{"later", LATER}, {"slow", SLOW},       {"wait", WAIT},   {"stretch", STRETCH},
                 {"hang", HANG},   {"kill", KILL},       {"lost", LOST},   {"gone", GONE},
                 {"write", WRITE}, {"corrupt", CORRUPT}, {"input", INPUT}, {"throttle", THROTTLE}};
  const char *colon = strchr(text, ':'), *value = colon ? colon + 1 : "";
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strlen(actions[i].name) != length || strncmp(text, actions[i].name, length) != 0) continue;
    out->action = actions[i].action;
    if (out->action == LATER) return fake_error_find(value, &out->result);
    if (out->action == WRITE) return read_place(value, out);
    out->value = out->action == KILL ? signal_of(value) : number_of(value);
    return out->value > -1e18 && (out->action != KILL || out->value > 0);
  }
  out->action = RETURN;
  return fake_error_find(text, &out->result);
}

/* Read CALL[@WORD,...][#N[+]]=ACTION. Words may contain '=', so the action is after the last one. */
static bool read_fault(char *text, struct fault *out) {
  char *action = strrchr(text, '=');
  if (!action) return false;
  *action++ = '\0';
  char *number = strchr(text, '#');
  out->first = 1;
  out->last = INT64_MAX;
  if (number) {
    *number++ = '\0';
    out->first = strtoll(number, &number, 10);
    if (*number != '+') out->last = out->first;
  }
  char *words = strchr(text, '@');
  if (words) *words++ = '\0';
  if (strlen(text) >= sizeof out->call || (words && strlen(words) >= sizeof out->words)) return false;
  snprintf(out->call, sizeof out->call, "%s", text);
  snprintf(out->words, sizeof out->words, "%s", words ? words : "");
  return read_action(action, out);
}

static void read_faults(void) {
  const char *given = getenv("HALOTUNE_FAKE_FAULT");
  char *copy = strdup(given ? given : ""), *rest = copy;
  fault_count = 0;
  for (char *text = strsep(&rest, ";"); text; text = strsep(&rest, ";")) {
    if (*text == '\0') continue;
    char whole[512];
    snprintf(whole, sizeof whole, "%s", text);
    if (fault_count == MAX_FAULTS || !read_fault(text, &faults[fault_count])) refuse(whole);
    fault_count++;
  }
  free(copy);
}

static bool is_of_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '='; }

static bool holds_word(const char *source, const char *word, size_t length) {
  const char *end = source + strlen(source);
  for (const char *at = source; (at = memmem(at, (size_t)(end - at), word, length)) != NULL; at++) {
    if ((at == source || !is_of_word(at[-1])) && !is_of_word(at[length])) return true;
  }
  return false;
}

static bool holds_words(const char *source, const char *words) {
  while (*words) {
    size_t length = strcspn(words, ",");
    if (!source || !holds_word(source, words, length)) return false;
    words += length;
    words += *words == ',';
  }
  return true;
}

static bool matches(const struct fault *fault, const char *call, const char *source) {
  size_t length = strlen(fault->call);
  bool same = strcmp(fault->call, "*") == 0 ||
              (strncmp(call, fault->call, length) == 0 && (call[length] == '\0' || strcmp(call + length, "_v2") == 0));
  return same && holds_words(source, fault->words);
}

static void sleep_ms(double ms) {
  struct timespec wait = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms * 1e6) % 1000000000};
  nanosleep(&wait, NULL);
}

static void wait_for_go(void) {
  const char *file = getenv("HALOTUNE_FAKE_GO");
  if (!file) refuse("wait without HALOTUNE_FAKE_GO");
  while (access(file, F_OK) != 0) sleep_ms(10);
}

static CUresult strike(const struct fault *fault, struct fake_damage *damage) {
  struct fake_damage none = {0}, *d = damage ? damage : &none;
  switch (fault->action) {
  case RETURN:
    if (fake_error_sticks(fault->result)) fake_sticky = fault->result;
    return fault->result;
  case LATER: fake_sticky = fault->result; break;
  case SLOW: sleep_ms(fault->value); break;
  case WAIT: wait_for_go(); break;
  case STRETCH: d->stretch = fault->value; break;
  case HANG:
    while (true) pause();
  case KILL: kill(getpid(), (int)fault->value); break;
  case GONE: fake_state()->gone = true; /* fall through */
  case LOST: fake_sticky = CUDA_ERROR_DEVICE_UNAVAILABLE; return fake_sticky;
  case CORRUPT:
    d->corrupts = true;
    d->element = (long long)fault->value;
    break;
  case WRITE:
  case INPUT:
    *(fault->action == WRITE ? &d->writes : &d->writes_input) = true;
    d->offset_bytes = (long long)fault->value;
    d->pointers_after = fault->pointers_after;
    break;
  case THROTTLE: fake_state()->throttled_until_us = fake_state()->clock_us + 1e3 * fault->value; break;
  }
  return CUDA_SUCCESS;
}

/* Calls that do not need the device. They work in every state. */
static bool is_harmless(const char *call) {
  static const char *const names[] = {"cuInit", "cuDeviceGetCount", "cuDriverGetVersion"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(call, names[i]) == 0) return true;
  }
  return false;
}

CUresult fake_begin(const char *call, const char *source, struct fake_damage *damage) {
  CUresult before = fake_sticky;
  if (fault_count < 0) read_faults();
  if (fake_state()->gone && !is_harmless(call)) return CUDA_ERROR_DEVICE_UNAVAILABLE;
  if (before != CUDA_SUCCESS && !is_harmless(call)) return before;
  for (int i = 0; i < fault_count; i++) {
    if (!matches(&faults[i], call, source)) continue;
    long long number = ++fake_state()->counts[i];
    if (number < faults[i].first || number > faults[i].last) continue;
    fake_log("fault %s %lld", call, number);
    CUresult result = strike(&faults[i], damage);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
