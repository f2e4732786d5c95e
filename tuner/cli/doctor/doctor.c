/* doctor.c: `halotune doctor`: what this machine has of all that Halotune can use, what each missing piece would be
 * good for, and what to do about it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/replace.h"
#include "db/store/check.h"
#include "gpu/compile/arch_support.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/compile/nvrtc.h"
#include "gpu/driver/nvml.h"
#include "gpu/workers/probe.h"
#include "tuner/cli/options/option_value.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/cli/output/output.h"
#include "tuner/emulate/emulation_compiler.h"

enum state { STATE_OK, STATE_WARNING, STATE_MISSING };
static const char *const state_names[] = {"ok", "warning", "missing"};

/* One piece. */
struct finding {
  enum state state;
  struct text text, advice; /* advice: what it would be good for, or what to do; "" where all is well */
};

/* What more than one piece asks for. */
struct machine {
  struct probe gpus; /* device_count 0 where there is no driver */
  struct nvrtc nvrtc;
  bool has_nvrtc;
};

static void miss(struct finding *f, const char *advice) {
  f->state = STATE_MISSING;
  text_printf(&f->text, "%s", fail_text());
  text_printf(&f->advice, "%s", advice);
}

static void warn(struct finding *f, const char *advice) {
  f->state = STATE_WARNING;
  text_printf(&f->advice, "%s", advice);
}

static void look_for_driver(struct machine *m, struct finding *f) {
  const int thousand = 1000, ten = 10;
  if (probe_gpus(&m->gpus) != HALOTUNE_OK) {
    m->gpus.device_count = 0;
    miss(f, "with it, kernels are tuned and launched on the GPU; without, they are compiled for any GPU, and verified "
            "on the host");
    return;
  }
  int cuda = m->gpus.cuda;
  text_printf(&f->text, "runs CUDA %d.%d, %d GPU%s", cuda / thousand, cuda % thousand / ten, m->gpus.device_count,
              PLURAL(m->gpus.device_count));
}

static void look_for_nvrtc(struct machine *m, struct finding *f) {
  const int thousand = 1000, ten = 10;
  m->has_nvrtc = nvrtc_open(&m->nvrtc) == HALOTUNE_OK;
  if (!m->has_nvrtc) {
    miss(f, "with it, kernels are compiled; without, only those that a database holds as cubins can be launched");
    return;
  }
  const struct nvrtc_facts *facts = &m->nvrtc.facts;
  text_printf(&f->text, "%d.%d", facts->major, facts->minor);
  if (facts->arch_count > 0)
    text_printf(&f->text, ", for sm_%d to sm_%d", facts->archs[0], facts->archs[facts->arch_count - 1]);
  if (m->gpus.device_count == 0 || m->gpus.cuda >= thousand * facts->major + ten * facts->minor) return;
  text_printf(&f->text, ", newer than what the driver runs");
  warn(f, "update the driver, or name an NVRTC of its version in $HALOTUNE_NVRTC; if kernels load all the same, do "
          "nothing");
}

static void look_for_nvml(struct machine *m, struct finding *f) {
  struct nvml nvml;
  (void)m;
  if (nvml_open(&nvml) == HALOTUNE_OK) text_printf(&f->text, "of driver %s", nvml.driver[0] ? nvml.driver : "unknown");
  else
    miss(f, "with it, clocks and throttling are stored beside times, and samples of a throttled GPU are repeated; it "
            "comes with the driver");
  nvml_close(&nvml);
}

static void look_for_compiler(struct machine *m, struct finding *f) {
  struct emulation_compiler compiler;
  (void)m;
  if (emulation_compiler_open(NULL, false, &compiler) == HALOTUNE_OK) text_printf(&f->text, "%s", compiler.path);
  else miss(f, "with it, variants are verified without a GPU: verify, and tune --backend host");
  emulation_compiler_close(&compiler);
}

