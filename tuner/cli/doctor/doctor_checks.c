/* doctor_checks.c: checks each part of the machine, with one function for each. */
#include "tuner/cli/doctor/doctor_checks.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files/data_folders.h"
#include "base/files/own.h"
#include "base/memory/array.h"
#include "db/store/check.h"
#include "gpu/compile/arch_support.h"
#include "gpu/compile/cache_folder.h"
#include "gpu/driver/nvml.h"
#include "tuner/cli/options/search_path.h"
#include "tuner/device/driver_limit.h"
#include "tuner/emulate/emulation_compiler.h"

static void finding_miss(struct finding *f, const char *advice) {
  f->state = STATE_MISSING;
  text_printf(&f->text, "%s", fail_text());
  text_printf(&f->advice, "%s", advice);
}

static void finding_warn(struct finding *f, const char *advice) {
  f->state = STATE_WARNING;
  text_printf(&f->advice, "%s", advice);
}

static void look_for_driver(struct machine *m, struct finding *f) {
  const int thousand = 1000, ten = 10;
  if (probe_gpus(&m->gpus) != HALOTUNE_OK) {
    m->gpus.device_count = 0;
    finding_miss(f,
                 "without it, kernels can be compiled for any GPU and verified on the CPU, but not tuned or launched");
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
    finding_miss(
        f,
        "without it, no kernel can be compiled, and only kernels whose machine code is in a database can be launched");
    return;
  }
  const struct nvrtc_facts *facts = &m->nvrtc.facts;
  text_printf(&f->text, "%d.%d", facts->major, facts->minor);
  if (facts->arch_count > 0)
    text_printf(&f->text, ", for sm_%d to sm_%d", facts->archs[0], facts->archs[facts->arch_count - 1]);
  if (m->gpus.device_count == 0 || m->gpus.cuda >= thousand * facts->major + ten * facts->minor) return;
  text_printf(&f->text, ", newer than what the driver runs");
  finding_warn(
      f, "update the driver, or set $HALOTUNE_NVRTC to an NVRTC of the driver's version; ignore this if kernels load");
}

static void look_for_nvml(struct machine *m, struct finding *f) {
  struct nvml nvml;
  (void)m;
  driver_limit_begin();
  if (nvml_open(&nvml) == HALOTUNE_OK) text_printf(&f->text, "of driver %s", nvml.driver[0] ? nvml.driver : "unknown");
  else finding_miss(f, "without it, clocks and throttling are not recorded; it comes with the driver");
  nvml_close(&nvml);
  driver_limit_end();
}

static void look_for_compiler(struct machine *m, struct finding *f) {
  struct emulation_compiler compiler;
  (void)m;
  if (emulation_compiler_open(NULL, false, false, &compiler) == HALOTUNE_OK) text_printf(&f->text, "%s", compiler.path);
  else finding_miss(f, "without it, 'verify' and 'tune --backend host' do not work");
  emulation_compiler_close(&compiler);
}

static void look_for_sqlite(struct machine *m, struct finding *f) {
  (void)m;
  text_printf(&f->text, "%s", sqlite3_libversion());
}

/* Check that a cache's folder is this user's alone, and that files can be created in it. A missing folder is created,
 * as the program itself would do. */
static void try_folder(struct finding *f, const char *folder, const char *advice) {
  const halotune_status status = own_folder_check(folder);
  text_printf(&f->text, "%s", folder);
  if (status != HALOTUNE_OK && status != HALOTUNE_NOT_FOUND) {
    finding_warn(f, fail_text());
  } else if (own_folder_make(folder) != HALOTUNE_OK || access(folder, W_OK | X_OK) != 0) {
    text_printf(&f->text, " cannot be written");
    finding_warn(f, advice);
  }
}

static void look_for_cache(struct machine *m, struct finding *f) {
  static const char advice[] =
      "without a cache everything is compiled each time: make the folder writable, or set $XDG_CACHE_HOME";
  char *folder = NULL;
  (void)m;
  if (cache_folder_default("", &folder) == HALOTUNE_OK && folder) {
    try_folder(f, folder, advice);
  } else {
    text_printf(&f->text, "no place for it: neither $XDG_CACHE_HOME nor $HOME is set");
    finding_warn(f, advice);
  }
  free(folder);
}

/* Check an open database. */
static void look_into(struct store *store, const char *path, struct finding *f) {
  struct text first = {0};
  long count = 0;
  text_printf(&f->text, "%s", path);
  if (store_check_first(store, &first, &count) != HALOTUNE_OK) {
    text_printf(&f->text, ": %s", fail_text());
    finding_warn(f, "see 'halotune db check'");
  } else if (count > 0) {
    text_printf(&f->text, ": %s%s", text_string(&first), count > 1 ? ", and more" : "");
    finding_warn(f, "see 'halotune db check'");
  } else if (access(path, W_OK) != 0) {
    text_printf(&f->text, ", read-only");
    finding_warn(f, "lookups work; to tune, make it writable, or name another file with --db");
  }
  text_free(&first);
}

