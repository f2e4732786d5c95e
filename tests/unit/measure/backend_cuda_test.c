/* backend_cuda_test.c: the cuda backend with the driver of tests/fake_cuda. Variants are verified and timed. Every
 * fault of a kernel, its process or the driver gets the right verdict, and everything works as before afterwards. */
#include <dirent.h>
#include <signal.h>

#include "tests/unit/emulate/running.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/host_cache.h"
#include "tests/unit/measure/backend.h"

enum { ANCHOR = 0, TESTED = 1, HANG_MS = 10000 };

static char folder[64];
static struct compiler *compiler;

static int setup(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-backend-XXXXXX");
  if (!mkdtemp(folder) || !host_cache_use(folder)) return -1;
  setenv("XDG_CACHE_HOME", folder, 1);
  setenv("HALOTUNE_FAKE_SMS", "1", 1); /* so that checks have few blocks */
  setenv("HALOTUNE_FAKE_L2_MB", "1", 1);
  return compiler_open(&(struct compiler_options){.pool = {.workers = 1}}, &compiler) == HALOTUNE_OK ? 0 : -1;
}

static int teardown(void **state) {
  char command[128];
  (void)state;
  compiler_close(compiler);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); // NOLINT(cert-env33-c): the folder is our own
}

static void open_backend(struct backend_handle *backend, const char *fault) {
  const struct backend_cuda_options options = {.hang_ms = HANG_MS, .compiler = compiler};
  if (fault) setenv("HALOTUNE_FAKE_FAULT", fault, 1);
  CHECK_OK(backend_cuda_open(&options, backend));
  unsetenv("HALOTUNE_FAKE_FAULT");
}

static void set_problem(struct backend_handle *backend, const struct stage *stage, enum launch_mode launch,
                        enum cache_mode cache) {
  const struct backend_problem problem = {
      .scene = &stage->scene, .launch = launch, .cache = cache, .roof_elements = 4096};
  CHECK_OK(backend->table->set_problem(backend->state, &problem));
}

static struct verdict load_variant(struct backend_handle *backend, int slot, const struct variant *v) {
  struct verdict verdict;
  struct candidate candidate = candidate_of(v);
  CHECK_OK(backend->table->load(backend->state, slot, &candidate, &verdict));
  return verdict;
}

/* Take three rounds of samples of some slots, none of which may fail. */
static void check_samples(struct backend_handle *backend, const int *slots, int count) {
  enum { ROUNDS = 3 };
  const int batches[] = {5, 3, 2, 4};
  double times_ms[ROUNDS * COUNT(batches)];
  int failed;
  struct verdict verdict;
  for (int warm = 0; warm < 2; warm++) {
    const struct sample_plan plan = {slots, batches, count, ROUNDS, warm == 1, false};
    CHECK_OK(backend->table->sample(backend->state, &plan, times_ms, &failed, &verdict));
    CHECK_EQ(-1, failed, "slot %d: %s", failed, verdict.reason);
    for (int i = 0; i < ROUNDS * count; i++)
      CHECK(times_ms[i] > 0 && times_ms[i] < 1000, "sample %d: %g ms", i, times_ms[i]);
  }
}

