/* gpu_session_test.c: a session in this process, with the driver of tests/fake_cuda. After samples the fields must hold
 * the result of as many time steps. */

#include "tests/unit/device/check_module.h"
#include "tuner/device/gpu_energy.h"

/* Upload the scene's fields, which are doubles, to the session. */
static void upload_all(struct gpu_session *s, const struct scene *scene, const struct stencil *stencil) {
  size_t bytes = gpu_problem_bytes(&s->problem);
  for (int i = 0; i < stencil->input_count; i++)
    CHECK_OK(gpu_session_upload(s, GPU_UPLOAD_START, i, 0, scene->inputs[i], bytes));
  for (int o = 0; o < scene->written_count; o++) {
    if (s->problem.phase_count > 1) {
      CHECK_OK(gpu_session_upload(s, GPU_UPLOAD_START, stencil->input_count + o, 0, scene->outputs[o], bytes));
    }
    CHECK_OK(gpu_session_upload(s, GPU_UPLOAD_WANT, o, 0, scene->want[o], bytes));
    CHECK_OK(gpu_session_upload(s, GPU_UPLOAD_MAGNITUDE, o, 0, scene->magnitudes[o], bytes));
  }
}

/* A problem on the GPU with its fields, and a variant that is compiled but not loaded. */
struct opened {
  struct stage stage;
  struct gpu_session s;
  struct gpu_problem problem;
  struct kernel_plan plan;
  struct variant v;
};

static void open_variant_steps(struct opened *out, const char *stencil, struct grid grid, const char *template,
                               const char *set, enum launch_mode launch, enum cache_mode cache, int launch_steps) {
  struct stage *stage = &out->stage;
  stage_open_steps(stage, stencil, DTYPE_F64, grid, launch_steps);
  const struct backend_problem wanted = {.scene = &stage->scene, .launch = launch, .cache = cache};
  CHECK(variant_open(&out->v, stage, template, set, compiler), "rules");
  CHECK_OK(cuda_problem_make(&wanted, &out->problem));
  CHECK_OK(gpu_session_open(0, &out->s));
  CHECK_OK(gpu_session_prepare(&out->s, checks.cubin));
  CHECK_OK(gpu_session_problem(&out->s, &out->problem));
  upload_all(&out->s, &stage->scene, stage->stencil);
  kernel_plan_make(&out->v.generated.launch, stage->stencil, stage->dtype, &out->v.spec.domain, stage->coefficients,
                   &out->plan);
}

static void open_variant(struct opened *out, const char *stencil, struct grid grid, const char *template,
                         const char *set, enum launch_mode launch, enum cache_mode cache) {
  open_variant_steps(out, stencil, grid, template, set, launch, cache, 1);
}

static void close_variant(struct opened *opened) {
  gpu_session_close(&opened->s);
  variant_close(&opened->v);
  stage_close(&opened->stage);
}

/* Compare the result of the last application with the reference after as many launches. */
static void check_launches(struct gpu_session *s, const struct stage *stage, int launches, const char *what) {
  struct scene_request request = stage->scene.request;
  struct scene scene;
  const struct gpu_phase *last = &s->problem.phases[(launches - 1) % s->problem.phase_count];
  size_t bytes = gpu_problem_bytes(&s->problem);
  double *got = malloc(bytes);
  request.steps = launches * request.launch_steps;
  CHECK_OK(scene_make(&request, &scene));
  CHECK(got, "memory");
  CHECK_EQ(CUDA_SUCCESS, s->cu.to_host(got, s->fields[last->outputs[0]].data, bytes), "copy");
  struct comparison c = compare_fields(&request.domain.grid, &scene.box, scene.want[0], scene.magnitudes[0], got,
                                       stage->dtype, scene.allowed_units);
  CHECK(c.passed, "%s after %d steps: %ld of %ld points are wrong, by up to %g units", what, request.steps,
        c.bad_points, c.points, c.max_error_units);
  scene_free(&scene);
  free(got);
}

/* A variant is also verified with its output in the memory of an input. It passes where the file allows that, and fails
 * where the input is read at neighbours. */
