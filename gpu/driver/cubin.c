/* cubin.c: compares the offsets and sizes of an ELF file with its length. They are 64 bits wide and come from a file,
 * so that their sums may overflow. */
#include "gpu/driver/cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

struct file {
  const char *bytes;
  size_t length;
  Elf64_Ehdr header;
};

static bool is_within(const struct file *file, uint64_t offset, uint64_t bytes) {
  return offset <= file->length && bytes <= file->length - offset;
}

/* Whether a table lies in the file. Its entries are counted and measured in 16 bits each. */
static bool has_table(const struct file *file, uint64_t offset, unsigned count, unsigned entry_bytes, size_t wanted) {
  return count == 0 || (entry_bytes == wanted && is_within(file, offset, (uint64_t)count * entry_bytes));
}

static Elf64_Shdr section_of(const struct file *file, unsigned number) {
  Elf64_Shdr section;
  memcpy(&section, file->bytes + file->header.e_shoff + number * sizeof section, sizeof section);
  return section;
}

static bool is_cuda(const Elf64_Ehdr *header) {
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == EM_CUDA;
}

static halotune_status segments_check(const struct file *file) {
  for (unsigned i = 0; i < file->header.e_phnum; i++) {
    Elf64_Phdr segment;
    memcpy(&segment, file->bytes + file->header.e_phoff + i * sizeof segment, sizeof segment);
    if (!is_within(file, segment.p_offset, segment.p_filesz))
      return fail(HALOTUNE_PARSE, "segment %u of the machine code ends behind its %zu bytes", i, file->length);
  }
  return HALOTUNE_OK;
}

static halotune_status sections_check(const struct file *file) {
  const Elf64_Shdr names = section_of(file, file->header.e_shstrndx);
  if (names.sh_type != SHT_STRTAB || names.sh_size == 0 || !is_within(file, names.sh_offset, names.sh_size) ||
      file->bytes[names.sh_offset + names.sh_size - 1] != '\0')
    return fail(HALOTUNE_PARSE, "the machine code has no whole table of names within its %zu bytes", file->length);
  for (unsigned i = 0; i < file->header.e_shnum; i++) {
    const Elf64_Shdr section = section_of(file, i);
    if (section.sh_type != SHT_NOBITS && !is_within(file, section.sh_offset, section.sh_size))
      return fail(HALOTUNE_PARSE, "section %u of the machine code ends behind its %zu bytes", i, file->length);
    if (section.sh_name >= names.sh_size || section.sh_link >= file->header.e_shnum)
      return fail(HALOTUNE_PARSE, "section %u of the machine code names what is not there", i);
  }
  return HALOTUNE_OK;
}

halotune_status cubin_check(const void *bytes, size_t length) {
  struct file file = {.bytes = bytes, .length = length};
  if (length < sizeof file.header)
    return fail(HALOTUNE_PARSE, "the machine code has %zu bytes, and its header alone has %zu", length,
                sizeof file.header);
  memcpy(&file.header, bytes, sizeof file.header);
  const Elf64_Ehdr *header = &file.header;
  if (!is_cuda(header)) return fail(HALOTUNE_PARSE, "the machine code is no cubin");
  if (!has_table(&file, header->e_shoff, header->e_shnum, header->e_shentsize, sizeof(Elf64_Shdr)) ||
      !has_table(&file, header->e_phoff, header->e_phnum, header->e_phentsize, sizeof(Elf64_Phdr)))
    return fail(HALOTUNE_PARSE, "the machine code's tables are not within its %zu bytes", length);
  if (header->e_shstrndx >= header->e_shnum) return fail(HALOTUNE_PARSE, "the machine code has no table of names");
  const halotune_status status = segments_check(&file);
  return status == HALOTUNE_OK ? sections_check(&file) : status;
}