/* Report how many stencils or templates are found by name, and the folder of the first one. */
static void look_for_files(const struct search_kind *kind, struct finding *f) {
  char **paths = NULL;
  int count = 0;
  if (search_all(kind, NULL, &paths, &count) != HALOTUNE_OK) {
    finding_miss(f, "");
  } else if (count == 0) {
    f->state = STATE_MISSING;
    text_printf(&f->text, "no %s was found", kind->what);
    text_printf(&f->advice, "install Halotune, change to a folder that contains %s, or set $%s", kind->folder,
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

/* Find the first of starter.db, its folder and those above it, up to PREFIX or the root of a build tree, to which a
 * group of others can write. Cut the path there. */
static bool find_shared(char *path) {
  enum { LEVELS = 4 };
  for (int level = 0; level < LEVELS; level++) {
    char *slash = strrchr(path, '/');
    if (data_is_shared(path)) return true;
    const bool is_below_prefix = slash && strcmp(slash, "/share") == 0;
    if (!slash || slash == path || (level == 2 && !is_below_prefix)) return false;
    *slash = '\0';
  }
  return false;
}

/* Check who else can write to the installation: such a user decides what is computed. */
static void look_for_others(struct finding *f, const char *starter) {
  struct text advice = {0};
  char *path = strdup(starter);
  if (path && find_shared(path)) {
    text_printf(&advice, "a group of other users can write to this installation; run: chmod g-w ");
    text_shell_word(&advice, path);
    finding_warn(f, text_string(&advice));
  }
  text_free(&advice);
  free(path);
}

/* Why store_open finds nothing: HALOTUNE_NOT_FOUND also stands for a file without tables. */
static const char *nothing_text(bool is_there) { return is_there ? "no result is stored there yet" : "no such file"; }

/* Check the installed database, which lookups read after the user's own. */
static void look_for_starter(struct machine *m, struct finding *f) {
  char *path = NULL;
  struct store *store = NULL;
  (void)m;
  halotune_status status = store_starter_path(&path);
  text_printf(&f->text, "%s", path ? path : "");
  const bool is_there = path && access(path, F_OK) == 0;
  const bool is_left = status == HALOTUNE_OK && (path ? is_there && !data_is_safe(path) : true);
  if (status == HALOTUNE_OK && !is_left) status = store_open(path, STORE_READ, &store);
  if (is_left) {
    text_printf(&f->text, "%snot used: %s belongs to another user, or all users can write to it", path ? ": " : "",
                path ? "it" : "the folder of this installation");
    finding_warn(f, "give it to root or yourself, and run: chmod o-w");
  } else if (status == HALOTUNE_NOT_FOUND) {
    f->state = STATE_MISSING;
    text_printf(&f->text, ": %s", nothing_text(is_there));
    text_printf(&f->advice, "'make install' installs it; it holds winners for GPUs that others tuned on");
  } else if (status != HALOTUNE_OK) {
    text_printf(&f->text, ": %s", fail_text());
    finding_warn(f, "lookups fail until it is installed again");
  } else if (path) {
    look_for_others(f, path);
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
    finding_miss(f, "results cannot be stored: set $HALOTUNE_DB, or name a file with --db");
    return;
  }
  status = store_open(path, STORE_READ, &store);
  if (status == HALOTUNE_OK) {
    look_into(store, path, f);
  } else if (status == HALOTUNE_NOT_FOUND) {
    f->state = STATE_MISSING;
    text_printf(&f->text, "%s: %s", path, nothing_text(access(path, F_OK) == 0));
    text_printf(&f->advice, "the first 'halotune tune' writes it");
  } else {
    text_printf(&f->text, "%s", fail_text());
    finding_warn(f, "results cannot be stored or found: repair the file, move it away, or name another one with --db");
  }
  store_close(store);
  free(path);
}

/* Report the facts of a GPU, and whether kernels can be compiled for it. */
void doctor_look_at_gpu(const struct machine *m, const struct device_facts *gpu, struct finding *f) {
  const double giga = 1e9, mega = 1e6, khz_to_mhz = 1e-3;
  text_printf(&f->text, "%s, sm_%d, %d SMs at up to %.0f MHz, %.1f GB, L2 %.1f MB, %s", gpu->name, gpu->capability,
              gpu->sm_count, gpu->clock_khz * khz_to_mhz, (double)gpu->memory_bytes / giga, gpu->l2_bytes / mega,
              gpu->uuid);
  const struct arch_facts *facts;
  if (arch_support(gpu->name, gpu->capability, m->has_nvrtc ? &m->nvrtc.facts : NULL, &facts) != HALOTUNE_OK)
    finding_warn(f, fail_text());
}

const struct doctor_piece doctor_pieces[] = {
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
const size_t doctor_piece_count = COUNT(doctor_pieces);