TEST(a_variant_is_verified_in_place) {
  static struct opened c;
  struct gpu_look_back seen;
  open_variant(&c, "../tests/data/wave_in_place", (struct grid){{20, 17, 1}}, "direct", "vector=1 load_path=plain",
               LAUNCH_STREAM, CACHE_STEADY);
  const int output = c.problem.input_count;
  CHECK_EQ(2, c.problem.in_place[0], "the second input");
  CHECK_OK(gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false));
  CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
  CHECK_EQ(0, seen.buffers[output].bad, "in the memory of u_prev");
  CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
  for (int i = 0; i <= output; i++) CHECK_EQ(0, seen.buffers[i].bad + seen.buffers[i].damaged, "buffer %d", i);
  c.s.problem.in_place[0] = 1;
  CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
  CHECK(seen.buffers[output].bad > 0, "in the memory of u");
  close_variant(&c);
}

/* The launch that fills the workspace with leftovers writes the inputs in whose memory the outputs lie. */
TEST(a_variant_with_a_workspace_is_verified_in_place) {
  static struct opened c;
  struct gpu_look_back seen;
  open_variant(&c, "../tests/data/wave_in_place", (struct grid){{20, 17, 1}}, "../tests/data/templates/workspace", NULL,
               LAUNCH_STREAM, CACHE_STEADY);
  CHECK(c.plan.workspace_bytes > 0, "a workspace");
  CHECK_OK(gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false));
  CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
  CHECK_EQ(0, seen.buffers[c.problem.input_count].bad, "in the memory of u_prev");
  close_variant(&c);
}

/* The number of tensor maps that were encoded. */
static int encoded;
static CUresult (*encode)(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                          const cuuint64_t *extents, const cuuint64_t *strides_bytes, const cuuint32_t *box,
                          const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                          CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

static CUresult count_encode(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                             const cuuint64_t *extents, const cuuint64_t *strides_bytes, const cuuint32_t *box,
                             const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                             CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  encoded++;
  return encode(map, type, rank, address, extents, strides_bytes, box, steps, interleave, swizzle, promotion, fill);
}

static void check_samples(const char *stencil, const char *template, const char *set, enum launch_mode launch, int maps,
                          int launch_steps) {
  static struct opened c;
  struct gpu_look_back seen;
  const int batches[] = {1, 5, 4, 5};
  double time_ms;
  int launches = 0;
  open_variant_steps(&c, stencil, (struct grid){{20, 17, 15}}, template, set, launch, CACHE_STEADY, launch_steps);
  encode = c.s.cu.tensor_map_encode;
  c.s.cu.tensor_map_encode = count_encode;
  encoded = 0;
  CHECK_OK(gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false));
  CHECK_EQ(maps * c.problem.phase_count, encoded, "%s %s: maps of each phase", stencil, template);
  CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
  encoded = 0;
  for (size_t i = 0; i < COUNT(batches); i++) {
    CHECK_OK(gpu_session_sample(&c.s, 0, batches[i], i % 2 == 1, &time_ms));
    CHECK(c.s.applications >= launches + batches[i], "%ld applications", c.s.applications);
    launches = (int)c.s.applications;
    CHECK_EQ(launches % c.problem.phase_count, c.s.phase, "%s: phase", stencil);
    check_launches(&c.s, &c.stage, launches, stencil);
  }
  CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
  for (int i = 0; i < gpu_problem_buffers(&c.problem); i++)
    CHECK_EQ(0, seen.buffers[i].damaged, "%s: buffer %d", stencil, i);
  CHECK(!gpu_session_is_lost(&c.s), "nothing was lost");
  CHECK_EQ(0, encoded, "%s %s: maps of samples", stencil, template);
  close_variant(&c);
}

