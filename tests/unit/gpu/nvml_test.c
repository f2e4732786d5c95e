/* nvml_test.c: types that are declared without NVIDIA's header, reasons for lower clocks, and machines without the
 * library. */
#include "gpu/driver/nvml.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/process.h"
#include "gpu/workers/probe.h"
#include "tests/unit/fake_cuda.h"
#include "tests/unit/unit.h"

#if __has_include(<nvml.h>)
#include <nvml.h>
_Static_assert(sizeof(nvmlProcessInfo_t) == sizeof(struct nvml_process), "the library fills an array of them");
_Static_assert(NVML_CLOCK_SM == NVML_CLOCK_SM_TYPE && NVML_CLOCK_MEM == NVML_CLOCK_MEMORY_TYPE, "clocks");
#endif

/* The sizes and offsets that NVIDIA documents. */
TEST(types_have_the_library_s_layout) {
  CHECK_EQ(24, sizeof(struct nvml_process), "nvmlProcessInfo_t");
  CHECK_EQ(8, offsetof(struct nvml_process, used_bytes), "usedGpuMemory");
  CHECK_EQ(16, offsetof(struct nvml_process, gpu_instance), "gpuInstanceId");
  CHECK_EQ(20, offsetof(struct nvml_process, compute_instance), "computeInstanceId");
  CHECK_EQ(sizeof(void *), sizeof(nvml_device), "nvmlDevice_t");
}

TEST(each_reason_has_its_effect) {
  static const struct {
    long long throttle, repeats, stored;
  } rows[] = {
      {-1, 0, 0},
      {0, 0, 0},
      {0x1, 0, 0},
      {0x2, 0, 0},
      {0x4, 0, 0x4},
      {0x4 | 0x1, 0, 0x4},
      {0x8 | 0x4 | 0x1, 0x8, 0x4},
      {0x20, 0x20, 0},
      {0x40, 0x40, 0},
      {0x80, 0x80, 0},
      {0x10000, 0, 0},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_EQ(rows[i].repeats, nvml_throttle_bits(rows[i].throttle, NVML_REPEATS), "row %zu", i);
    CHECK_EQ(rows[i].stored, nvml_throttle_bits(rows[i].throttle, NVML_STORED), "row %zu", i);
  }
}

static void check_nothing_is_read(const struct nvml *nvml) {
  struct gpu_reading reading;
  nvml_read(nvml, &reading);
  CHECK(reading.sm_mhz == -1 && reading.memory_mhz == -1 && reading.temperature_c == -1 && reading.power_w == -1 &&
            reading.throttle == -1,
        "readings");
  CHECK_EQ(-1, nvml_process_count(nvml), "processes");
}

TEST(without_the_library_nothing_is_read_and_nothing_fails) {
  struct nvml nvml;
  setenv("HALOTUNE_LIBNVML", "/nonexistent/libnvidia-ml.so", 1);
  CHECK_EQ(HALOTUNE_NO_GPU, nvml_open(&nvml), "%s", fail_text());
  CHECK(strstr(fail_text(), "/nonexistent/libnvidia-ml.so"), "%s", fail_text());
  CHECK_EQ(HALOTUNE_NOT_FOUND, nvml_choose(&nvml, "GPU-1", "0000:00:00.0"), "%s", fail_text());
  check_nothing_is_read(&nvml);
  nvml_close(&nvml);
  setenv("HALOTUNE_LIBNVML", "libm.so.6", 1); /* a library without NVML's functions */
  CHECK_EQ(HALOTUNE_NO_GPU, nvml_open(&nvml), "%s", fail_text());
  check_nothing_is_read(&nvml);
  nvml_close(&nvml);
  unsetenv("HALOTUNE_LIBNVML");
}

