/* wrappers.c: the file is put into the program by the assembler, which looks for it from the root of the tree. */
#include "stencil/wrappers.h"

__asm__(".pushsection .rodata\n"
        ".globl wrappers_cuda\n"
        ".hidden wrappers_cuda\n"
        "wrappers_cuda: .incbin \"templates/wrappers.cuh\"\n"
        ".byte 0\n"
        ".popsection\n");