TEST(samples_of_an_iterated_stencil_are_its_time_steps) {
  static const struct {
    const char *stencil, *template, *set;
    int maps; /* of one launch */
    int launch_steps;
  } rows[] = {{"star7", "direct", NULL, 0, 1},
              {"heat2d", "fused_tile", "steps=3", 0, 3},
              {"wave25", "fused_tile", "steps=2", 0, 2},
              {"heat2d", "pipeline_rows", "steps=4", 0, 4},
              {"star7", "resident", "steps=4 depth=2 tile_y=8 tile_z=8 block_y=8 vector=2", 0, 4},
              {"heat2d", "direct", NULL, 0, 1},
              {"wave25", "direct", NULL, 0, 1},
              {"wave25", "../tests/data/templates/tensor", NULL, 1, 1},
              {"heat2d", "../tests/data/templates/tensor", "stores=engine", 2, 1},
              {"star7", "../tests/data/templates/tensor", "overlap=1", 1, 1},
              {"star7", "../tests/data/templates/cluster", NULL, 0, 1},
              {"heat2d", "../tests/data/templates/cluster", "overlap=1", 0, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    check_samples(rows[i].stencil, rows[i].template, rows[i].set, LAUNCH_STREAM, rows[i].maps, rows[i].launch_steps);
    check_samples(rows[i].stencil, rows[i].template, rows[i].set, LAUNCH_GRAPH, rows[i].maps, rows[i].launch_steps);
  }
}

/* An output becomes wrong after samples. The session must know whose output it is, and whether there is a reference for
 * it. */
TEST(the_last_output_is_compared_where_it_can_be) {
  enum { WHERE = 7 };
  static const struct {
    const char *stencil;
    enum cache_mode cache;
    int asked; /* the slot that is inspected */
    bool is_compared;
  } rows[] = {{"triad", CACHE_STEADY, 0, true},
              {"triad", CACHE_STEADY, 1, false},
              {"triad", CACHE_COLD, 0, false},
              {"star7", CACHE_STEADY, 0, false}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    static struct opened c;
    struct gpu_look_back seen;
    const double wrong = 12345;
    double time_ms;
    open_variant(&c, rows[i].stencil, (struct grid){{19, 17, 15}}, "direct", NULL, LAUNCH_STREAM, rows[i].cache);
    for (int slot = 1; slot >= 0; slot--) CHECK_OK(gpu_session_load(&c.s, slot, &c.plan, c.v.compiled.cubin, false));
    CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
    for (int k = 0; k < 3; k++) CHECK_OK(gpu_session_sample(&c.s, 0, 4, true, &time_ms));
    CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
    CHECK_EQ(0, seen.buffers[c.problem.input_count].bad, "row %zu: right", i);
    CUdeviceptr output = c.s.fields[c.problem.input_count].data;
    CHECK_EQ(CUDA_SUCCESS, c.s.cu.to_device(output + WHERE * sizeof wrong, &wrong, sizeof wrong), "row %zu", i);
    CHECK_OK(gpu_session_inspect(&c.s, rows[i].asked, &seen));
    CHECK_EQ(rows[i].is_compared, seen.buffers[c.problem.input_count].bad, "row %zu: points that are wrong", i);
    if (rows[i].is_compared) CHECK(seen.compared_points > 1 && seen.got[0] == wrong, "row %zu: %g", i, seen.got[0]);
    close_variant(&c);
  }
}

/* As after the replacement of a worker: variants are loaded again, and none has run yet. */
TEST(fields_that_no_variant_wrote_are_not_judged) {
  static const char *const stencils[] = {"triad", "star7"};
  for (size_t i = 0; i < COUNT(stencils); i++) {
    static struct opened c;
    struct gpu_look_back seen;
    open_variant(&c, stencils[i], (struct grid){{19, 17, 15}}, "direct", NULL, LAUNCH_STREAM, CACHE_STEADY);
    for (int round = 0; round < 2; round++) {
      for (int slot = 0; slot < 2; slot++) CHECK_OK(gpu_session_load(&c.s, slot, &c.plan, c.v.compiled.cubin, false));
      for (int slot = 0; slot < 2; slot++) {
        CHECK_OK(gpu_session_inspect(&c.s, slot, &seen));
        for (int b = 0; b < gpu_problem_buffers(&c.problem); b++)
          CHECK_EQ(0, seen.buffers[b].bad + seen.buffers[b].damaged, "%s: slot %d: buffer %d", stencils[i], slot, b);
      }
      CHECK_OK(gpu_session_verify(&c.s, 1, &seen));
      CHECK_OK(gpu_session_problem(&c.s, &c.problem)); /* the next problem begins anew */
      upload_all(&c.s, &c.stage.scene, c.stage.stencil);
    }
    close_variant(&c);
  }
}

/* The second of four samples leaves a wrong value at one point, when the end of its batch is awaited. */
static struct {
  CUresult (*wait)(CUevent event);
  struct gpu_session *session;
  CUdeviceptr at;
  int calls, strikes;
} damage;

static CUresult wait_and_damage(CUevent event) {
  const double wrong = 12345;
  CUresult result = damage.wait(event);
  if (++damage.calls == damage.strikes) damage.session->cu.to_device(damage.at, &wrong, sizeof wrong);
  return result;
}

TEST(a_checked_sample_that_is_wrong_is_told_later) {
  enum { WHERE = 19 * 17 * 7 + 19 * 8 + 9, WHERE_1D = 5, SAMPLES = 4, BATCH = 3 };
  static const struct {
    const char *stencil;
    enum cache_mode cache;
    enum launch_mode launch;
    int strikes; /* at this sample; 0: never */
    int differing, wrong;
  } rows[] = {{"star7", CACHE_STEADY, LAUNCH_STREAM, 0, 0, 0}, {"star7", CACHE_STEADY, LAUNCH_STREAM, 2, 2, 0},
              {"star7", CACHE_STEADY, LAUNCH_GRAPH, 3, 2, 0},  {"wave25", CACHE_STEADY, LAUNCH_STREAM, 4, 1, 0},
              {"triad", CACHE_STEADY, LAUNCH_STREAM, 0, 0, 0}, {"triad", CACHE_STEADY, LAUNCH_STREAM, 2, 0, 1},
              {"triad", CACHE_COLD, LAUNCH_STREAM, 0, 0, 0},   {"triad", CACHE_COLD, LAUNCH_STREAM, 2, 0, 1},
              {"star7", CACHE_COLD, LAUNCH_STREAM, 2, 0, 1}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    static struct opened c;
    struct gpu_look_back seen;
    double time_ms;
    open_variant(&c, rows[i].stencil, (struct grid){{19, 17, 15}}, "direct", NULL, rows[i].launch, rows[i].cache);
    for (int slot = 0; slot < 2; slot++) CHECK_OK(gpu_session_load(&c.s, slot, &c.plan, c.v.compiled.cubin, false));
    CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
    const int output = c.problem.input_count, bindings = c.s.slots[0].binding_count;
    const bool rotates = rows[i].cache == CACHE_COLD && c.s.rotation.count > 0;
    damage.session = &c.s;
    damage.wait = c.s.cu.event_synchronize;
    damage.calls = 0;
    damage.strikes = rows[i].strikes;
    damage.at =
        (rotates ? gpu_rotation_field(&c.s.rotation, (BATCH - 1) % bindings, output) : c.s.fields[output].data) +
        (c.stage.stencil->dims == 1 ? WHERE_1D : WHERE) * sizeof(double);
    c.s.cu.event_synchronize = wait_and_damage;
    for (int k = 0; k < SAMPLES; k++) CHECK_OK(gpu_session_sample_checked(&c.s, 0, BATCH, &time_ms));
    CHECK_OK(gpu_session_sample_checked(&c.s, 1, BATCH, &time_ms)); /* another slot runs after it */
    CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
    CHECK_EQ(SAMPLES, seen.checked_samples, "row %zu: samples", i);
    CHECK_EQ(rows[i].differing, seen.differing_samples, "row %zu: samples that differ", i);
    CHECK_EQ(rows[i].wrong, seen.buffers[output].bad, "row %zu: points that are wrong", i);
    CHECK_OK(gpu_session_inspect(&c.s, 1, &seen));
    CHECK_EQ(0, seen.differing_samples + seen.buffers[output].bad, "row %zu: the other slot", i);
    close_variant(&c);
  }
}

/* A session needs one workspace for samples and one for the verified run, so each may take at most half of the free
 * memory. */
TEST(a_workspace_has_to_fit) {
  static struct opened c;
  struct gpu_look_back seen;
  size_t free_bytes = 0, total_bytes = 0;
  double time_ms;
  setenv("HALOTUNE_FAKE_MEMORY_MB", "64", 1);
  open_variant(&c, "scan_z", (struct grid){{8, 6, 260}}, "scan_segments", "vector=2", LAUNCH_STREAM, CACHE_STEADY);
  CHECK_OK(gpu_did(&c.s.gpu, c.s.cu.mem_info(&free_bytes, &total_bytes), "cuMemGetInfo"));
  CHECK(c.plan.workspace_bytes > 0 && c.plan.workspace_bytes < free_bytes / 2, "%zu bytes", c.plan.workspace_bytes);
  for (size_t more = 0; more <= 4; more += 4) {
    c.plan.workspace_bytes = free_bytes / 8 * 4 + more;
    CHECK_EQ(more > 0 ? HALOTUNE_NO_GPU : HALOTUNE_OK, gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false),
             "%zu bytes more: %s", more, fail_text());
    if (more > 0) continue;
    CHECK_OK(gpu_session_verify(&c.s, 0, &seen));
    CHECK_OK(gpu_session_sample(&c.s, 0, 3, true, &time_ms));
    CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
    CHECK_EQ(0, seen.buffers[1].bad, "sums");
    gpu_session_unload(&c.s, 0);
  }
  CHECK(strstr(fail_text(), "needs 2 workspaces of 0.03"), "%s", fail_text());
  CHECK_EQ(OUTCOME_LAUNCH_FAILED, gpu_outcome(c.s.gpu.failed), "the variant's verdict");
  CHECK(!gpu_session_is_lost(&c.s), "nothing was lost");
  close_variant(&c);
  unsetenv("HALOTUNE_FAKE_MEMORY_MB");
}