TEST(with_the_library_of_tests_all_is_read) {
  struct nvml nvml;
  struct gpu_reading reading;
  if (!find_fake_cuda()) skip();
  CHECK_OK(nvml_open(&nvml));
  check_nothing_is_read(&nvml); /* no GPU is chosen yet */
  CHECK(nvml.driver[0] != '\0', "driver");
  CHECK_EQ(HALOTUNE_NOT_FOUND, nvml_choose(&nvml, "GPU-no", "no"), "%s", fail_text());
  CHECK_OK(nvml_choose(&nvml, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00", NULL));
  nvml_read(&nvml, &reading);
  CHECK(reading.sm_mhz > 0 && reading.memory_mhz > 0 && reading.temperature_c > 0 && reading.power_w > 0 &&
            reading.throttle >= 0,
        "readings");
  nvml_close(&nvml);
}

TEST(energy_and_the_power_limit_are_read_where_the_gpu_has_them) {
  struct nvml nvml;
  double energy_mj = 0;
  if (!find_fake_cuda()) skip();
  CHECK_OK(nvml_open(&nvml));
  CHECK(!nvml_energy(&nvml, &energy_mj), "no GPU is chosen yet");
  CHECK_NEAR(0, nvml_power_limit_w(&nvml), 0, "no GPU is chosen yet");
  CHECK_OK(nvml_choose(&nvml, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00", NULL));
  CHECK_NEAR(700, nvml_power_limit_w(&nvml), 1e-9, "W");
  for (int i = 0; i < 100; i++) CHECK(nvml_energy(&nvml, &energy_mj), "reading %d", i);
  CHECK(energy_mj >= 90 * 20, "a hundred readings of an idle GPU, of 1 ms each, show %g mJ", energy_mj);
  setenv("HALOTUNE_FAKE_ENERGY", "0", 1);
  CHECK(!nvml_energy(&nvml, &energy_mj), "a GPU without a counter");
  unsetenv("HALOTUNE_FAKE_ENERGY");
  nvml.energy = NULL;
  nvml.power_limit = NULL;
  CHECK(!nvml_energy(&nvml, &energy_mj) && nvml_power_limit_w(&nvml) == 0, "an old library");
  nvml_close(&nvml);
}

/* Many small programs share a GPU. */
TEST(any_number_of_processes_is_counted) {
  static const struct {
    const char *others;
    int want;
  } rows[] = {{"0", 0}, {"1", 1}, {"256", 256}, {"257", 257}, {"5000", 5000}};
  struct nvml nvml;
  if (!find_fake_cuda()) skip();
  CHECK_OK(nvml_open(&nvml));
  CHECK_OK(nvml_choose(&nvml, "GPU-fafafafa-fafa-fafa-fafa-fafafafafa00", NULL));
  for (size_t i = 0; i < COUNT(rows); i++) {
    setenv("HALOTUNE_FAKE_OTHERS", rows[i].others, 1);
    CHECK_EQ(rows[i].want, nvml_process_count(&nvml), "row %zu", i);
  }
  unsetenv("HALOTUNE_FAKE_OTHERS");
  nvml_close(&nvml);
}

/* The process that asks is killed, and the caller goes on. */
TEST(a_driver_that_does_not_answer_is_not_waited_for) {
  enum { SHORT_MS = 50 };
  struct probe probe;
  if (!find_fake_cuda()) skip();
  setenv("HALOTUNE_FAKE_FAULT", "cuInit#1=hang", 1);
  CHECK_EQ(HALOTUNE_NO_GPU, probe_gpus_within(SHORT_MS, &probe), "%s", fail_text());
  CHECK(strstr(fail_text(), "did not answer"), "%s", fail_text());
  unsetenv("HALOTUNE_FAKE_FAULT");
  CHECK_OK(probe_gpus(&probe));
}

/* The only child of a process; 0 if there is none yet, -1 if this kernel does not tell. */
static pid_t child_of(pid_t pid) {
  char path[64], line[32] = "";
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
  FILE *children = fopen(path, "r");
  if (!children) return -1;
  const bool has_line = fgets(line, sizeof line, children) != NULL;
  fclose(children);
  return has_line ? (pid_t)strtol(line, NULL, 10) : 0;
}

TEST(the_process_that_asks_ends_with_a_program_that_is_killed) {
  enum { LONG_MS = 600000 };
  pid_t child = 0;
  if (!find_fake_cuda()) skip();
  setenv("HALOTUNE_FAKE_FAULT", "cuInit#1=hang", 1);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t program = fork();
  if (program == 0) {
    struct probe probe;
    _exit(probe_gpus_within(LONG_MS, &probe) == HALOTUNE_OK ? 0 : 1);
  }
  while ((child = child_of(program)) == 0) sched_yield();
  kill(program, SIGKILL);
  CHECK_EQ(program, waitpid(program, NULL, 0), "the program");
  if (child > 0) {
    bool is_late = true;
    process_wait_until(child, clock_ms() + LONG_MS, &is_late);
    CHECK(!is_late, "the driver is asked for ever");
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  unsetenv("HALOTUNE_FAKE_FAULT");
  if (child < 0) skip();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types_have_the_library_s_layout),
      cmocka_unit_test(each_reason_has_its_effect),
      cmocka_unit_test(without_the_library_nothing_is_read_and_nothing_fails),
      cmocka_unit_test(with_the_library_of_tests_all_is_read),
      cmocka_unit_test(energy_and_the_power_limit_are_read_where_the_gpu_has_them),
      cmocka_unit_test(any_number_of_processes_is_counted),
      cmocka_unit_test(a_driver_that_does_not_answer_is_not_waited_for),
      cmocka_unit_test(the_process_that_asks_ends_with_a_program_that_is_killed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
