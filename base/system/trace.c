/* trace.c: writes spans as complete events, one on each line. */
#include "base/system/trace.h"

#include <stdatomic.h>

#include "base/system/clock.h"
#include "base/text/json.h"

enum { MOST_LANES = 512, VARIANT_DIGITS = 16 };

static FILE *file; /* NULL: no trace */
static const char *file_path;
static double start_ms;
static atomic_bool named[MOST_LANES];

bool trace_is_on(void) { return file != NULL; }

double trace_now_ms(void) { return file ? clock_ms() : 0; }

/* Write one event. Lines of two threads never mix, because fwrite locks the file. */
static void write_event(const json_t *event) {
  struct text line = {0};
  if (json_write(&line, event, JSON_IN_LINE)) {
    text_printf(&line, ",\n");
    if (text_ok(&line)) fwrite(line.bytes, 1, line.length, file);
  }
  text_free(&line);
}

static json_t *event_of(const char *phase, int lane, const char *name) {
  json_t *event = json_object();
  json_put(&event, "ph", text_json(phase));
  json_put(&event, "pid", json_integer(1));
  json_put(&event, "tid", json_integer(lane));
  json_put(&event, "name", text_json(name));
  return event;
}

static void write_metadata(int lane, const char *name, const char *key, json_t *value) {
  json_t *event = event_of("M", lane, name), *arguments = json_object();
  json_put(&arguments, key, value);
  json_put(&event, "args", arguments);
  write_event(event);
  json_decref(event);
}

/* Name a lane before its first span. */
static void name_lane(int lane) {
  static const char *const names[TRACE_COMPILERS] = {
      [TRACE_PHASES] = "phases", [TRACE_PROGRAM] = "program", [TRACE_STRATEGY] = "strategy",
      [TRACE_STORE] = "store",   [TRACE_RUNNER] = "runner",   [TRACE_GPU] = "GPU"};
  char compiler[32];
  if (lane < 0 || lane >= MOST_LANES || atomic_exchange(&named[lane], true)) return;
  snprintf(compiler, sizeof compiler, "compiler %d", lane - TRACE_COMPILERS + 1);
  write_metadata(lane, "thread_name", "name", text_json(lane < TRACE_COMPILERS ? names[lane] : compiler));
  write_metadata(lane, "thread_sort_index", "sort_index", json_integer(lane));
}

void trace_begin(FILE *opened, const char *path) {
  file = opened;
  file_path = path;
  start_ms = clock_ms();
  for (int i = 0; i < MOST_LANES; i++) atomic_store(&named[i], false);
  fputs("[\n", file);
  for (int lane = TRACE_PHASES; lane < TRACE_COMPILERS; lane++) name_lane(lane);
  fflush(file); /* processes that are forked from this one must not write these lines once more */
}

halotune_status trace_close(void) {
  if (!file) return HALOTUNE_OK;
  /* The last event has no comma behind it, so that the file is a JSON document. */
  fprintf(file, "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"halotune\"}}\n]\n");
  const bool wrote = !ferror(file);
  const bool closed = fclose(file) == 0;
  file = NULL;
  return wrote && closed ? HALOTUNE_OK : fail(HALOTUNE_IO, "%s: the trace could not be written", file_path);
}

void trace_span(int lane, const char *name, double begin_ms, double end_ms, const struct identity *variant,
                const char *detail) {
  const double us_per_ms = 1e3;
  if (!file) return;
  name_lane(lane);
  json_t *event = event_of("X", lane, name), *arguments = json_object();
  json_put(&event, "ts", rounded_json((begin_ms - start_ms) * us_per_ms, 12));
  json_put(&event, "dur", rounded_json((end_ms - begin_ms) * us_per_ms, 12));
  if (variant) {
    char hex[IDENTITY_HEX_BYTES];
    identity_hex(*variant, hex);
    hex[VARIANT_DIGITS] = '\0';
    json_put(&arguments, "variant", text_json(hex));
  }
  if (detail) json_put(&arguments, "detail", text_json(detail));
  json_put(&event, "args", arguments);
  write_event(event);
  json_decref(event);
}

void trace_end(int lane, const char *name, double begin_ms, const struct identity *variant, const char *detail) {
  if (file) trace_span(lane, name, begin_ms, clock_ms(), variant, detail);
}