TEST(phases_come_back_to_the_first) {
  static const struct {
    const char *stencil;
    int phases;
  } rows[] = {{"triad", 1}, {"gradient", 1}, {"star7", 2}, {"diffusion2d", 2}, {"wave25", 3}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    static struct stage stage;
    struct gpu_problem problem;
    stage_open(&stage, rows[i].stencil, DTYPE_F32, (struct grid){{19, 17, 15}});
    CHECK_OK(gpu_problem_make(stage.stencil, stage.analysis, stage.dtype, &stage.scene.request.domain, 1, &problem));
    CHECK_EQ(rows[i].phases, problem.phase_count, "%s", rows[i].stencil);
    CHECK(problem.guard_bytes >= 1 << 20, "%s: guards of %zu bytes", rows[i].stencil, problem.guard_bytes);
    for (int b = 0; b < gpu_problem_buffers(&problem); b++) {
      bool is_output = b >= problem.input_count;
      if (is_output || rows[i].phases == 1)
        CHECK_EQ(is_output, gpu_problem_writes(&problem, b), "%s: %d", rows[i].stencil, b);
    }
    stage_close(&stage);
  }
}

/* The mask has 105 bytes. Its last word has three bytes that are behind it. */
TEST(a_store_behind_a_mask_is_told_at_a_point_that_exists) {
  enum { SOLID = 5 };
  static struct gpu_look_back seen;
  static struct stage stage;
  struct gpu_problem problem;
  struct verdict verdict;
  stage_open(&stage, "asymmetric/skew_beside", DTYPE_F32, (struct grid){{7, 5, 3}});
  const struct backend_problem wanted = {.scene = &stage.scene};
  CHECK_OK(cuda_problem_make(&wanted, &problem));
  CHECK_TEXT("solid", stage.stencil->inputs[SOLID], "the mask");
  seen.buffers[SOLID] =
      (struct gpu_found){.bad = 1, .first_bad = (long long)(problem.buffer_bytes[SOLID] / sizeof gpu_poison_word) - 1};
  cuda_judge(&stage.scene, &problem, &seen, &verdict);
  CHECK_TEXT("changed its input solid, first at (6, 4, 2)", verdict.reason, "the last word");
  seen.buffers[SOLID] = (struct gpu_found){
      .damaged = 1, .first_damaged = (long long)(problem.buffer_bytes[SOLID] / sizeof gpu_poison_word)};
  cuda_judge(&stage.scene, &problem, &seen, &verdict);
  CHECK_TEXT("wrote behind solid, at 4 elements after its last", verdict.reason, "the first word of the guard");
  stage_close(&stage);
}

