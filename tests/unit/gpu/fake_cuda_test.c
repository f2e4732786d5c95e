/* fake_cuda_test.c: the driver of tests/fake_cuda. Kernels compute the right results on it, and each fault that it can
 * simulate occurs. Each case runs in its own process, because some kill it and the environment is read only once. */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "gpu/compile/cubin_cache.h"
#include "gpu/driver/kernel.h"
#include "gpu/driver/nvml.h"
#include "stencil/generate/generate.h"
#include "stencil/template/template_read.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/host_cache.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"
#include "tuner/verify/compare.h"
#include "tuner/verify/scene.h"

enum { POINTS = 256, GUARD = 64, ANSWER_BYTES = 256 };

static char folder[64];
static struct nvrtc nvrtc;

static struct compiled compile_kernel(const char *source, const char *name) {
  struct compile_request request = {.source = source, .name = name, .arch = "sm_90"};
  struct cubin_cache cache;
  struct compiled compiled;
  CHECK_OK(compile_source(&nvrtc, &request, &compiled));
  CHECK_OK(cubin_cache_open(NULL, 0, &cache));
  CHECK(cubin_cache_put(&cache, &request, &nvrtc.facts, &compiled), "%s", fail_text());
  cubin_cache_close(&cache);
  return compiled;
}

#define KERNEL(body)                                                                                                   \
  "extern \"C\" __global__ void __launch_bounds__(64) scale(const float *u, float *v, const int n, const float a) {\n" \
  "  const int i = blockIdx.x*blockDim.x + threadIdx.x;\n" body "}\n"

enum which { RIGHT, ASTRAY, KERNELS };
static const char *const kernels[KERNELS] = {
    [RIGHT] = KERNEL("  if (i < n) v[i] = a*u[i];  // factor=2\n"),
    [ASTRAY] = KERNEL("  if (i < n) v[i + (1 << 28)] = a*u[i];\n"),
};
static struct compiled cubins[KERNELS];

static int setup(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-fake-XXXXXX");
  if (!mkdtemp(folder) || !host_cache_use(folder)) return -1;
  setenv("XDG_CACHE_HOME", folder, 1);
  if (nvrtc_open(&nvrtc) != HALOTUNE_OK) return -1;
  for (int i = 0; i < KERNELS; i++) cubins[i] = compile_kernel(kernels[i], "scale");
  return 0;
}

static int teardown(void **state) {
  const char *const arguments[] = {"rm", "-rf", folder, NULL};
  struct process_result result;
  struct text nothing = {0};
  (void)state;
  for (int i = 0; i < KERNELS; i++) compiled_free(&cubins[i]);
  nvrtc_close(&nvrtc);
  halotune_status status = process_run(arguments, NULL, &nothing, -1, 10000, NULL, &nothing, &result);
  text_free(&nothing);
  return status == HALOTUNE_OK ? result.wait_status : -1;
}

struct run {
  struct cu cu;
  struct device device;
  CUdeviceptr u, v; /* between guards */
  char *answer;
};

/* Report the first error. */
static bool is_success(struct run *run, CUresult result, const char *what) {
  const char *name = "?";
  if (result == CUDA_SUCCESS) return true;
  run->cu.error_name(result, &name);
  snprintf(run->answer, ANSWER_BYTES, "%s: %s", what, name);
  return false;
}

static bool make_fields(struct run *run) {
  float u[POINTS];
  CUdeviceptr *const fields[] = {&run->u, &run->v};
  for (int i = 0; i < POINTS; i++) u[i] = (float)i;
  for (int i = 0; i < 2; i++) {
    CUdeviceptr memory;
    if (!is_success(run, run->cu.mem_alloc(&memory, (POINTS + 2 * GUARD) * sizeof(float)), "alloc")) return false;
    if (!is_success(run, run->cu.fill_words(memory, 0x7fc00000, POINTS + 2 * GUARD, NULL), "fill")) return false;
    *fields[i] = memory + GUARD * sizeof(float);
  }
  return is_success(run, run->cu.to_device(run->u, u, sizeof u), "to device");
}

