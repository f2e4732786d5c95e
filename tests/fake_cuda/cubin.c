/* cubin.c: reads what a driver needs to know of a cubin: its size, its kernels, their arguments, registers and most
 * threads. These are entries of the sections .nv.info and .nv.info.KERNEL. An entry has a form, an attribute, and a
 * size or value. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "tests/fake_cuda/fake.h"

enum {
  FORM_SIZED = 4, /* the entry's 16 bits are the size of the data after it; with other forms they are the value */
  ATTRIBUTE_MAX_THREADS = 0x05,
  ATTRIBUTE_PARAMETER = 0x17,
  ATTRIBUTE_REGISTERS = 0x2f,
  PARAMETER_SIZE_SHIFT = 18,
  SYSTEM_SHARED_BYTES = 1024, /* part of .nv.shared.KERNEL that belongs to the system */
};

struct entry {
  int attribute;
  const uint32_t *words;
  int word_count;
};

static const Elf64_Ehdr *header_of(const void *image) {
  const Elf64_Ehdr *header = image;
  bool ok = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
            header->e_machine == EM_CUDA && header->e_shnum > 0 && header->e_shentsize == sizeof(Elf64_Shdr);
  return ok ? header : NULL;
}

static const Elf64_Shdr *sections_of(const Elf64_Ehdr *header) {
  return (const Elf64_Shdr *)(const void *)((const char *)header + header->e_shoff);
}

static const char *name_of(const Elf64_Ehdr *header, const Elf64_Shdr *section) {
  return (const char *)header + sections_of(header)[header->e_shstrndx].sh_offset + section->sh_name;
}

size_t cubin_bytes(const void *image) {
  const Elf64_Ehdr *header = header_of(image);
  if (!header) return 0;
  size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
  size_t segments_end = header->e_phoff + (size_t)header->e_phnum * header->e_phentsize;
  if (segments_end > end) end = segments_end;
  for (int i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr *section = &sections_of(header)[i];
    if (section->sh_type == SHT_NOBITS) continue;
    if (section->sh_offset + section->sh_size > end) end = section->sh_offset + section->sh_size;
  }
  return end;
}

/* Go to the next entry of a section. Returns false at its end. */
static bool next_entry(const char **at, const char *end, struct entry *out) {
  if (end - *at < 4) return false;
  uint16_t size;
  memcpy(&size, *at + 2, sizeof size);
  out->attribute = (unsigned char)(*at)[1];
  out->words = (const uint32_t *)(const void *)(*at + 4);
  out->word_count = (*at)[0] == FORM_SIZED ? size / 4 : 0;
  *at += 4 + ((*at)[0] == FORM_SIZED ? size : 0);
  return *at <= end;
}

static const Elf64_Shdr *find_section(const Elf64_Ehdr *header, const char *prefix, const char *kernel) {
  char name[EMULATION_NAME_BYTES + 32];
  snprintf(name, sizeof name, "%s%s", prefix, kernel);
  for (int i = 0; i < header->e_shnum; i++) {
    const Elf64_Shdr *section = &sections_of(header)[i];
    if (strcmp(name_of(header, section), name) == 0) return section;
  }
  return NULL;
}

/* Read arguments and threads from the kernel's own section. */
static bool read_kernel(const Elf64_Ehdr *header, const Elf64_Shdr *info, struct fake_kernel *out) {
  const char *at = (const char *)header + info->sh_offset, *end = at + info->sh_size;
  struct entry entry;
  while (next_entry(&at, end, &entry)) {
    if (entry.attribute == ATTRIBUTE_PARAMETER && entry.word_count == 3) {
      unsigned ordinal = entry.words[1] & 0xffff;
      if (ordinal >= FAKE_MAX_PARAMETERS) return false;
      out->parameter_bytes[ordinal] = entry.words[2] >> PARAMETER_SIZE_SHIFT;
      if ((int)ordinal >= out->parameter_count) out->parameter_count = (int)ordinal + 1;
    } else if (entry.attribute == ATTRIBUTE_MAX_THREADS && entry.word_count == 3) {
      out->max_threads = (int)(entry.words[0] * entry.words[1] * entry.words[2]);
    }
  }
  return true;
}

/* The registers of a function. The section names the function by its number in the symbol table. */
static int registers_of(const Elf64_Ehdr *header, const Elf64_Shdr *code) {
  const Elf64_Shdr *info = find_section(header, ".nv.info", "");
  const char *at = info ? (const char *)header + info->sh_offset : NULL, *end = info ? at + info->sh_size : NULL;
  struct entry entry;
  while (info && next_entry(&at, end, &entry)) {
    if (entry.attribute != ATTRIBUTE_REGISTERS || entry.word_count != 2) continue;
    if (entry.words[0] == (code->sh_info & 0xffffff)) return (int)entry.words[1];
  }
  return 0;
}

int cubin_kernels(const void *image, struct fake_kernel kernels[FAKE_MAX_KERNELS]) {
  static const char prefix[] = ".nv.info.";
  const Elf64_Ehdr *header = header_of(image);
  int count = 0;
  for (int i = 0; header && i < header->e_shnum && count < FAKE_MAX_KERNELS; i++) {
    const Elf64_Shdr *section = &sections_of(header)[i];
    const char *name = name_of(header, section);
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) continue;
    struct fake_kernel *kernel = &kernels[count++];
    *kernel = (struct fake_kernel){.max_threads = 1024};
    snprintf(kernel->name, sizeof kernel->name, "%s", name + sizeof prefix - 1);
    const Elf64_Shdr *code = find_section(header, ".text.", kernel->name);
    const Elf64_Shdr *shared = find_section(header, ".nv.shared.", kernel->name);
    if (!code || !read_kernel(header, section, kernel)) return 0;
    kernel->registers = registers_of(header, code);
    if (shared && shared->sh_size > SYSTEM_SHARED_BYTES) {
      kernel->static_shared_bytes = (int)shared->sh_size - SYSTEM_SHARED_BYTES;
    }
  }
  return count;
}
