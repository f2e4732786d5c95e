/* schema.c: the assembler puts the files into the program. It looks for them from the root of the tree. */
#include "db/store/schema.h"

__asm__(".pushsection .rodata\n"
        ".globl schema_sql\n"
        ".hidden schema_sql\n"
        "schema_sql: .incbin \"db/schema.sql\"\n"
        ".byte 0\n"
        ".globl schema_4_sql\n"
        ".hidden schema_4_sql\n"
        "schema_4_sql: .incbin \"db/schema_4.sql\"\n"
        ".byte 0\n"
        ".popsection\n");
