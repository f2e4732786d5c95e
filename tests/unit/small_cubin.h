/* small_cubin.h: the smallest whole cubin: it has no kernel. */
#ifndef TESTS_UNIT_SMALL_CUBIN_H
#define TESTS_UNIT_SMALL_CUBIN_H

#include <elf.h>
#include <stddef.h>

struct small_cubin {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  char names[16];
  Elf64_Shdr sections[2]; /* nothing, and the names */
};

static const struct small_cubin small_cubin = {
    .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_type = ET_EXEC,
               .e_machine = 190,
               .e_version = EV_CURRENT,
               .e_phoff = offsetof(struct small_cubin, segment),
               .e_shoff = offsetof(struct small_cubin, sections),
               .e_ehsize = sizeof(Elf64_Ehdr),
               .e_phentsize = sizeof(Elf64_Phdr),
               .e_phnum = 1,
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = 2,
               .e_shstrndx = 1},
    .segment = {.p_type = PT_LOAD, .p_offset = offsetof(struct small_cubin, names), .p_filesz = 16},
    .names = ".shstrtab",
    .sections = {{.sh_type = SHT_NULL},
                 {.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small_cubin, names), .sh_size = 16}}};

#endif
