/* cubin_test.c: cubins that are cut short, and whose offsets are absurd. Each is in a block of exactly its size, so
 * that AddressSanitizer sees a read behind its end. */
#include "gpu/driver/cubin.h"

#include <stdlib.h>

#include "gpu/compile/compile.h"
#include "tests/unit/small_cubin.h"
#include "tests/unit/unit.h"

/* Check the first bytes of a cubin. */
static halotune_status check_cut(const void *bytes, size_t length) {
  void *copy = malloc(length ? length : 1);
  CHECK(copy, "memory");
  memcpy(copy, bytes, length);
  const halotune_status status = cubin_check(copy, length);
  free(copy);
  return status;
}

static void check_all_cuts(const void *bytes, size_t length) {
  CHECK_OK(check_cut(bytes, length));
  for (size_t cut = 0; cut < length; cut++) {
    CHECK_EQ(HALOTUNE_PARSE, check_cut(bytes, cut), "%zu of %zu bytes", cut, length);
    CHECK(strstr(fail_text(), "the machine code"), "%s", fail_text());
  }
}

TEST(a_cubin_that_is_cut_short_is_refused) { check_all_cuts(&small_cubin, sizeof small_cubin); }

TEST(a_compiled_cubin_is_whole) {
  struct nvrtc nvrtc;
  struct compiled compiled = {.cubin = NULL};
  const struct compile_request request = {
      .source =
          "extern \"C\" __global__ void k(float *a) { __shared__ float s[32]; s[threadIdx.x] = a[1]; a[0] = s[7]; }",
      .name = "k.cu",
      .arch = "sm_90"};
  if (nvrtc_open(&nvrtc) != HALOTUNE_OK) skip();
  CHECK_OK(compile_source(&nvrtc, &request, &compiled));
  check_all_cuts(compiled.cubin, compiled.cubin_bytes);
  compiled_free(&compiled);
  nvrtc_close(&nvrtc);
}

#define FIELD(member, value) \
  { #member, offsetof(struct small_cubin, member), sizeof small_cubin.member, (uint64_t)(value) }
/* Each row puts another number into one field. */
static const struct {
  const char *field;
  size_t offset, bytes;
  uint64_t value;
} rows[] = {
    FIELD(header.e_ident, 0x464c457e),
    FIELD(header.e_machine, EM_X86_64),
    FIELD(header.e_shoff, sizeof small_cubin),
    FIELD(header.e_shoff, UINT64_MAX),
    FIELD(header.e_shoff, UINT64_MAX - 2 * sizeof(Elf64_Shdr) + 1), /* the sum is 0 */
    FIELD(header.e_shoff, UINT64_MAX / 2 + 1),
    FIELD(header.e_shnum, 0),
    FIELD(header.e_shnum, 1),
    FIELD(header.e_shnum, 3),
    FIELD(header.e_shnum, 0xffff),
    FIELD(header.e_shentsize, 0),
    FIELD(header.e_shentsize, 1),
    FIELD(header.e_shentsize, 0xffff),
    FIELD(header.e_shstrndx, 0),
    FIELD(header.e_shstrndx, 2),
    FIELD(header.e_shstrndx, 0xffff),
    FIELD(header.e_phoff, sizeof small_cubin),
    FIELD(header.e_phoff, UINT64_MAX - 8),
    FIELD(header.e_phnum, 100),
    FIELD(header.e_phentsize, 8),
    FIELD(segment.p_offset, UINT64_MAX),
    FIELD(segment.p_offset, sizeof small_cubin - 15),
    FIELD(segment.p_filesz, sizeof small_cubin),
    FIELD(segment.p_filesz, UINT64_MAX - 100),
    FIELD(sections[1].sh_offset, sizeof small_cubin - 15),
    FIELD(sections[1].sh_offset, UINT64_MAX - 7),
    FIELD(sections[1].sh_size, UINT64_MAX),
    FIELD(sections[1].sh_size, 0),
    FIELD(sections[1].sh_size, 3), /* the names do not end */
    FIELD(sections[1].sh_type, SHT_NOBITS),
    FIELD(sections[0].sh_size, sizeof small_cubin + 1),
    FIELD(sections[0].sh_offset, UINT64_MAX),
    FIELD(sections[0].sh_name, 16),
    FIELD(sections[1].sh_name, UINT32_MAX),
    FIELD(sections[0].sh_link, 2),
    FIELD(sections[1].sh_link, UINT32_MAX),
};

TEST(absurd_offsets_are_refused) {
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct small_cubin changed = small_cubin;
    memcpy((char *)&changed + rows[i].offset, &rows[i].value, rows[i].bytes < 8 ? rows[i].bytes : 8);
    CHECK_EQ(HALOTUNE_PARSE, check_cut(&changed, sizeof changed), "row %zu: %s", i, rows[i].field);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_cubin_that_is_cut_short_is_refused),
      cmocka_unit_test(a_compiled_cubin_is_whole),
      cmocka_unit_test(absurd_offsets_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