static void check_recheck(struct backend_handle *backend, int slot, const char *what) {
  struct verdict verdict;
  CHECK_OK(backend->table->recheck(backend->state, slot, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s: %s", what, verdict.reason);
}

TEST(variants_of_all_stencils_are_verified_and_timed) {
  static const char *const stencils[] = {"star7", "star25", "wave25",      "box27",    "gradient",
                                         "triad", "heat2d", "diffusion2d", "advect1d", "derivative_y"};
  static const struct {
    const char *name, *set; /* for rows of any length, in either type */
  } templates[] = {
      {"direct", "vector=1"},
      {"tile", "tile_x=32 block_x=32 vector=1 tile_y=8 block_y=8 tile_z=1"},
      {"zmarch", "storage=registers vector=1 block_x=32 block_y=8 points_y=1 z_slicing=8"},
      {"pencil", "segment=0 pencils=32 block_x=32 block_y=8"},
  };
  struct backend_handle backend;
  int tried = 0;
  open_backend(&backend, NULL);
  CHECK_TEXT("cuda", backend.table->name, "name");
  CHECK_TEXT("NVIDIA H200", backend.facts.device.name, "device");
  CHECK_EQ(9, backend.facts.arch->major, "arch");
  CHECK(!backend.facts.is_emulation, "a GPU");
  for (size_t i = 0; i < COUNT(stencils); i++) {
    static struct stage stage;
    const int slots[] = {TESTED, SLOT_EMPTY, SLOT_MEMCPY, TESTED};
    stage_open(&stage, stencils[i], i % 2 ? DTYPE_F64 : DTYPE_F32, (struct grid){{27, 24, 21}});
    set_problem(&backend, &stage, i % 2 ? LAUNCH_STREAM : LAUNCH_GRAPH, i % 3 == 1 ? CACHE_COLD : CACHE_STEADY);
    for (size_t t = 0; t < COUNT(templates); t++) {
      struct variant v;
      if ((t > 0 && (i + t) % 2) || !variant_open(&v, &stage, templates[t].name, templates[t].set, compiler)) continue;
      struct verdict verdict = load_variant(&backend, TESTED, &v);
      CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s %s: %s", stencils[i], templates[t].name, verdict.reason);
      CHECK(verdict.worst.passed && verdict.worst.points == box_points(&stage.scene.box), "%s", stencils[i]);
      CHECK(verdict.worst.max_error_units <= stage.scene.allowed_units, "%s", stencils[i]);
      check_samples(&backend, slots, COUNT(slots));
      check_recheck(&backend, TESTED, stencils[i]);
      CHECK_OK(backend.table->unload(backend.state, TESTED));
      variant_close(&v);
      tried++;
    }
    stage_close(&stage);
  }
  CHECK(tried >= 17, "%d variants", tried);
  backend_close(&backend);
}

TEST(a_variant_of_the_roof_copies_the_roof_s_elements) {
  static struct stage stage, roof;
  struct backend_handle backend;
  struct variant v;
  struct verdict verdict;
  const int slots[] = {TESTED, SLOT_MEMCPY};
  open_backend(&backend, NULL);
  for (int mode = 0; mode < 4; mode++) {
    stage_open(&stage, "star7", DTYPE_F32, (struct grid){{20, 20, 20}});
    stage_open(&roof, "copy", DTYPE_F32, (struct grid){{4096, 1, 1}});
    set_problem(&backend, &stage, mode & 1 ? LAUNCH_GRAPH : LAUNCH_STREAM, mode & 2 ? CACHE_COLD : CACHE_STEADY);
    CHECK(variant_open(&v, &roof, "direct", NULL, compiler), "copy");
    struct candidate candidate = candidate_of(&v);
    candidate.is_roof = true;
    CHECK_OK(backend.table->load(backend.state, TESTED, &candidate, &verdict));
    CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
    check_samples(&backend, slots, COUNT(slots));
    check_recheck(&backend, TESTED, "roof");
    variant_close(&v);
    stage_close(&roof);
    stage_close(&stage);
  }
  backend_close(&backend);
}

enum stage_of_fault { AT_LOAD, AT_SAMPLE, AT_RECHECK };

/* For star7 on 20^3 points in f32, whose first point is skipped. A field has 32000 bytes. */
static const struct {
  const char *fault;
  enum stage_of_fault at;
  enum outcome outcome;
  const char *reason;
} fault_rows[] = {
    {"cuLaunchKernel@star7_tile=corrupt:4210", AT_LOAD, OUTCOME_WRONG,
     "v: 1 of 5832 points is wrong, the first (10, 10, 10)"},
    {"cuLaunchKernel@star7_tile=write:0", AT_LOAD, OUTCOME_OUT_OF_BOUNDS,
     "wrote point (0, 0, 0) of v, outside of the box"},
    {"cuLaunchKernel@star7_tile=write:-8", AT_LOAD, OUTCOME_OUT_OF_BOUNDS,
     "wrote in front of v, at 2 elements before its first"},
    {"cuLaunchKernel@star7_tile=write:32000", AT_LOAD, OUTCOME_OUT_OF_BOUNDS,
     "wrote behind v, at 1 element after its last"},
    {"cuLaunchKernel@star7_tile=input:84", AT_LOAD, OUTCOME_WRONG, "changed its input u, first at (1, 1, 0)"},
    {"cuLaunchKernel@star7_tile=input:-4", AT_LOAD, OUTCOME_OUT_OF_BOUNDS, "in front of u"},
    {"cuLaunchKernel@star7_tile=later:ILLEGAL_ADDRESS", AT_LOAD, OUTCOME_OUT_OF_BOUNDS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"cuLaunchKernel@star7_tile=later:MISALIGNED_ADDRESS", AT_LOAD, OUTCOME_OUT_OF_BOUNDS,
     "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {"cuLaunchKernel@star7_tile=later:ILLEGAL_INSTRUCTION", AT_LOAD, OUTCOME_CRASHED, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {"cuLaunchKernel@star7_tile=later:LAUNCH_TIMEOUT", AT_LOAD, OUTCOME_HUNG, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {"cuLaunchKernel@star7_tile=LAUNCH_OUT_OF_RESOURCES", AT_LOAD, OUTCOME_LAUNCH_FAILED,
     "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {"cuModuleLoadData@star7_tile=INVALID_IMAGE", AT_LOAD, OUTCOME_LAUNCH_FAILED, "CUDA_ERROR_INVALID_IMAGE"},
    {"cuModuleLoadData@star7_tile=OUT_OF_MEMORY", AT_LOAD, OUTCOME_LAUNCH_FAILED, "CUDA_ERROR_OUT_OF_MEMORY"},
    {"cuLaunchKernel@star7_tile=kill:SEGV", AT_LOAD, OUTCOME_CRASHED, "signal 11"},
    {"cuLaunchKernel@star7_tile=lost", AT_LOAD, OUTCOME_CRASHED, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {"cuLaunchKernel@star7_tile=hang", AT_LOAD, OUTCOME_HUNG, "did not end in 10.0 s"},
    {"cuLaunchKernel@star7_tile#3+=later:ILLEGAL_ADDRESS", AT_SAMPLE, OUTCOME_OUT_OF_BOUNDS,
     "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"cuLaunchKernel@star7_tile#3+=LAUNCH_OUT_OF_RESOURCES", AT_SAMPLE, OUTCOME_LAUNCH_FAILED,
     "CUDA_ERROR_LAUNCH_OUT_OF"},
    {"cuLaunchKernel@star7_tile#3+=kill:ABRT", AT_SAMPLE, OUTCOME_CRASHED, "signal 6"},
    {"cuLaunchKernel@star7_tile#3+=hang", AT_SAMPLE, OUTCOME_HUNG, "did not end"},
    {"cuLaunchKernel@star7_tile#4=write:-8", AT_RECHECK, OUTCOME_OUT_OF_BOUNDS, "in front of"},
    {"cuLaunchKernel@star7_tile#11+=corrupt:4210", AT_RECHECK, OUTCOME_WRONG, "1 of 5832 points"},
};

/* Take samples of the anchor and the tested slot. Returns the slot that failed. */
static int sample_both(struct backend_handle *backend, struct verdict *verdict) {
  const int slots[] = {ANCHOR, TESTED}, batches[] = {3, 3};
  double times_ms[6];
  int failed;
  const struct sample_plan plan = {slots, batches, 2, 3, false, false};
  CHECK_OK(backend->table->sample(backend->state, &plan, times_ms, &failed, verdict));
  return failed;
}

static void check_fault(size_t row, enum launch_mode launch) {
  static struct stage stage;
  struct backend_handle backend;
  static struct variant anchor, tested;
  const int anchor_slot = ANCHOR;
  stage_open(&stage, "star7", DTYPE_F32, (struct grid){{20, 20, 20}});
  open_backend(&backend, fault_rows[row].fault);
  setenv("HALOTUNE_FAKE_FAULT", fault_rows[row].fault, 1);
  set_problem(&backend, &stage, launch, CACHE_STEADY);
  CHECK(variant_open(&anchor, &stage, "direct", NULL, compiler) &&
            variant_open(&tested, &stage, "tile", NULL, compiler),
        "rules");
  struct verdict verdict = load_variant(&backend, ANCHOR, &anchor);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "anchor: %s", verdict.reason);
  verdict = load_variant(&backend, TESTED, &tested);
  int failed = -1;
  if (fault_rows[row].at != AT_LOAD) {
    CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "row %zu: load: %s", row, verdict.reason);
    failed = sample_both(&backend, &verdict);
    CHECK_EQ(fault_rows[row].at == AT_SAMPLE ? TESTED : -1, failed, "row %zu: %s", row, verdict.reason);
  }
  if (fault_rows[row].at == AT_RECHECK) CHECK_OK(backend.table->recheck(backend.state, TESTED, &verdict));
  CHECK_EQ(fault_rows[row].outcome, verdict.outcome, "row %zu: %s", row, verdict.reason);
  CHECK(strstr(verdict.reason, fault_rows[row].reason), "row %zu: %s", row, verdict.reason);
  /* Everything else works as before: the anchor needs no new load, and the failed slot is empty and usable. */
  check_samples(&backend, &anchor_slot, 1);
  check_recheck(&backend, ANCHOR, "anchor");
  CHECK_OK(backend.table->unload(backend.state, TESTED));
  verdict = load_variant(&backend, TESTED, &anchor);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "row %zu: another: %s", row, verdict.reason);
  backend_close(&backend);
  variant_close(&anchor);
  variant_close(&tested);
  stage_close(&stage);
}

TEST(what_goes_wrong_is_a_verdict_and_the_rest_goes_on) {
  for (size_t i = 0; i < COUNT(fault_rows); i++) {
    bool in_graph = i % 2 && fault_rows[i].at == AT_LOAD;
    check_fault(i, in_graph ? LAUNCH_GRAPH : LAUNCH_STREAM);
  }
}

/* The first process whose parent is `parent`, but not `except`; 0 if there is none. */
static pid_t child_of(pid_t parent, pid_t except) {
  DIR *proc = opendir("/proc");
  pid_t found = 0;
  for (struct dirent *entry = proc ? readdir(proc) : NULL; entry && !found; entry = readdir(proc)) {
    char path[300], line[300] = "";
    int ppid = 0;
    snprintf(path, sizeof path, "/proc/%.100s/stat", entry->d_name);
    FILE *file = strtol(entry->d_name, NULL, 10) > 0 ? fopen(path, "r") : NULL;
    if (!file) continue;
    const char *got = fgets(line, sizeof line, file);
    const char *behind = got ? strrchr(line, ')') : NULL;
    fclose(file);
    if (behind && strlen(behind) > 4) ppid = (int)strtol(behind + 4, NULL, 10);
    pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
    if (ppid == parent && pid != except) found = pid;
  }
  if (proc) closedir(proc);
  return found;
}

static int open_descriptors(void) {
  DIR *own = opendir("/proc/self/fd");
  int count = 0;
  while (own && readdir(own)) count++;
  if (own) closedir(own);
  return count;
}

TEST(a_worker_that_is_killed_while_idle_is_replaced) {
  static struct stage stage;
  struct backend_handle backend;
  struct variant v;
  const int slots[] = {ANCHOR, SLOT_MEMCPY};
  pid_t compile_spawner = child_of(getpid(), 0);
  stage_open(&stage, "heat2d", DTYPE_F64, (struct grid){{60, 50, 1}});
  open_backend(&backend, NULL);
  pid_t spawner = child_of(getpid(), compile_spawner), worker = child_of(spawner, 0);
  CHECK(spawner > 0 && worker > 0, "processes");
  set_problem(&backend, &stage, LAUNCH_GRAPH, CACHE_STEADY);
  CHECK(variant_open(&v, &stage, "direct", NULL, compiler), "rules");
  struct verdict verdict = load_variant(&backend, ANCHOR, &v);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
  kill(worker, SIGKILL);
  while (is_running(worker)) usleep(1000);
  check_samples(&backend, slots, COUNT(slots));
  check_recheck(&backend, ANCHOR, "after");
  CHECK(child_of(spawner, worker) > 0, "another worker than %d of %d", (int)worker, (int)spawner);
  variant_close(&v);
  backend_close(&backend);
  stage_close(&stage);
}

/* One of the checked samples of the tested slot differs from the others. Then another variant kills the worker. */
TEST(what_checks_of_samples_found_outlives_a_worker) {
  static struct stage stage;
  struct backend_handle backend;
  static struct variant tested, killer;
  const int slot = TESTED, batch = 3;
  double times_ms[3];
  int failed;
  stage_open(&stage, "star7", DTYPE_F32, (struct grid){{20, 20, 20}});
  open_backend(&backend, "cuLaunchKernel@star7_tile#9=corrupt:4210;cuLaunchKernel@star7_direct=kill:SEGV");
  set_problem(&backend, &stage, LAUNCH_STREAM, CACHE_STEADY);
  CHECK(variant_open(&tested, &stage, "tile", NULL, compiler) &&
            variant_open(&killer, &stage, "direct", NULL, compiler),
        "rules");
  struct verdict verdict = load_variant(&backend, TESTED, &tested);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
  const struct sample_plan plan = {&slot, &batch, 1, 3, true, true};
  CHECK_OK(backend.table->sample(backend.state, &plan, times_ms, &failed, &verdict));
  CHECK_EQ(-1, failed, "%s", verdict.reason);
  CHECK_EQ(OUTCOME_CRASHED, load_variant(&backend, ANCHOR, &killer).outcome, "the worker");
  CHECK_OK(backend.table->recheck(backend.state, TESTED, &verdict));
  CHECK_EQ(OUTCOME_WRONG, verdict.outcome, "%s", verdict.reason);
  CHECK(strstr(verdict.reason, "2 of 3 samples gave another result"), "%s", verdict.reason);
  verdict = load_variant(&backend, TESTED, &tested);
  CHECK_OK(backend.table->recheck(backend.state, TESTED, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "another load begins anew: %s", verdict.reason);
  backend_close(&backend);
  variant_close(&tested);
  variant_close(&killer);
  stage_close(&stage);
}

/* Also a cubin with so many bytes after its end that it needs several windows. */
TEST(a_cubin_of_any_size_is_loaded) {
  enum { LOADS = 20 };
  static struct stage stage;
  struct backend_handle backend;
  struct variant v;
  stage_open(&stage, "heat2d", DTYPE_F64, (struct grid){{60, 50, 1}});
  open_backend(&backend, NULL);
  set_problem(&backend, &stage, LAUNCH_STREAM, CACHE_STEADY);
  CHECK(variant_open(&v, &stage, "direct", NULL, compiler), "rules");
  CHECK_EQ(OUTCOME_MEASURED, load_variant(&backend, TESTED, &v).outcome, "as it is");
  int before = open_descriptors();
  for (int i = 0; i < LOADS; i++) CHECK_EQ(OUTCOME_MEASURED, load_variant(&backend, TESTED, &v).outcome, "once more");
  CHECK_EQ(before, open_descriptors(), "no descriptor stays open");
  const size_t more = 150u << 20;
  char *larger = realloc(v.compiled.cubin, v.compiled.cubin_bytes + more);
  CHECK(larger, "memory");
  memset(larger + v.compiled.cubin_bytes, 0, more);
  v.compiled.cubin = larger;
  v.compiled.cubin_bytes += more;
  struct verdict verdict = load_variant(&backend, TESTED, &v);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "in parts: %s", verdict.reason);
  check_samples(&backend, &(int){TESTED}, 1);
  backend_close(&backend);
  variant_close(&v);
  stage_close(&stage);
}

TEST(too_little_memory_is_told_with_numbers) {
  static struct stage stage;
  struct backend_handle backend;
  setenv("HALOTUNE_FAKE_MEMORY_MB", "5", 1);
  stage_open(&stage, "star7", DTYPE_F64, (struct grid){{60, 60, 60}});
  open_backend(&backend, NULL);
  const struct backend_problem problem = {.scene = &stage.scene};
  CHECK_EQ(HALOTUNE_MEMORY, backend.table->set_problem(backend.state, &problem), "%s", fail_text());
  CHECK(strstr(fail_text(), " of the GPU's 0.01 GB are free"), "%s", fail_text());
  backend_close(&backend);
  unsetenv("HALOTUNE_FAKE_MEMORY_MB");
  stage_close(&stage);
}

TEST(readings_and_warmth) {
  struct backend_handle backend;
  struct gpu_reading reading;
  setenv("HALOTUNE_FAKE_OTHERS", "2", 1);
  open_backend(&backend, NULL);
  unsetenv("HALOTUNE_FAKE_OTHERS");
  backend.table->read(backend.state, &reading);
  CHECK(reading.sm_mhz > 0 && reading.memory_mhz > 0 && reading.temperature_c > 0 && reading.power_w > 0 &&
            reading.throttle >= 0,
        "%d %d %d %g %lld", reading.sm_mhz, reading.memory_mhz, reading.temperature_c, reading.power_w,
        reading.throttle);
  CHECK(strstr(backend.facts.warnings, "other process"), "%s", backend.facts.warnings);
  CHECK(backend.facts.driver[0], "driver");
  CHECK_OK(backend.table->keep_warm(backend.state, 10));
  backend_close(&backend);
}

TEST(a_driver_older_than_the_compiler_is_named) {
  struct backend_handle backend;
  const struct backend_cuda_options options = {.compiler = compiler};
  setenv("HALOTUNE_FAKE_CUDA", "12020", 1);
  open_backend(&backend, NULL); /* usually it works all the same */
  backend_close(&backend);
  setenv("HALOTUNE_FAKE_FAULT", "cuModuleLoadData=INVALID_IMAGE", 1);
  CHECK_EQ(HALOTUNE_NO_GPU, backend_cuda_open(&options, &backend), "%s", fail_text());
  CHECK(strstr(fail_text(), "runs CUDA 12.2") && strstr(fail_text(), "update the driver") &&
            strstr(fail_text(), "CUDA_ERROR_INVALID_IMAGE"),
        "%s", fail_text());
  unsetenv("HALOTUNE_FAKE_CUDA");
  CHECK_EQ(HALOTUNE_NO_GPU, backend_cuda_open(&options, &backend), "%s", fail_text());
  CHECK(!strstr(fail_text(), "update the driver"), "%s", fail_text());
  unsetenv("HALOTUNE_FAKE_FAULT");
}

TEST(no_driver_and_no_such_gpu) {
  struct backend_handle backend;
  const struct backend_cuda_options options = {.ordinal = 7, .compiler = compiler};
  CHECK_EQ(HALOTUNE_ARGUMENT, backend_cuda_open(&options, &backend), "%s", fail_text());
  CHECK(strstr(fail_text(), "GPU 7"), "%s", fail_text());
  const char *named = getenv("HALOTUNE_LIBCUDA");
  char *library = strdup(named ? named : "");
  setenv("HALOTUNE_LIBCUDA", "/nonexistent/libcuda.so", 1);
  CHECK_EQ(HALOTUNE_NO_GPU, backend_cuda_open(&options, &backend), "%s", fail_text());
  CHECK(strstr(fail_text(), "no CUDA driver"), "%s", fail_text());
  setenv("HALOTUNE_LIBCUDA", library, 1);
  free(library);
  backend_close(&backend);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(variants_of_all_stencils_are_verified_and_timed),
      cmocka_unit_test(a_variant_of_the_roof_copies_the_roof_s_elements),
      cmocka_unit_test(what_goes_wrong_is_a_verdict_and_the_rest_goes_on),
      cmocka_unit_test(a_worker_that_is_killed_while_idle_is_replaced),
      cmocka_unit_test(what_checks_of_samples_found_outlives_a_worker),
      cmocka_unit_test(a_cubin_of_any_size_is_loaded),
      cmocka_unit_test(too_little_memory_is_told_with_numbers),
      cmocka_unit_test(readings_and_warmth),
      cmocka_unit_test(a_driver_older_than_the_compiler_is_named),
      cmocka_unit_test(no_driver_and_no_such_gpu),
  };
  if (!find_fake_cuda()) {
    print_message("# no driver for tests: nothing is tested\n");
    return 0;
  }
  return cmocka_run_group_tests(tests, setup, teardown);
}