static void look_for_sqlite(struct machine *m, struct finding *f) {
  (void)m;
  text_printf(&f->text, "%s", sqlite3_libversion());
}

/* Whether files can be made in a folder, which is itself made where it is missing, as the program would do. */
static void try_folder(struct finding *f, const char *folder, const char *advice) {
  text_printf(&f->text, "%s", folder);
  if (folder_make(folder) == HALOTUNE_OK && access(folder, W_OK | X_OK) == 0) return;
  text_printf(&f->text, " cannot be written");
  warn(f, advice);
}

static void look_for_cache(struct machine *m, struct finding *f) {
  static const char advice[] =
      "without a cache everything is compiled each time: make it writable, or set $XDG_CACHE_HOME";
  char *folder = NULL;
  (void)m;
  if (cache_folder_default("", &folder) == HALOTUNE_OK && folder) {
    try_folder(f, folder, advice);
  } else {
    text_printf(&f->text, "no place for it: neither $XDG_CACHE_HOME nor $HOME is set");
    warn(f, advice);
  }
  free(folder);
}

/* The first of what is wrong with a database. */
static void keep_problem(void *context, const char *text) {
  struct text *first = context;
  if (first->length == 0) text_printf(first, "%s", text);
}

/* What an open database is like. */
static void look_into(struct store *store, const char *path, struct finding *f) {
  struct text first = {0};
  long count = 0;
  text_printf(&f->text, "%s", path);
  if (store_check(store, keep_problem, &first, &count) != HALOTUNE_OK) {
    text_printf(&f->text, ": %s", fail_text());
    warn(f, "see 'halotune db check'");
  } else if (count > 0) {
    text_printf(&f->text, ": %s%s", text_string(&first), count > 1 ? ", and more" : "");
    warn(f, "see 'halotune db check'");
  } else if (access(path, W_OK) != 0) {
    text_printf(&f->text, ", read-only");
    warn(f, "lookups work; to tune, make it writable, or name another file with --db");
  }
  text_free(&first);
}

/* Stencils, or templates: how many are found by their names, and where the first of them lies. */
static void look_for_files(const struct search_kind *kind, struct finding *f) {
  char **paths = NULL;
  int count = 0;
  if (search_all(kind, NULL, &paths, &count) != HALOTUNE_OK) {
    miss(f, "");
  } else if (count == 0) {
    f->state = STATE_MISSING;
    text_printf(&f->text, "no %s is found by its name", kind->what);
    text_printf(&f->advice, "install Halotune, work where there is a folder %s, or name folders in $%s", kind->folder,
                kind->variable);
  } else {
    const char *slash = strrchr(paths[0], '/');
    text_printf(&f->text, "%d, the first in %.*s", count, (int)(slash - paths[0]), paths[0]);
  }
  search_free(paths, count);
}

static void look_for_stencils(struct machine *m, struct finding *f) {
  (void)m;
  look_for_files(&search_stencils, f);
}

static void look_for_templates(struct machine *m, struct finding *f) {
  (void)m;
  look_for_files(&search_templates, f);
}

/* The database that comes with Halotune, which lookup asks after the user's own. */
static void look_for_starter(struct machine *m, struct finding *f) {
  char *path = NULL;
  struct store *store = NULL;
  (void)m;
  halotune_status status = store_starter_path(&path);
  text_printf(&f->text, "%s", path ? path : "");
  if (status == HALOTUNE_OK) status = store_open(path, STORE_READ, &store);
  if (status == HALOTUNE_NOT_FOUND) {
    f->state = STATE_MISSING;
    text_printf(&f->text, " is not there");
    text_printf(&f->advice, "'make install' puts it there: winners for GPUs that others tuned on");
  } else if (status != HALOTUNE_OK) {
    text_printf(&f->text, ": %s", fail_text());
    warn(f, "lookups fail until it is installed anew");
  }
  store_close(store);
  free(path);
}

