/* schema.c: the file is put into the program by the assembler, which looks for it from the root of the tree. */
#include "db/store/schema.h"

__asm__(".pushsection .rodata\n"
        ".globl schema_sql\n"
        ".hidden schema_sql\n"
        "schema_sql: .incbin \"db/schema.sql\"\n"
        ".byte 0\n"
        ".popsection\n");