TEST(sets_in_rotation_exceed_twice_the_cache) {
  enum { L2 = 1 << 20 };
  static const struct {
    size_t bytes;
    int sets;
  } rows[] = {{2 << 20, 1}, {(2 << 20) - 8, 2}, {1 << 20, 3}, {100000, 21}, {16, GPU_MOST_SETS}};
  for (size_t i = 0; i < COUNT(rows); i++) CHECK_EQ(rows[i].sets, gpu_rotation_sets(rows[i].bytes, L2), "row %zu", i);
}

TEST(driver_errors_are_told_apart) {
  static const struct {
    CUresult result;
    enum outcome outcome;
  } rows[] = {
      {CUDA_ERROR_ILLEGAL_ADDRESS, OUTCOME_OUT_OF_BOUNDS}, {CUDA_ERROR_MISALIGNED_ADDRESS, OUTCOME_OUT_OF_BOUNDS},
      {CUDA_ERROR_ILLEGAL_INSTRUCTION, OUTCOME_CRASHED},   {CUDA_ERROR_ECC_UNCORRECTABLE, OUTCOME_CRASHED},
      {CUDA_ERROR_LAUNCH_TIMEOUT, OUTCOME_HUNG},           {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, OUTCOME_LAUNCH_FAILED},
      {CUDA_ERROR_INVALID_VALUE, OUTCOME_LAUNCH_FAILED},   {CUDA_SUCCESS, OUTCOME_LAUNCH_FAILED},
  };
  for (size_t i = 0; i < COUNT(rows); i++) CHECK_EQ(rows[i].outcome, gpu_outcome(rows[i].result), "row %zu", i);
}