static void look_for_database(struct machine *m, struct finding *f) {
  char *path = NULL;
  struct store *store = NULL;
  (void)m;
  halotune_status status = store_default_path(&path);
  if (status != HALOTUNE_OK) {
    miss(f, "set $HALOTUNE_DB, or name a file with --db: without one, no result is kept");
    return;
  }
  status = store_open(path, STORE_READ, &store);
  if (status == HALOTUNE_OK) {
    look_into(store, path, f);
  } else if (status == HALOTUNE_NOT_FOUND) {
    f->state = STATE_MISSING;
    text_printf(&f->text, "%s is not there yet", path);
    text_printf(&f->advice, "the first tune makes it");
  } else {
    text_printf(&f->text, "%s", fail_text());
    warn(f, "no result is kept or found there until it is mended, moved away, or another one is named with --db");
  }
  store_close(store);
  free(path);
}

/* Whether kernels can be made for a GPU. */
static void look_at_gpu(const struct machine *m, const struct device_facts *gpu, struct finding *f) {
  const double giga = 1e9, mega = 1e6, khz_to_mhz = 1e-3;
  text_printf(&f->text, "%s, sm_%d, %d SMs at up to %.0f MHz, %.1f GB, L2 %.1f MB, %s", gpu->name, gpu->capability,
              gpu->sm_count, gpu->clock_khz * khz_to_mhz, (double)gpu->memory_bytes / giga, gpu->l2_bytes / mega,
              gpu->uuid);
  const struct arch_facts *facts;
  if (arch_support(gpu->name, gpu->capability, m->has_nvrtc ? &m->nvrtc.facts : NULL, &facts) != HALOTUNE_OK)
    warn(f, fail_text());
}

static const struct {
  const char *key, *name;
  void (*look)(struct machine *m, struct finding *f);
} pieces[] = {
    {"driver", "CUDA driver", look_for_driver},
    {"nvrtc", "NVRTC", look_for_nvrtc},
    {"nvml", "NVML", look_for_nvml},
    {"cxx", "C++ compiler", look_for_compiler},
    {"sqlite", "SQLite", look_for_sqlite},
    {"cache", "cache", look_for_cache},
    {"stencils", "stencils", look_for_stencils},
    {"templates", "templates", look_for_templates},
    {"database", "database", look_for_database},
    {"starter", "starter", look_for_starter},
};

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

/* Tell one finding, and forget it. */
static bool tell(const char *name, json_t **list, json_t *json, struct finding *f) {
  bool complete = text_ok(&f->text) && text_ok(&f->advice);
  if (list) json_add(list, json);
  else print_finding(name, f);
  text_free(&f->text);
  text_free(&f->advice);
  return complete;
}

static enum exit_code run(const struct invocation *invocation) {
  bool as_json = option_given(invocation, "json"), complete = true;
  json_t *checks = as_json ? json_array() : NULL, *gpus = as_json ? json_array() : NULL;
  struct machine *m = calloc(1, sizeof *m);
  halotune_status status = m ? HALOTUNE_OK : fail_memory();
  for (size_t i = 0; i < COUNT(pieces) && m; i++) {
    struct finding f = {.state = STATE_OK};
    pieces[i].look(m, &f);
    complete = tell(pieces[i].name, as_json ? &checks : NULL, as_json ? finding_json(pieces[i].key, &f) : NULL, &f) &&
               complete;
  }
  for (int i = 0; m && i < m->gpus.device_count; i++) {
    struct finding f = {.state = STATE_OK};
    char name[16];
    snprintf(name, sizeof name, "GPU %d", i);
    look_at_gpu(m, &m->gpus.devices[i], &f);
    complete =
        tell(name, as_json ? &gpus : NULL, as_json ? gpu_json(&m->gpus.devices[i], i, &f) : NULL, &f) && complete;
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
    "doctor", "", 0, 0, "tell what this machine has of what is needed, and what to do about the rest", options, run,
};