/* Check the field and its guards. */
static void check_fields(struct run *run) {
  float v[POINTS + 2 * GUARD];
  if (!is_success(run, run->cu.to_host(v, run->v - GUARD * sizeof(float), sizeof v), "to host")) return;
  snprintf(run->answer, ANSWER_BYTES, "right");
  for (int i = 0; i < POINTS + 2 * GUARD; i++) {
    int at = i - GUARD;
    if (at >= 0 && at < POINTS && v[i] == 2.0f * (float)at) continue;
    uint32_t bits;
    memcpy(&bits, &v[i], sizeof bits);
    if ((at < 0 || at >= POINTS) && bits == 0x7fc00000) continue;
    snprintf(run->answer, ANSWER_BYTES, "wrong at %d", at);
    return;
  }
}

static void run_kernel(enum which which, char *answer) {
  struct run run = {.answer = answer};
  CUmodule module;
  CUfunction function;
  CUevent start, end;
  int n = POINTS;
  float a = 2, time_ms;
  if (cu_open(&run.cu) != HALOTUNE_OK || device_open(&run.cu, 0, &run.device) != HALOTUNE_OK) {
    snprintf(answer, ANSWER_BYTES, "%s", fail_text());
    return;
  }
  if (!make_fields(&run) || !is_success(&run, run.cu.module_load(&module, cubins[which].cubin), "load")) return;
  if (!is_success(&run, run.cu.module_function(&function, module, "scale"), "function")) return;
  if (!is_success(&run, run.cu.event_create(&start, 0), "event") ||
      !is_success(&run, run.cu.event_create(&end, 0), "event"))
    return;
  void *arguments[] = {&run.u, &run.v, &n, &a};
  double before_ms = clock_ms();
  run.cu.event_record(start, NULL);
  if (!is_success(&run, run.cu.launch(function, POINTS / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL), "launch"))
    return;
  run.cu.event_record(end, NULL);
  if (!is_success(&run, run.cu.stream_synchronize(NULL), "synchronize")) return;
  double wall_ms = clock_ms() - before_ms;
  if (!is_success(&run, run.cu.event_time(&time_ms, start, end), "time")) return;
  check_fields(&run);
  if (strcmp(answer, "right") == 0 && time_ms > 0.02f) snprintf(answer, ANSWER_BYTES, "right, but slow");
  const bool has_to_be_late =
      strstr(getenv("HALOTUNE_FAKE_FAULT"), "slow:") != NULL; /* a machine may be slow by itself */
  if (strcmp(answer, "right") == 0 && has_to_be_late && wall_ms > 1000)
    snprintf(answer, ANSWER_BYTES, "right, but late");
}

/* Run a kernel with this fault in another process. `answer` receives what happened. */
static void run_apart(enum which which, const char *fault, char *answer) {
  int ends[2];
  CHECK_EQ(0, pipe(ends), "pipe");
  pid_t pid = fork();
  if (pid == 0) {
    char text[ANSWER_BYTES] = "";
    signal(SIGSEGV, SIG_DFL); /* cmocka's handler would continue with the next test */
    signal(SIGABRT, SIG_DFL);
    setenv("HALOTUNE_FAKE_FAULT", fault, 1);
    alarm(strstr(fault, "hang") ? 1 : 60);
    run_kernel(which, text);
    ssize_t written = write(ends[1], text, sizeof text);
    _exit(written == (ssize_t)sizeof text ? 0 : 1);
  }
  close(ends[1]);
  ssize_t length = read(ends[0], answer, ANSWER_BYTES);
  close(ends[0]);
  int status;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) snprintf(answer, ANSWER_BYTES, "%s", strsignal(WTERMSIG(status)));
  else CHECK_EQ(ANSWER_BYTES, length, "%s", fault);
}

