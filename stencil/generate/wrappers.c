/* wrappers.c: the files as texts. The assembler builds them into the program; it looks for them from the root of the
 * tree. */
#include "stencil/generate/wrappers.h"

__asm__(".pushsection .rodata\n"
        ".globl wrappers_cuda\n"
        ".hidden wrappers_cuda\n"
        "wrappers_cuda: .incbin \"templates/wrappers.cuh\"\n"
        ".byte 0\n"
        ".globl wrappers_sm_90_cuda\n"
        ".hidden wrappers_sm_90_cuda\n"
        "wrappers_sm_90_cuda: .incbin \"templates/wrappers_sm_90.cuh\"\n"
        ".byte 0\n"
        ".popsection\n");
