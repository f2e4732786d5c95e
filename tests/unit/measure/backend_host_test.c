/* backend_host_test.c: the emulation as a backend: verdicts on variants that are right, that do not compile, and that
 * have a defect. */
#include "tests/unit/measure/backend.h"

static char folder[64];

static int setup(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/halotune-backend-XXXXXX");
  if (!mkdtemp(folder)) return -1;
  return setenv("XDG_CACHE_HOME", folder, 1);
}

static int teardown(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); // NOLINT(cert-env33-c): the folder is our own
}

static void open_on(struct backend_handle *backend, struct stage *stage, const char *stencil) {
  stage_open(stage, stencil, DTYPE_F32, (struct grid){{20, 12, 9}});
  CHECK_OK(backend_host_open("sm_90", backend));
  const struct backend_problem problem = {
      .scene = &stage->scene, .launch = LAUNCH_GRAPH, .cache = CACHE_STEADY, .roof_elements = 1000};
  CHECK_OK(backend->table->set_problem(backend->state, &problem));
}

static struct verdict load_variant(struct backend_handle *backend, const struct variant *v, bool is_roof) {
  struct verdict verdict;
  struct candidate candidate = candidate_of(v);
  candidate.is_roof = is_roof;
  CHECK_OK(backend->table->load(backend->state, 3, &candidate, &verdict));
  return verdict;
}

TEST(it_says_that_it_is_an_emulation) {
  struct backend_handle backend;
  CHECK_OK(backend_host_open("sm_80", &backend));
  CHECK_TEXT("host", backend.table->name, "name");
  CHECK_TEXT("host emulation of sm_80", backend.facts.device.name, "device");
  CHECK_TEXT("emulation-sm_80", backend.facts.device.uuid, "uuid");
  CHECK_EQ(80, backend.facts.device.capability, "capability");
  CHECK(backend.facts.is_emulation, "it is one");
  CHECK(backend.facts.device.limits.max_threads > 0, "limits");
  backend_close(&backend);
  CHECK_EQ(HALOTUNE_ARGUMENT, backend_host_open("sm_1", &backend), "%s", fail_text());
  backend_close(&backend);
}

TEST(a_right_variant_is_timed_and_stays_right) {
  static struct stage stage;
  struct backend_handle backend;
  struct variant v;
  struct verdict verdict;
  struct gpu_reading reading;
  const int slots[] = {3, SLOT_EMPTY, SLOT_MEMCPY}, batches[] = {2, 3, 4};
  double times_ms[6];
  int failed;
  open_on(&backend, &stage, "wave25");
  CHECK(variant_open(&v, &stage, "direct", NULL, NULL), "rules");
  verdict = load_variant(&backend, &v, false);
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
  CHECK(verdict.worst.passed && verdict.run_ms > 0, "verdict");
  const struct sample_plan plan = {.slots = slots, .batches = batches, .slot_count = 3, .rounds = 2, .warm = true};
  CHECK_OK(backend.table->sample(backend.state, &plan, times_ms, &failed, &verdict));
  CHECK_EQ(-1, failed, "%s", verdict.reason);
  for (int i = 0; i < 6; i++) CHECK(times_ms[i] > 0, "sample %d", i);
  CHECK_OK(backend.table->recheck(backend.state, 3, &verdict));
  CHECK_EQ(OUTCOME_MEASURED, verdict.outcome, "%s", verdict.reason);
  backend.table->read(backend.state, &reading);
  CHECK_EQ(-1, reading.sm_mhz, "no clocks");
  CHECK_OK(backend.table->keep_warm(backend.state, 1));
  CHECK_OK(backend.table->unload(backend.state, 3));
  CHECK_EQ(HALOTUNE_ARGUMENT, backend.table->sample(backend.state, &plan, times_ms, &failed, &verdict),
           "an empty slot");
  verdict = load_variant(&backend, &v, true);
  CHECK_EQ(OUTCOME_LAUNCH_FAILED, verdict.outcome, "no roof");
  variant_close(&v);
  backend_close(&backend);
  stage_close(&stage);
}

/* Replace a part of the source. */
static void change_source(struct variant *v, const char *from, const char *to) {
  struct text source = {0};
  const char *at = strstr(v->generated.source, from);
  CHECK(at, "no '%s' in the source", from);
  text_add(&source, v->generated.source, (size_t)(at - v->generated.source));
  text_printf(&source, "%s%s", to, at + strlen(from));
  free(v->generated.source);
  v->generated.source = source.bytes;
}

TEST(what_is_wrong_with_a_variant_is_its_verdict) {
  static const struct {
    const char *from, *to;
    enum outcome outcome;
  } rows[] = {
      {"extern \"C\" __global__", "no CUDA\nextern \"C\" __global__", OUTCOME_COMPILE_FAILED},
      {"results[0] = ", "results[0] = 1 + ", OUTCOME_WRONG},
      {"extern \"C\" __global__", "__device__ int zero = 0;\nextern \"C\" __global__", OUTCOME_MEASURED},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    static struct stage stage;
    struct backend_handle backend;
    struct variant v;
    open_on(&backend, &stage, "star7");
    CHECK(variant_open(&v, &stage, "direct", NULL, NULL), "rules");
    change_source(&v, rows[i].from, rows[i].to);
    struct verdict verdict = load_variant(&backend, &v, false);
    CHECK_EQ(rows[i].outcome, verdict.outcome, "row %zu: %s", i, verdict.reason);
    CHECK((verdict.reason[0] != '\0') == (rows[i].outcome != OUTCOME_MEASURED), "row %zu: %s", i, verdict.reason);
    variant_close(&v);
    backend_close(&backend);
    stage_close(&stage);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_says_that_it_is_an_emulation),
      cmocka_unit_test(a_right_variant_is_timed_and_stays_right),
      cmocka_unit_test(what_is_wrong_with_a_variant_is_its_verdict),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