static CUresult fail_to_fill(CUdeviceptr memory, unsigned word, size_t words, CUstream stream) {
  (void)memory, (void)word, (void)words, (void)stream;
  return CUDA_ERROR_INVALID_VALUE;
}

TEST(sets_that_cannot_be_filled_keep_no_memory) {
  enum { SETS = 4 };
  static struct gpu_session s;
  struct gpu_rotation rotation;
  const size_t bytes[] = {1 << 20, 1 << 20};
  size_t before_bytes = 0, after_bytes = 0, total_bytes = 0;
  CHECK_OK(gpu_session_open(0, &s));
  CHECK_EQ(CUDA_SUCCESS, s.cu.mem_info(&before_bytes, &total_bytes), "before");
  s.cu.fill_words = fail_to_fill;
  CHECK_EQ(HALOTUNE_NO_GPU, gpu_rotation_make(&s.gpu, SETS, 2, bytes, s.stream, &rotation), "%s", fail_text());
  CHECK(rotation.memory == 0 && rotation.count == 0, "%d sets", rotation.count);
  CHECK_EQ(CUDA_SUCCESS, s.cu.mem_info(&after_bytes, &total_bytes), "after");
  CHECK_EQ(before_bytes, after_bytes, "free memory");
  gpu_session_close(&s);
}

/* The energy of an application is the driver's 350 W over its time, whatever the mode. */
static void check_energy(enum launch_mode launch, enum cache_mode cache) {
  static struct opened c;
  struct gpu_look_back seen;
  struct gpu_energy energy, idle;
  struct nvml nvml;
  double time_ms, energy_mj;
  open_variant(&c, "heat2d", (struct grid){{20, 17, 1}}, "direct", "vector=1 load_path=plain", launch, cache);
  CHECK_OK(gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false));
  CHECK_OK(gpu_session_sample(&c.s, 0, 16, true, &time_ms));
  CHECK_OK(nvml_open(&nvml));
  struct gpu_energy_plan plan = {.slot = 0, .time_ms = 1, .least_changes = 3};
  CHECK_EQ(HALOTUNE_NOT_FOUND, gpu_session_energy(&c.s, &nvml, &plan, &energy), "no GPU is chosen");
  CHECK_OK(nvml_choose(&nvml, c.s.device.facts.uuid, NULL));
  /* Units of 4 applications, each of which is taken for 1 ms: the true time is some microseconds. */
  CHECK_OK(gpu_session_energy(&c.s, &nvml, &plan, &energy));
  CHECK(energy.changes >= 3 && energy.applications > 0, "%ld changes", energy.changes);
  energy_mj = energy.energy_mj / (double)energy.applications;
  CHECK_NEAR(1, energy_mj / (350 * time_ms), 0.2, "%g mJ in %g ms", energy_mj, time_ms);
  CHECK_OK(gpu_session_inspect(&c.s, 0, &seen));
  for (int i = 0; i < 2; i++) CHECK_EQ(0, seen.buffers[i].bad + seen.buffers[i].damaged, "buffer %d", i);
  plan.slot = GPU_ENERGY_IDLE;
  CHECK_OK(gpu_session_energy(&c.s, &nvml, &plan, &idle));
  CHECK(idle.applications == 0 && idle.energy_mj > 0 && idle.span_ms > 0, "idle: %g mJ", idle.energy_mj);
  plan.slot = 1;
  CHECK_EQ(HALOTUNE_ARGUMENT, gpu_session_energy(&c.s, &nvml, &plan, &energy), "an empty slot");
  nvml_close(&nvml);
  close_variant(&c);
}

