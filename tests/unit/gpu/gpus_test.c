/* gpus_test.c: the table of GPUs, and how well names fit. */
#include "gpu/architecture/arch.h"
#include "gpu/architecture/gpus.h"
#include "tests/unit/unit.h"

TEST(each_row_is_plausible) {
  for (int i = 0; i < gpu_row_count; i++) {
    const struct gpu_row *row = &gpu_rows[i];
    CHECK(arch_find(row->capability / 10, row->capability % 10), "%s has a known capability", row->name);
    CHECK(i == 0 || gpu_rows[i - 1].capability <= row->capability, "%s is in order", row->name);
    CHECK(gpu_row_named(row->name) == row, "%s is there once", row->name);
    CHECK(row->multiprocessors > 0 && row->multiprocessors < 256, "%s", row->name);
    CHECK(row->memory_gbs > 100 && row->memory_gbs < 10000, "%s", row->name);
    CHECK(row->memory_gb > 0 && row->memory_gb < 1000, "%s", row->name);
    CHECK(row->l2_kib >= 1024 && row->l2_kib <= 256 * 1024, "%s", row->name);
    CHECK(strncmp(row->source, "https://", 8) == 0, "%s", row->name);
  }
}

TEST(names_fit_without_case_and_in_parts) {
  static const struct {
    const char *asked, *name, *short_name;
    int want;
  } rows[] = {
      {"NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", "H100", 0},
      {"nvidia h100 80gb hbm3", "NVIDIA H100 80GB HBM3", "H100", 0},
      {"h100", "NVIDIA H100 80GB HBM3", "H100", 0},
      {"nvidia h100", "NVIDIA H100 80GB HBM3", "H100", 0},
      {"h100", "NVIDIA H100 PCIe", "H100 PCIe", 2},
      {"pcie h100", "NVIDIA H100 PCIe", "H100 PCIe", 1},
      {"hbm3", "NVIDIA H100 80GB HBM3", "H100", 2},
      {"nvidia h200", "NVIDIA H200", NULL, 0},
      {"H200", "NVIDIA H200", NULL, 0},
      {"rtx4090", "NVIDIA GeForce RTX 4090", "RTX 4090", 0},
      {"geforce 4090", "NVIDIA GeForce RTX 4090", "RTX 4090", 2},
      {"a10", "NVIDIA A100-SXM4-80GB", "A100", GPU_PART_OF_A_WORD},
      {"10", "NVIDIA A100-SXM4-80GB", "A100", GPU_NO_FIT},
      {"a100-sxm4", "NVIDIA A100-SXM4-80GB", "A100", 1},
      {"h300", "NVIDIA H200", NULL, GPU_NO_FIT},
      {"h200 nvl", "NVIDIA H200", NULL, GPU_NO_FIT},
      {"nvidia", "NVIDIA H200", NULL, GPU_NO_FIT},
      {"", "NVIDIA H200", NULL, GPU_NO_FIT},
      {"--", "NVIDIA H200", NULL, GPU_NO_FIT},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    CHECK_EQ(rows[i].want, gpu_misfit(rows[i].asked, rows[i].name, rows[i].short_name), "row %zu", i);
}

TEST(a_capability_has_its_first_row) {
  CHECK_TEXT("H100", gpu_row_of(90)->short_name, "sm_90");
  CHECK_TEXT("T4", gpu_row_of(75)->short_name, "sm_75");
  CHECK(!gpu_row_of(35), "3.5 is older than the table");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_row_is_plausible),
      cmocka_unit_test(names_fit_without_case_and_in_parts),
      cmocka_unit_test(a_capability_has_its_first_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