static const struct {
  enum which kernel;
  const char *fault, *want;
} rows[] = {
    {RIGHT, "", "right"},
    {RIGHT, "cuInit=NO_DEVICE",
     "the CUDA driver finds no GPU: check that 'nvidia-smi -L' lists one, that a container may use it (docker run "
     "--gpus all), and that $CUDA_VISIBLE_DEVICES does not hide it (it is \"7\")"},
    {RIGHT, "cuMemAlloc#2=OUT_OF_MEMORY", "alloc: CUDA_ERROR_OUT_OF_MEMORY"},
    {RIGHT, "cuMemAlloc#3=OUT_OF_MEMORY", "right"},
    {RIGHT, "cuModuleLoadData=NO_BINARY_FOR_GPU", "load: CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {RIGHT, "cuLaunchKernel=LAUNCH_OUT_OF_RESOURCES", "launch: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {RIGHT, "cuLaunchKernel=later:ILLEGAL_ADDRESS", "synchronize: CUDA_ERROR_ILLEGAL_ADDRESS"},
    {RIGHT, "cuStreamSynchronize=LAUNCH_FAILED", "synchronize: CUDA_ERROR_LAUNCH_FAILED"},
    {RIGHT, "cuLaunchKernel@factor=2=ASSERT", "launch: CUDA_ERROR_ASSERT"},
    {RIGHT, "cuLaunchKernel@factor=2,scale=ASSERT", "launch: CUDA_ERROR_ASSERT"},
    {RIGHT, "cuLaunchKernel@factor==ASSERT", "right"},
    {RIGHT, "cuLaunchKernel@factor=2,other=ASSERT", "right"},
    {RIGHT, "*#4=UNKNOWN", "cuDeviceGetCount: CUDA_ERROR_UNKNOWN (unknown error)"},
    {RIGHT, "cuLaunchKernel=lost", "launch: CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {RIGHT, "cuLaunchKernel=corrupt:5", "wrong at 5"},
    {RIGHT, "cuLaunchKernel=write:1024", "wrong at 256"},
    {RIGHT, "cuLaunchKernel=write:-4", "wrong at -1"},
    {RIGHT, "cuLaunchKernel=input:8", "right"},
    {RIGHT, "cuLaunchKernel=stretch:100", "right, but slow"},
    {RIGHT, "cuLaunchKernel=slow:1500", "right, but late"},
    {RIGHT, "cuLaunchKernel=kill:SEGV", "Segmentation fault"},
    {RIGHT, "cuStreamSynchronize=kill:KILL", "Killed"},
    {RIGHT, "cuStreamSynchronize=hang", "Alarm clock"},
    {RIGHT, "cuLaunchKernel=melt", "Aborted"},
    {ASTRAY, "", "synchronize: CUDA_ERROR_ILLEGAL_ADDRESS"},
};

TEST(each_fault_strikes) {
  char first[ANSWER_BYTES] = "";
  run_apart(RIGHT, "", first); /* compiles the kernel for the CPU, which takes some time */
  for (size_t i = 0; i < COUNT(rows); i++) {
    char answer[ANSWER_BYTES] = "";
    run_apart(rows[i].kernel, rows[i].fault, answer);
    CHECK_TEXT(rows[i].want, answer, "row %zu: %s", i, rows[i].fault);
  }
}

/* How the field u changes between two launches. */
enum change { BY_HOST, BY_FILL, BY_COPY, BY_SHIFTED_COPY, BY_GRAPH, BY_LAUNCH, BY_FAULT, CHANGES };

/* A field of several of the parts that the driver of tests hashes, and one that ends within a part. */
enum { LONG_POINTS = 30000, CHANGED_POINT = 20000 };

struct long_fields {
  struct cu cu;
  struct device device;
  CUmodule module;
  CUfunction scale;
  CUstream stream;
  CUdeviceptr u, v, other; /* other has the values that u gets */
};

static void scale_field(const struct long_fields *fields, CUdeviceptr from, CUdeviceptr to) {
  int n = LONG_POINTS;
  float a = 2;
  void *arguments[] = {&from, &to, &n, &a};
  CHECK_EQ(0, fields->cu.launch(fields->scale, (LONG_POINTS + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL),
           "launch");
}

static void change_field(const struct long_fields *fields, enum change change) {
  const struct cu *cu = &fields->cu;
  const size_t at = CHANGED_POINT * sizeof(float), bytes = LONG_POINTS * sizeof(float);
  const float seven = 7;
  uint32_t word;
  CUgraph graph;
  CUgraphExec exec;
  memcpy(&word, &seven, sizeof word);
  switch (change) {
  case BY_HOST: CHECK_EQ(0, cu->to_device(fields->u + at, &seven, sizeof seven), "to device"); break;
  case BY_FILL: CHECK_EQ(0, cu->fill_words(fields->u, word, LONG_POINTS, NULL), "fill"); break;
  case BY_COPY: CHECK_EQ(0, cu->copy_async(fields->u, fields->other, bytes, NULL), "copy"); break;
  case BY_SHIFTED_COPY:
    for (int i = 0; i < 2; i++)
      scale_field(fields, fields->other, fields->v); /* they are hashed, and the result kept */
    CHECK_EQ(0, cu->fill_words(fields->u, word, 1, NULL), "fill");
    CHECK_EQ(0, cu->copy_async(fields->u + 4, fields->other, bytes - 4, NULL), "copy");
    break;
  case BY_GRAPH:
    CHECK_EQ(0, cu->capture_begin(fields->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture");
    CHECK_EQ(0, cu->fill_words(fields->u + at, word, 1, fields->stream), "fill");
    CHECK_EQ(0, cu->capture_end(fields->stream, &graph) | cu->graph_instantiate(&exec, graph, 0), "graph");
    CHECK_EQ(0, cu->graph_launch(exec, fields->stream), "graph");
    CHECK_EQ(0, cu->graph_exec_destroy(exec) | cu->graph_destroy(graph), "graph");
    break;
  case BY_LAUNCH: scale_field(fields, fields->other, fields->u); break;
  default: scale_field(fields, fields->u, fields->v); break; /* the fault changes u after it */
  }
}

static void check_field(const struct long_fields *fields, int change, bool is_changed) {
  static float u[LONG_POINTS], v[LONG_POINTS];
  CHECK_EQ(0, fields->cu.to_host(u, fields->u, sizeof u) | fields->cu.to_host(v, fields->v, sizeof v), "to host");
  CHECK(is_changed == (u[CHANGED_POINT] != 1), "change %d: u is %g", change, (double)u[CHANGED_POINT]);
  for (int i = 0; i < LONG_POINTS; i++) {
    CHECK(v[i] == 2 * u[i], "change %d: point %d is %g of %g", change, i, (double)v[i], (double)u[i]);
  }
}

/* The results of launches are kept, so a launch that does not notice a change would leave the result from before it.
 * The second round takes the results of the first. */
static void change_fields(struct long_fields *fields, enum change change) {
  const float one = 1, seven = 7;
  uint32_t word, other_word;
  memcpy(&word, &one, sizeof word);
  memcpy(&other_word, &seven, sizeof other_word);
  for (int round = 0; round < 2; round++) {
    CHECK_EQ(0, fields->cu.fill_words(fields->u, word, LONG_POINTS, NULL), "fill");
    CHECK_EQ(0, fields->cu.fill_words(fields->other, other_word, LONG_POINTS, NULL), "fill");
    /* One value is different, so that a shifted copy is different, too. */
    CHECK_EQ(0, fields->cu.to_device(fields->other + (size_t)LONG_POINTS * 2, &one, sizeof one), "to device");
    if (change != BY_FAULT) {
      for (int i = 0; i < 2; i++) scale_field(fields, fields->u, fields->v);
      check_field(fields, (int)change, false);
    }
    change_field(fields, change);
    scale_field(fields, fields->u, fields->v);
    check_field(fields, (int)change, true);
  }
}

static int change_apart(enum change change) {
  struct long_fields fields;
  if (cu_open(&fields.cu) != HALOTUNE_OK || device_open(&fields.cu, 0, &fields.device) != HALOTUNE_OK) return 1;
  const size_t bytes = LONG_POINTS * sizeof(float);
  CHECK_EQ(0, fields.cu.module_load(&fields.module, cubins[RIGHT].cubin), "load");
  CHECK_EQ(0, fields.cu.module_function(&fields.scale, fields.module, "scale"), "function");
  CHECK_EQ(0, fields.cu.stream_create(&fields.stream, 0), "stream");
  CHECK_EQ(0, fields.cu.mem_alloc(&fields.u, bytes) | fields.cu.mem_alloc(&fields.v, bytes), "memory");
  CHECK_EQ(0, fields.cu.mem_alloc(&fields.other, bytes), "memory");
  change_fields(&fields, change);
  return 0;
}

TEST(a_launch_notices_each_change_of_its_memory) {
  char memo[96], fault[64];
  snprintf(memo, sizeof memo, "%s/memo", folder);
  setenv("HALOTUNE_FAKE_MEMO", memo, 1);
  /* The first launch of each round, of which the second is the third of all, changes a word. */
  snprintf(fault, sizeof fault, "cuLaunchKernel#1=input:%zu;cuLaunchKernel#3=input:%zu",
           (size_t)CHANGED_POINT * sizeof(float), (size_t)CHANGED_POINT * sizeof(float));
  for (int change = 0; change < CHANGES; change++) {
    setenv("HALOTUNE_FAKE_FAULT", change == BY_FAULT ? fault : "", 1);
    pid_t pid = fork();
    if (pid == 0) {
      alarm(300);
      _exit(change_apart((enum change)change));
    }
    int status = -1;
    waitpid(pid, &status, 0);
    CHECK_EQ(0, status, "change %d", change);
  }
  unsetenv("HALOTUNE_FAKE_FAULT");
  unsetenv("HALOTUNE_FAKE_MEMO");
}

/* A fault at the first launch of all processes that share a state occurs once. */
TEST(processes_share_a_state) {
  char file[96], answer[ANSWER_BYTES];
  snprintf(file, sizeof file, "%s/state", folder);
  setenv("HALOTUNE_FAKE_STATE", file, 1);
  run_apart(RIGHT, "cuLaunchKernel#1=ASSERT", answer);
  CHECK_TEXT("launch: CUDA_ERROR_ASSERT", answer, "the first process");
  run_apart(RIGHT, "cuLaunchKernel#1=ASSERT", answer);
  CHECK_TEXT("right", answer, "the second process");
  run_apart(RIGHT, "cuLaunchKernel#3=gone", answer);
  CHECK_TEXT("launch: CUDA_ERROR_DEVICE_UNAVAILABLE", answer, "the process that loses the device");
  run_apart(RIGHT, "", answer);
  CHECK(strstr(answer, "CUDA_ERROR_DEVICE_UNAVAILABLE"), "the device is gone for the next, too: %s", answer);
  unsetenv("HALOTUNE_FAKE_STATE");
}

/* NVML in another process than the one that uses the GPU reports the reason for lower clocks. */
TEST(heat_is_told_by_nvml) {
  char file[96], answer[ANSWER_BYTES];
  struct nvml nvml;
  struct gpu_reading reading;
  snprintf(file, sizeof file, "%s/heat", folder);
  setenv("HALOTUNE_FAKE_STATE", file, 1);
  CHECK_OK(nvml_open(&nvml));
  CHECK_OK(nvml_choose(&nvml, "", "0000:18:00.0"));
  nvml_read(&nvml, &reading);
  CHECK_EQ(1980, reading.sm_mhz, "cool");
  CHECK_EQ(0, nvml_throttle_bits(reading.throttle, NVML_REPEATS), "cool");
  run_apart(RIGHT, "cuLaunchKernel=throttle:1000", answer);
  CHECK_TEXT("right", answer, "only slower");
  nvml_read(&nvml, &reading);
  CHECK(reading.sm_mhz < 1900, "hot: %d MHz", reading.sm_mhz);
  CHECK(nvml_throttle_bits(reading.throttle, NVML_REPEATS) != 0, "hot");
  nvml_close(&nvml);
  unsetenv("HALOTUNE_FAKE_STATE");
}

/* What happens around a load: b: the watch begins, e: it ends. */
static char watched[8];

static void note_begin(const void *state) { strncat(watched, state, 1); }

static void note_end(const void *state) { strncat(watched, (const char *)state + 1, 1); }

/* A launch from a database may be that of another kernel. A driver reads as many arguments as the kernel takes. */
static void check_other_arguments(const struct cu *cu, const void *cubin, const struct kernel_plan *plan) {
  struct kernel_plan others[] = {*plan, *plan, *plan, *plan, *plan};
  struct kernel kernel;
  for (size_t i = 0; i < COUNT(others); i++) others[i].is_stored = true;
  others[0].passes_coefficients = !plan->passes_coefficients;
  others[0].coefficient_bytes = sizeof(double);
  others[1].output_count++;
  others[2].input_count--;
  others[3].geometry_bytes++;
  others[4].workspace_bytes = plan->workspace_bytes ? 0 : 4;
  for (size_t i = 0; i < COUNT(others); i++)
    CHECK_EQ(HALOTUNE_NO_GPU, kernel_load(cu, cubin, &others[i], &kernel), "launch %zu of another kernel", i);
}

static int asked_parameters;

static CUresult count_parameter(CUfunction function, size_t number, size_t *offset, size_t *bytes) {
  (void)function, (void)number, (void)offset, (void)bytes;
  asked_parameters++;
  return CUDA_ERROR_INVALID_VALUE;
}

/* compute-sanitizer counts each failed call as an error of the program. So only a stored launch, which may be that of
 * another kernel, makes the driver fail. */
static void check_own_arguments(const struct cu *cu, const void *cubin, const struct kernel_plan *plan) {
  struct cu counts = *cu;
  struct kernel kernel;
  counts.function_parameter = count_parameter;
  CHECK_OK(kernel_load(&counts, cubin, plan, &kernel));
  CHECK_EQ(0, asked_parameters, "the driver is asked for arguments of a generated launch");
  kernel_unload(&kernel);
}

/* Launch through kernel.h, as the program does, directly or with a graph. */
static bool is_right(const struct compiled *compiled, const struct generated *generated, const struct scene *scene,
                     bool by_graph) {
  const struct scene_request *request = &scene->request;
  size_t points = (size_t)grid_points(&request->domain.grid), bytes = points * sizeof(double);
  struct cu cu;
  struct device device;
  struct kernel_plan plan;
  struct kernel kernel;
  struct kernel_fields fields;
  CUdeviceptr u, v;
  CUstream stream;
  double *got = malloc(bytes);
  CHECK_OK(cu_open(&cu));
  CHECK_OK(device_open(&cu, 0, &device));
  CHECK_EQ(0, cu.stream_create(&stream, 0), "stream");
  CHECK_EQ(0, cu.mem_alloc(&u, bytes) | cu.mem_alloc(&v, bytes), "memory");
  CHECK_EQ(0, cu.to_device(u, scene->inputs[0], bytes) | cu.fill_words(v, ~0u, points * 2, stream), "fields");
  kernel_plan_make(&generated->launch, request->stencil, request->dtype, &request->domain, request->coefficients,
                   &plan);
  check_other_arguments(&cu, compiled->cubin, &plan);
  check_own_arguments(&cu, compiled->cubin, &plan);
  watched[0] = '\0';
  kernel_loads_watch(note_begin, note_end, "be");
  CHECK_OK(kernel_load(&cu, compiled->cubin, &plan, &kernel));
  CHECK_TEXT("be", watched, "a load is watched");
  kernel_loads_watch(NULL, NULL, NULL);
  CHECK_OK(kernel_bind(&kernel, &u, &v, &fields));
  CUgraph graph = NULL;
  CUgraphExec exec = NULL;
  if (by_graph) CHECK_EQ(0, cu.capture_begin(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capture");
  CHECK_EQ(0, kernel_launch(&kernel, &fields, stream), "launch");
  if (by_graph) {
    CHECK_EQ(0, cu.capture_end(stream, &graph) | cu.graph_instantiate(&exec, graph, 0), "graph");
    CHECK_EQ(0, cu.to_host(got, v, bytes), "nothing is launched yet");
    CHECK(isnan(got[points / 2]), "nothing is launched yet");
    CHECK_EQ(0, cu.graph_launch(exec, stream) | cu.graph_exec_destroy(exec) | cu.graph_destroy(graph), "graph");
  }
  CHECK_EQ(0, cu.stream_synchronize(stream) | cu.to_host(got, v, bytes), "result");
  struct comparison found = compare_fields(&request->domain.grid, &scene->box, scene->want[0], scene->magnitudes[0],
                                           got, request->dtype, scene->allowed_units);
  kernel_fields_free(&kernel, &fields);
  kernel_unload(&kernel);
  CHECK_EQ(0, cu.mem_free(u) | cu.mem_free(v) | cu.stream_destroy(stream), "the end");
  device_close(&device);
  cu_close(&cu);
  free(got);
  return found.passed;
}

TEST(variants_compute_what_the_reference_does) {
  static const char *const variants[] = {"load_path=plain", "load_path=texture", "load_path=texture2d"};
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct scene scene;
  double coefficients[MAX_COEFFICIENTS];
  struct grid grid = {{32, 12, 10}};
  CHECK_OK(stencil_of_kernels("star7", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_OK(template_read("templates/zmarch.yaml", &template));
  CHECK_OK(scene_coefficients(stencil, &grid, DTYPE_F64, coefficients));
  struct scene_request request = {.stencil = stencil,
                                  .analysis = analysis,
                                  .dtype = DTYPE_F64,
                                  .input = INPUT_RANDOM,
                                  .seed = 3,
                                  .steps = 1,
                                  .threads = 1,
                                  .domain = domain_dense(stencil, analysis, &grid),
                                  .coefficients = coefficients};
  CHECK_OK(scene_make(&request, &scene));
  for (size_t i = 0; i < COUNT(variants); i++) {
    struct generated generated;
    char set[128];
    snprintf(set, sizeof set, "storage=registers vector=1 block_x=32 block_y=8 points_y=1 z_slicing=8 %s", variants[i]);
    struct variant_spec spec = {.stencil = stencil,
                                .analysis = analysis,
                                .template = template,
                                .dtype = DTYPE_F64,
                                .domain = request.domain,
                                .coefficients = coefficients,
                                .limits = arch_device_limits(arch_find(9, 0))};
    spec.configuration = configuration_for(&spec, set);
    CHECK_OK(generate(&spec, &generated));
    struct compiled compiled = compile_kernel(generated.source, generated.launch.kernel);
    CHECK(is_right(&compiled, &generated, &scene, i == 0), "%s", variants[i]);
    compiled_free(&compiled);
    generated_free(&generated);
  }
  scene_free(&scene);
  template_free(template);
  analysis_free(analysis);
  stencil_free(stencil);
}

/* Messages about a launch say all that can make it fail. */
TEST(the_name_of_a_call_has_all_attributes) {
  static const struct {
    struct kernel kernel;
    const char *want;
  } calls[] = {
      {{.plan = {.grid = {4, 2, 1}, .cluster = {1, 1, 1}}}, "cuLaunchKernel"},
      {{.plan = {.grid = {4, 2, 1}, .cluster = {1, 2, 1}}, .attribute_count = 1},
       "cuLaunchKernelEx in clusters of 1x2x1 blocks"},
      {{.plan = {.grid = {4, 2, 1}, .cluster = {1, 1, 1}, .cooperative = true}, .attribute_count = 1},
       "cuLaunchKernelEx of 8 blocks that run at the same time"},
      {{.plan = {.grid = {4, 2, 1}, .cluster = {1, 2, 1}, .cooperative = true}, .attribute_count = 2},
       "cuLaunchKernelEx of 8 blocks that run at the same time in clusters of 1x2x1 blocks"},
  };
  for (size_t i = 0; i < COUNT(calls); i++) {
    char name[KERNEL_CALL_BYTES];
    kernel_call_name(&calls[i].kernel, name);
    CHECK_TEXT(calls[i].want, name, "row %zu", i);
  }
}

int main(void) {
  setenv("CUDA_VISIBLE_DEVICES", "7", 1); /* the driver of tests ignores it */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_fault_strikes),
      cmocka_unit_test(a_launch_notices_each_change_of_its_memory),
      cmocka_unit_test(processes_share_a_state),
      cmocka_unit_test(heat_is_told_by_nvml),
      cmocka_unit_test(variants_compute_what_the_reference_does),
      cmocka_unit_test(the_name_of_a_call_has_all_attributes),
  };
  if (find_fake_cuda()) return cmocka_run_group_tests(tests, setup, teardown);
  fprintf(stderr, "fake_cuda_test: there is no driver of tests: run 'make fake-cuda'\n");
  return 1;
}