/* Applications without a pause are time steps, however many a batch has. */
TEST(applications_go_on_from_any_phase) {
  static const char *const stencils[] = {"heat2d", "wave25"}; /* of two and three phases */
  const int batches[] = {1, 1, 2, 3, 1};
  for (int i = 0; i < 4; i++) {
    static struct opened c;
    open_variant(&c, stencils[i / 2], (struct grid){{20, 17, 15}}, "direct", NULL, i % 2 ? LAUNCH_GRAPH : LAUNCH_STREAM,
                 CACHE_STEADY);
    CHECK_OK(gpu_session_load(&c.s, 0, &c.plan, c.v.compiled.cubin, false));
    CHECK_EQ(1, gpu_session_period(&c.s, 0), "%s", stencils[i / 2]);
    for (size_t k = 0; k < COUNT(batches); k++) {
      CHECK_OK(gpu_session_apply(&c.s, 0, batches[k], k == 0));
      CHECK_OK(gpu_did(&c.s.gpu, c.s.cu.stream_synchronize(c.s.stream), "kernel"));
      check_launches(&c.s, &c.stage, (int)c.s.applications, stencils[i / 2]);
    }
    close_variant(&c);
  }
}

TEST(the_energy_of_applications_is_read_from_the_counter) {
  setenv("HALOTUNE_FAKE_ENERGY", "100", 1); /* few launches between two values: each is emulated, on a small grid */
  check_energy(LAUNCH_STREAM, CACHE_STEADY);
  check_energy(LAUNCH_GRAPH, CACHE_STEADY);
  check_energy(LAUNCH_STREAM, CACHE_COLD);
  unsetenv("HALOTUNE_FAKE_ENERGY");
}

int main(void) {
  const struct CMUnitTest without_a_driver[] = {
      cmocka_unit_test(phases_come_back_to_the_first),
      cmocka_unit_test(a_store_behind_a_mask_is_told_at_a_point_that_exists),
      cmocka_unit_test(sets_in_rotation_exceed_twice_the_cache),
      cmocka_unit_test(driver_errors_are_told_apart),
  };
  const struct CMUnitTest with_a_driver[] = {
      cmocka_unit_test(samples_of_an_iterated_stencil_are_its_time_steps),
      cmocka_unit_test(applications_go_on_from_any_phase),
      cmocka_unit_test(the_energy_of_applications_is_read_from_the_counter),
      cmocka_unit_test(the_last_output_is_compared_where_it_can_be),
      cmocka_unit_test(fields_that_no_variant_wrote_are_not_judged),
      cmocka_unit_test(a_checked_sample_that_is_wrong_is_told_later),
      cmocka_unit_test(a_workspace_has_to_fit),
      cmocka_unit_test(sets_that_cannot_be_filled_keep_no_memory),
      cmocka_unit_test(a_variant_is_verified_in_place),
      cmocka_unit_test(a_variant_with_a_workspace_is_verified_in_place),
  };
  int failed = cmocka_run_group_tests(without_a_driver, NULL, NULL);
  return find_fake_cuda() ? failed + cmocka_run_group_tests(with_a_driver, setup, teardown) : failed;
}
