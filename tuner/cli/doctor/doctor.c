/* doctor.c: `halotune doctor`: prints which parts that Halotune can use exist on this machine, and how to get the
 * others. */
#include <stdio.h>
#include <stdlib.h>

#include "tuner/cli/doctor/doctor_checks.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/output/output.h"

static const char *const state_names[] = {"ok", "warning", "missing"};

static void print_finding(const char *name, const struct finding *f) {
  printf("%-8s %-13s %s\n", state_names[f->state], name, text_string(&f->text));
  if (f->advice.length > 0) printf("%-22s %s\n", "", text_string(&f->advice));
}

static json_t *finding_json(const char *key, const struct finding *f) {
  json_t *json = json_object();
  json_put(&json, "name", text_json(key));
  json_put(&json, "state", text_json(state_names[f->state]));
  json_put(&json, "text", text_json(text_string(&f->text)));
  json_put(&json, "advice", text_json(text_string(&f->advice)));
  return json;
}

static json_t *gpu_json(const struct device_facts *gpu, int number, const struct finding *f) {
  json_t *json = json_object();
  json_put(&json, "number", json_integer(number));
  json_put(&json, "name", text_json(gpu->name));
  json_put(&json, "uuid", text_json(gpu->uuid));
  json_put(&json, "capability", json_integer(gpu->capability));
  json_put(&json, "sms", json_integer(gpu->sm_count));
  json_put(&json, "clock_khz", json_integer(gpu->clock_khz));
  json_put(&json, "memory_clock_khz", json_integer(gpu->memory_clock_khz));
  json_put(&json, "bus_bits", json_integer(gpu->bus_bits));
  json_put(&json, "l2_bytes", json_integer(gpu->l2_bytes));
  json_put(&json, "memory_bytes", json_integer((json_int_t)gpu->memory_bytes));
  json_put(&json, "state", text_json(state_names[f->state]));
  json_put(&json, "advice", text_json(text_string(&f->advice)));
  return json;
}

/* Print one finding or add it to the list, and free it. */
static bool finding_tell(const char *name, json_t **list, json_t *json, struct finding *f) {
  bool complete = text_ok(&f->text) && text_ok(&f->advice);
  if (list) json_add(list, json);
  else print_finding(name, f);
  text_free(&f->text);
  text_free(&f->advice);
  return complete;
}

static enum exit_code doctor_run(const struct invocation *invocation) {
  bool as_json = option_given(invocation, "json"), complete = true;
  json_t *checks = as_json ? json_array() : NULL, *gpus = as_json ? json_array() : NULL;
  struct machine *m = calloc(1, sizeof *m);
  halotune_status status = m ? HALOTUNE_OK : fail_memory();
  for (size_t i = 0; i < doctor_piece_count && m; i++) {
    struct finding f = {.state = STATE_OK};
    doctor_pieces[i].look(m, &f);
    complete = finding_tell(doctor_pieces[i].name, as_json ? &checks : NULL,
                            as_json ? finding_json(doctor_pieces[i].key, &f) : NULL, &f) &&
               complete;
  }
  for (int i = 0; m && i < m->gpus.device_count; i++) {
    struct finding f = {.state = STATE_OK};
    char name[16];
    snprintf(name, sizeof name, "GPU %d", i);
    doctor_look_at_gpu(m, &m->gpus.devices[i], &f);
    complete = finding_tell(name, as_json ? &gpus : NULL, as_json ? gpu_json(&m->gpus.devices[i], i, &f) : NULL, &f) &&
               complete;
  }
  if (m) nvrtc_close(&m->nvrtc);
  free(m);
  if (status == HALOTUNE_OK && !complete) status = fail_memory();
  if (as_json) {
    json_t *document = json_object();
    json_put(&document, "version", text_json(HALOTUNE_VERSION));
    json_put(&document, "checks", checks);
    json_put(&document, "gpus", gpus);
    if (status == HALOTUNE_OK) status = print_json(document);
    else json_decref(document);
  }
  return status == HALOTUNE_OK ? HALOTUNE_EXIT_SUCCESS : report_failure(status);
}

static const struct option_row options[] = {
    {"json", NULL, "print a JSON document"},
    {0},
};

const struct command command_doctor = {
    "doctor", "", 0, 0, "check what this machine has, and say how to install what is missing", options, doctor_run,
};
